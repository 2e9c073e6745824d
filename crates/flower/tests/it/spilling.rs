//! Oversized results on the real harness: every tool, main thread and worker, both versions.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use flower::roles::{AgentSpec, Duty, agent, coordinator, worker};
use flower::runtime::{DENIALS, RunEvent, RuntimeBuilder, SPILLS};
use flower::spill::Also;
use flower_store::{OpenOptions, ProjectPaths, SessionKey, SessionStore as _, SqliteStore};

use crate::played::{Place, Played, make_repository, versions};

/// A workspace in which every tool returns more than it should.
fn place() -> Place {
    let place = Place::new();
    let lines: String =
        (1..=2000).map(|line| format!("{line:06} a line with 数据 in it\n")).collect::<Vec<_>>().concat();
    std::fs::write(place.workspace().join("data.txt"), lines).unwrap();
    let many = place.workspace().join("many");
    std::fs::create_dir(&many).unwrap();
    for number in 0..120 {
        let path = many.join(format!("a-file-with-a-rather-long-name-{number:04}.txt"));
        let mut file = std::fs::File::create(path).unwrap();
        file.write_all(b"a line\n").unwrap();
        // The tools list files by their age, and those of one age in any order.
        file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000 + number)).unwrap();
    }
    place
}

impl Place {
    fn spilled(&self) -> Vec<PathBuf> {
        let files = std::fs::read_dir(self.workspace().join(".flower/spill")).unwrap();
        files.map(|entry| entry.unwrap().path()).collect()
    }
}

/// One agent that makes these calls one after the other: id, tool, input.
fn calls(calls: &[(&str, &str, &str)]) -> String {
    let step = |(id, tool, input): &(&str, &str, &str)| {
        format!(
            "[[thread.step]]\n[[thread.step.call]]\nid = \"{id}\"\ntool = \"{tool}\"\ninput = {{ {input} }}\n"
        )
    };
    let steps: String = calls.iter().map(step).collect();
    format!("{steps}[[thread.step]]\ntext = \"Done.\"\n")
}

fn main_makes(made: &[(&str, &str, &str)]) -> String {
    format!("[[thread]]\nname = \"main\"\nmatch = {{ agent = \"main\" }}\n{}", calls(made))
}

fn worker_makes(made: &[(&str, &str, &str)]) -> String {
    let sends =
        main_makes(&[("send", "Agent", r#"subagent_type = "doer", description = "Do", prompt = "Do it.""#)]);
    format!("{sends}\n[[thread]]\nname = \"worker\"\nmatch = {{ agent = \"subagent\" }}\n{}", calls(made))
}

fn lead() -> AgentSpec {
    coordinator("lead", "", [("doer", worker("Does things.", "You do things."))])
}

const EVERY_TOOL: [(&str, &str, &str); 6] = [
    ("bash", "Bash", r#"command = "cat data.txt | head -500; echo; exit 0", description = "d""#),
    ("long", "Bash", r#"command = "seq 1 20000", description = "d""#),
    ("read", "Read", r#"file_path = "{{var:workspace}}/data.txt""#),
    ("grep", "Grep", r#"pattern = "line", path = "{{var:workspace}}/data.txt", output_mode = "content""#),
    ("names", "Grep", r#"pattern = "a line", path = "{{var:workspace}}/many""#),
    ("glob", "Glob", r#"pattern = "many/*.txt""#),
];

/// Every call's result is a pointer, in what the model was sent; the file has it all; the harness refused nothing.
fn check_every_tool(place: &Place, played: &Played, what: &str) {
    assert!(played.outcome.ok(), "{what}: {:?}", played.outcome.failure);
    let spilled: Vec<_> = played
        .events
        .iter()
        .filter_map(|event| match event {
            RunEvent::Spilled(spill) => Some(spill),
            _ => None,
        })
        .collect();
    let tools: Vec<&str> = spilled.iter().map(|spill| spill.tool.as_str()).collect();
    assert_eq!(tools, ["Bash", "Bash", "Read", "Grep", "Grep", "Glob"], "{what}: {:?}", warnings(played));
    assert_eq!(warnings(played), [""; 0], "{what}");
    let last = sent(played).max_by_key(|request| request.matches("tool_use_id").count()).unwrap();
    for spill in spilled {
        assert!(spill.before > 4000 && spill.after < 1500, "{what}: {spill:?}");
        for file in &spill.files {
            let path = place.workspace().join(".flower/spill").join(&file.name);
            assert!(
                last.contains(path.to_str().unwrap()),
                "{what}: {}: the model has the pointer",
                spill.tool
            );
            assert_eq!(path.metadata().unwrap().len(), file.bytes as u64, "{what}");
        }
    }
    let whole = (1..=20_000).map(|number| format!("{number}\n")).collect::<Vec<_>>().concat();
    let kept = place
        .spilled()
        .iter()
        .any(|path| std::fs::read_to_string(path).unwrap().trim_end() == whole.trim_end());
    assert!(kept, "{what}: more than the harness shows is spilled whole");
    for request in sent(played) {
        for far in ["000300 a line", "\\n10000\\n", "long-name-0060"] {
            assert!(!request.contains(far), "{what}: {far} has reached the context");
        }
    }
}

/// What the model was sent. Before a large file is shown the harness has its tokens counted, with the whole text.
fn sent(played: &Played) -> impl Iterator<Item = &String> {
    played.requests.iter().filter(|request| request.contains("\"stream\":true"))
}

fn warnings(played: &Played) -> Vec<&str> {
    let texts = played.events.iter().filter_map(|event| match event {
        RunEvent::Warning { text } => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn results_of_every_tool_are_spilled_on_the_main_thread() {
    for version in versions() {
        let place = place();
        let played = place.play(version, &agent("doer", ""), &main_makes(&EVERY_TOOL)).await;
        check_every_tool(&place, &played, &format!("{version} main"));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn results_of_every_tool_are_spilled_in_a_worker() {
    for version in versions() {
        let place = place();
        let played = place.play(version, &lead(), &worker_makes(&EVERY_TOOL)).await;
        check_every_tool(&place, &played, &format!("{version} worker"));
        assert!(played.outcome.spills.iter().all(|spill| spill.worker.is_some()), "{version}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_spilled_file_is_read_back_whole() {
    let made = [
        ("big", "Bash", r#"command = "head -300 data.txt", description = "d""#),
        ("read", "Read", r#"file_path = "{{result:big | between \"[spilled to \" \":\"}}""#),
        (
            "cat",
            "Bash",
            r#"command = "cat {{result:big | between \"[spilled to \" \":\"}} # all of it", description = "d""#,
        ),
        ("relative", "Bash", r#"command = "cd .flower/spill && sed -n 1,280p *.txt", description = "d""#),
        (
            "grep",
            "Grep",
            r#"pattern = "line", path = "{{result:big | between \"[spilled to \" \":\"}}", output_mode = "content""#,
        ),
        ("long", "Bash", r#"command = "seq 1 20000", description = "d""#),
        (
            "page",
            "Bash",
            r#"command = "cat {{result:long | between \"[spilled to \" \":\"}}", description = "d""#,
        ),
        ("next", "Bash", r#"command = "{{result:page | between \"`\" \"`\"}}", description = "d""#),
    ];
    for version in versions() {
        let place = place();
        let played = place.play(version, &agent("doer", ""), &main_makes(&made)).await;
        assert!(played.outcome.ok(), "{version}: {:?}", played.outcome.failure);
        assert_eq!(played.outcome.spills.len(), 2, "{version}: {:?}", played.outcome.spills);
        assert_eq!(place.spilled().len(), 2, "{version}");
        let last = sent(&played).max_by_key(|request| request.matches("tool_use_id").count()).unwrap();
        assert_eq!(last.matches("000240 a line").count(), 4, "{version}: read back whole, four times");
        // Two pages of twenty-nine thousand characters each, one after the other.
        for number in ["200", "5000", "6100", "10000"] {
            assert_eq!(last.matches(&format!("\\n{number}\\n")).count(), 1, "{version}: {number}");
        }
        assert!(!last.contains("persisted-output"), "{version}");
    }
}

/// Everything that was spilled is found again wherever it is looked for, and nobody is asked for permission.
async fn check_found_again(
    place: &Place,
    builder: RuntimeBuilder,
    spec: &AgentSpec,
    home: &Path,
    what: &str,
) {
    // A path with blanks stands in quotes, as a shell needs it.
    let quote = if home.to_string_lossy().contains(' ') { "'" } else { "" };
    let pointer = r#"{{result:big | between \"[spilled to \" \":\"}}"#;
    let path = format!(r#"{{{{result:big | between \"[spilled to {quote}\" \"{quote}:\"}}}}"#);
    let made = [
        ("big", "Bash", r#"command = "seq -f 'line %06g of it' 400", description = "d""#.to_owned()),
        ("read", "Read", format!(r#"file_path = "{path}""#)),
        ("cat", "Bash", format!(r#"command = "cat {pointer}", description = "d""#)),
        ("cd", "Bash", format!(r#"command = "cd /tmp && sed -n '1,$p' {pointer}", description = "d""#)),
    ];
    let made: Vec<_> = made.iter().map(|(id, tool, input)| (*id, *tool, input.as_str())).collect();
    let scenario =
        if matches!(spec.duty, Duty::Delegate { .. }) { worker_makes(&made) } else { main_makes(&made) };
    let played = place.play_with(builder, spec, &scenario).await.unwrap();
    assert!(played.outcome.ok(), "{what}: {:?}", played.outcome.failure);
    assert_eq!(played.outcome.denials, [], "{what}");
    let [spill] = &*played.outcome.spills else { panic!("{what}: {:?}", played.outcome.spills) };
    let file = home.join("spill").join(&spill.files[0].name);
    assert!(file.is_file(), "{what}: {}", file.display());
    let last = sent(&played).max_by_key(|request| request.matches("tool_use_id").count()).unwrap();
    assert_eq!(last.matches("line 000300 of it").count(), 3, "{what}: read back whole, three times");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_spilled_file_is_found_from_every_directory() {
    for version in versions() {
        let place = Place::new();
        let inside = place.workspace().join(".flower");
        check_found_again(
            &place,
            place.builder(version),
            &agent("doer", ""),
            &inside,
            &format!("{version} inside"),
        )
        .await;

        let place = Place::new();
        let outside = place.root().join("my bench (old)");
        let builder = place.builder(version).workbench(&outside);
        check_found_again(&place, builder, &lead(), &outside, &format!("{version} outside, with blanks"))
            .await;

        let place = Place::new();
        make_repository(&place.workspace());
        let outside = place.root().join("bench");
        let isolated =
            coordinator("lead", "", [("doer", worker("Does things.", "You do things.").isolated())]);
        let builder = place.builder(version).workbench(&outside);
        check_found_again(&place, builder, &isolated, &outside, &format!("{version} isolated")).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_cannot_read_a_file_gets_its_results_whole() {
    let fetched = [("grep", "Glob", r#"pattern = "many/*.txt""#)];
    let version = versions().last().unwrap();
    let place = place();
    let played = place.play(version, &agent("doer", "").tools(["Glob"]), &main_makes(&fetched)).await;
    assert!(played.outcome.ok() && played.outcome.spills.is_empty(), "{:?}", played.outcome.spills);
    let spec = coordinator("lead", "", [("doer", worker("Does things.", "You do things.").tools(["Glob"]))]);
    let played = place.play(version, &spec, &worker_makes(&fetched)).await;
    assert!(played.outcome.ok() && played.outcome.spills.is_empty(), "{:?}", played.outcome.spills);
    let spec =
        coordinator("lead", "", [("doer", worker("Does things.", "You do things.").tools(["Glob", "Read"]))]);
    let played = place.play(version, &spec, &worker_makes(&fetched)).await;
    assert_eq!(played.outcome.spills.len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_is_no_longer_kept_is_not_looked_for_again() {
    let made = [
        ("read", "Read", r#"file_path = "{{var:workspace}}/.flower/spill/0123456789abcdef.txt""#),
        ("cat", "Bash", r#"command = "cat .flower/spill/0123456789abcdef.txt", description = "d""#),
        (
            "quiet",
            "Bash",
            r#"command = "cat .flower/spill/0123456789abcdef.txt 2>/dev/null || true", description = "d""#,
        ),
    ];
    for version in versions() {
        let place = place();
        let played = place.play(version, &agent("doer", ""), &main_makes(&made)).await;
        assert!(played.outcome.ok(), "{version}: {:?}", played.outcome.failure);
        let last = sent(&played).max_by_key(|request| request.matches("tool_use_id").count()).unwrap();
        assert_eq!(last.matches("This spilled result is no longer kept.").count(), 3, "{version}: {last}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn git_sees_nothing_of_what_was_spilled() {
    let version = versions().last().unwrap();
    let place = place();
    make_repository(&place.workspace());
    // Somebody has a file of their own there, which says nothing of our directories.
    std::fs::create_dir(place.workspace().join(".flower")).unwrap();
    std::fs::write(place.workspace().join(".flower/.gitignore"), "*.log\n").unwrap();
    let played = place.play(version, &agent("doer", ""), &main_makes(&EVERY_TOOL[..1])).await;
    assert_eq!(played.outcome.spills.len(), 1, "{:?}", warnings(&played));
    let status = std::process::Command::new("git")
        .arg("-C")
        .arg(place.workspace())
        .args(["status", "--porcelain", "--untracked-files=all"])
        .output()
        .unwrap();
    let status = String::from_utf8(status.stdout).unwrap();
    assert!(!status.contains("spill") && !status.contains("runs"), "{status}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reports_are_spilled_on_request_only() {
    let report = "A long report of the worker. ".repeat(300);
    let scenario = worker_makes(&[])
        .replacen("text = \"Done.\"", "text = \"Read.\"", 1)
        .replace("\"Done.\"", &format!("{report:?}"));
    for version in versions() {
        let place = place();
        let played = place.play(version, &lead(), &scenario).await;
        assert!(played.outcome.ok() && played.outcome.spills.is_empty(), "{version}: {:?}", played.outcome);
        let builder = place.builder(version).spill_also([Also::Reports]);
        let played = place.play_with(builder, &lead(), &scenario).await.unwrap();
        assert!(played.outcome.ok(), "{version}: {:?}", played.outcome.failure);
        let [spill] = &*played.outcome.spills else { panic!("{version}: {:?}", played.outcome.spills) };
        assert_eq!((spill.tool.as_str(), &spill.worker), ("Agent", &None), "{version}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_threshold_results_stay_as_they_are() {
    let version = versions().last().unwrap();
    for threshold in [None, Some(0), Some(1_000_000)] {
        let place = place();
        let builder = place.builder(version).spill_threshold(threshold);
        let played =
            place.play_with(builder, &agent("doer", ""), &main_makes(&EVERY_TOOL[..1])).await.unwrap();
        assert!(played.outcome.spills.is_empty() && place.spilled().is_empty(), "{threshold:?}");
        assert!(played.requests.iter().any(|request| request.contains("000300 a line")), "{threshold:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn when_the_disk_refuses_the_result_stays_and_somebody_is_told() {
    for version in versions() {
        let place = place();
        let builder = place.builder(version);
        std::fs::create_dir(place.workspace().join(".flower")).unwrap();
        // A link to somewhere else is not written to.
        std::os::unix::fs::symlink(place.root(), place.workspace().join(".flower/spill")).unwrap();
        let played =
            place.play_with(builder, &agent("doer", ""), &main_makes(&EVERY_TOOL[..1])).await.unwrap();
        assert!(played.outcome.ok() && played.outcome.spills.is_empty(), "{version}: {:?}", played.outcome);
        assert!(played.requests.iter().any(|request| request.contains("000300 a line")), "{version}");
        let failed =
            |event: &&RunEvent| matches!(event, RunEvent::SpillFailed { tool, .. } if tool == "Bash");
        assert_eq!(played.events.iter().filter(failed).count(), 1, "{version}");
        assert_eq!(warnings(&played).len(), 1, "{version}: {:?}", warnings(&played));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_spilled_is_kept_with_the_session() {
    let version = versions().next().unwrap();
    let place = place();
    let played = place.play(version, &agent("doer", ""), &main_makes(&EVERY_TOOL[..3])).await;
    let paths = ProjectPaths::resolve(&place.config_dir(), &place.workspace()).unwrap();
    let opened =
        SqliteStore::open(place.workspace().join(".flower/runs/sessions.db"), &OpenOptions::default())
            .unwrap();
    let main = SessionKey::main(paths.project_key(), played.outcome.sessions.last().unwrap()).unwrap();
    let kept = |subpath: &str| {
        let lines = opened.store.load(&main.clone().with_subpath(subpath).unwrap()).unwrap();
        lines
            .iter()
            .map(|entry| serde_json::from_str(&entry.text).unwrap())
            .collect::<Vec<serde_json::Value>>()
    };
    let spills = kept(SPILLS);
    assert_eq!(spills.len(), 3);
    for (kept, spill) in spills.iter().zip(&played.outcome.spills) {
        assert_eq!(kept["call"], spill.call.as_str());
        assert_eq!(kept["files"][0]["name"], spill.files[0].name.as_str());
        assert_eq!(kept["taken"], true);
        assert!(kept["at"].is_string());
    }
    assert_eq!(kept(DENIALS).len(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_rehearsal_of_spills_quotes_what_the_pointers_say() {
    let scenario = include_str!("../../../flower-rehearsal/scenarios/spill.toml");
    let analyst = worker("Analyses files.", "You analyse.").tools(["Read", "Write", "Bash", "Glob", "Grep"]);
    let lead = coordinator("lead", "", [("analyst", analyst)]);
    for version in versions() {
        let place = Place::new();
        let played = place.play(version, &lead, scenario).await;
        assert!(played.outcome.ok(), "{version}: {:?}", played.outcome.failure);
        assert_eq!(
            played.outcome.text,
            "The list is done. all numbers are in the artifact; the list had 108894 characters and the progress ended with \
             \"number 500 of 500 ....\".\nWhat I read was 6392 characters long; read back, its last line is 1500.",
            "{version}"
        );
        let mut tools: Vec<&str> = played.outcome.spills.iter().map(|spill| spill.tool.as_str()).collect();
        tools.sort_unstable();
        assert_eq!(tools, ["Bash", "Bash", "Glob", "Grep", "Read"], "{version}");
        assert!(warnings(&played).is_empty(), "{version}: {:?}", warnings(&played));
    }
}
