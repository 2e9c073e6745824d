//! `flower rehearse NAME`: what each layer does, in both versions and both languages, and the receipt that says so.

use std::path::Path;
use std::process::Command;

use flower_claude::harness::Version;
use serde_json::Value;

use crate::binary::{Place, Said, events, harness, versions};
use crate::killed::{processes_of, wait_until};

/// Each version with a language of its own: the two have nothing to do with each other, and a play takes a while.
fn plays() -> impl Iterator<Item = (Version, &'static str)> {
    versions().zip(["zh-CN", "en"])
}

fn rehearsal(place: &Place, version: Version, lang: &str) -> Command {
    let mut command = place.flower();
    command.args(["--lang", lang, "rehearse", "--workspace"]);
    command.arg(place.workspace()).arg("--claude").arg(harness(version));
    command
}

/// What was told of a play, the receipt last.
struct Play {
    lines: Vec<Value>,
    /// For messages of tests.
    what: String,
}

impl Play {
    fn of(place: &Place, version: Version, lang: &str, arguments: &[&str]) -> Self {
        let said = Said::by(rehearsal(place, version, lang).arg("--json").args(arguments));
        said.assert_code(0);
        Self { lines: said.json(), what: format!("{version} {lang}") }
    }

    /// Nothing was not as it should be.
    fn calm(self) -> Self {
        assert_eq!(self.events("warning"), [&Value::Null; 0], "{}", self.what);
        self
    }

    fn events(&self, name: &str) -> Vec<&Value> {
        events(&self.lines, name)
    }

    fn receipt(&self) -> &Value {
        self.lines.last().unwrap()
    }

    /// The last thing that the main thread said in each step.
    fn answers(&self) -> Vec<&str> {
        let steps = self.lines.split(|line| line["event"] == "step_ended");
        let said = steps.filter_map(|lines| {
            let of_main = |line: &&Value| line["event"] == "said" && line["worker"].is_null();
            lines.iter().rfind(of_main).and_then(|line| line["text"].as_str())
        });
        said.collect()
    }
}

fn count(list: &Value) -> usize {
    list.as_array().map_or(0, Vec::len)
}

/// The texts below a directory.
fn texts(workspace: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(workspace.join("data")).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let texts = paths.filter(|path| path.extension().is_some_and(|end| end == "txt"));
    texts.map(|path| std::fs::read_to_string(path).unwrap()).collect()
}

fn lines_of(texts: &[String]) -> usize {
    texts.iter().map(|text| text.lines().count()).sum()
}

#[test]
fn a_resume_reads_less_and_the_next_one_finds_it_in_the_cache() {
    for (version, lang) in plays() {
        let place = Place::new();
        let play = Play::of(&place, version, lang, &["resume"]).calm();
        let what = &play.what;
        let receipt = play.receipt();
        let [first, second] = receipt["resumes"].as_array().unwrap().as_slice() else {
            panic!("{what}: {}", receipt["resumes"])
        };
        assert_eq!(
            (&first["made"]["expire"], &first["made"]["prune_denials"]),
            (&6.into(), &1.into()),
            "{what}"
        );
        assert!(first["tokens_saved"].as_i64().unwrap() > 3_000, "{what}: {first}");
        assert!(first["turns_to_break_even"].as_u64().unwrap() < 30, "{what}: {first}");
        assert_eq!(count(&second["made"]), 0, "{what}: {second}");
        let answers = play.answers();
        assert_eq!(answers.len(), 3, "{what}: {answers:?}");
        assert!(answers[1].contains(&texts(&place.workspace()).len().to_string()), "{what}: {answers:?}");
        // The second resume writes what is new, and reads all that the first has written. The receipt says so.
        let [cold, whole] = receipt["warmth"].as_array().unwrap().as_slice() else {
            panic!("{what}: {}", receipt["warmth"])
        };
        let tokens = |found: &Value, name: &str| found[name].as_u64().unwrap();
        assert!(tokens(cold, "read") < tokens(cold, "kept"), "{what}: what was rewritten is cold: {cold}");
        assert_eq!((&cold["step"], &whole["step"]), (&2.into(), &3.into()), "{what}");
        assert_eq!(tokens(whole, "read"), tokens(whole, "kept"), "{what}: nothing is written again: {whole}");
        let left_by_first = tokens(cold, "read") + tokens(cold, "written");
        assert!(tokens(whole, "read") >= left_by_first, "{what}: {cold} {whole}");
        let steps = receipt["steps"].as_array().unwrap();
        assert_eq!(steps[1]["sessions"], steps[2]["sessions"], "{what}");
        let tokens = |step: &Value, name: &str| {
            step["model_usage"]
                .as_object()
                .unwrap()
                .values()
                .map(|usage| usage[name].as_u64().unwrap())
                .sum::<u64>()
        };
        assert!(tokens(&steps[2], "cacheCreationInputTokens") < 800, "{what}: {}", steps[2]["model_usage"]);
    }
}

#[test]
fn without_its_layers_a_resume_reads_everything() {
    let version = versions().last().unwrap();
    let place = Place::new();
    let play = Play::of(&place, version, "en", &["resume", "--without", "expire,denials"]).calm();
    for report in play.receipt()["resumes"].as_array().unwrap() {
        assert_eq!((count(&report["made"]), &report["tokens_saved"]), (0, &0.into()), "{report}");
    }
}

#[test]
fn a_long_run_keeps_most_of_its_work_out_of_the_main_thread() {
    for (version, lang) in plays() {
        let of = |arguments: &[&str]| Play::of(&Place::new(), version, lang, arguments).calm();
        let (with, without) = (of(&["long-small"]), of(&["long-small", "--without", "all"]));
        let what = &with.what;
        let (with, without) = (with.receipt(), without.receipt());
        let number = |of: &Value| of.as_u64().unwrap();
        let workers = &with["figures"]["workers"];
        assert_eq!(number(&workers["calls"]["called"]), 4 * 10, "{what}");
        assert_eq!(number(&without["figures"]["workers"]["calls"]["called"]), 0, "{what}");
        // Alone it is the same calls but the four that delegate.
        let calls = |receipt: &Value| number(&receipt["figures"]["total"]["calls"]["called"]);
        assert_eq!(calls(with), calls(without) + 4, "{what}");
        assert_eq!(count(&with["figures"]["denials"]), 1, "{what}");
        assert!(number(&with["figures"]["total"]["spills"]["spilled_characters"]) > 40_000, "{what}");
        assert_eq!((count(&without["spills"]), count(&without["figures"]["denials"])), (0, 0), "{what}");
        let [small, large] = [with, without].map(|receipt| number(&receipt["figures"]["watermark"]));
        assert!(large > small + small / 4, "{what}: {small} tokens with layers, {large} without");
        for receipt in [with, without] {
            for found in receipt["warmth"].as_array().unwrap() {
                assert_eq!(found["read"], found["kept"], "{what}: every resume finds all of it: {found}");
            }
            assert_eq!(count(&receipt["warmth"]), 2, "{what}");
        }
    }
}

#[test]
fn what_has_no_part_for_one_alone_is_not_played_without_labour() {
    let place = Place::new();
    let version = versions().last().unwrap();
    let said = Said::by(rehearsal(&place, version, "en").args(["resume", "--without", "labour"]));
    said.assert_code(2);
    assert!(said.stderr.contains("resume has no part") && said.stderr.contains("long"), "{}", said.stderr);
}

#[test]
fn long_results_of_every_tool_are_on_disk_and_one_is_read_back() {
    for (version, lang) in plays() {
        let place = Place::new();
        let play = Play::of(&place, version, lang, &["spill"]).calm();
        let what = &play.what;
        let spills = play.receipt()["spills"].as_array().unwrap();
        let mut tools: Vec<&str> = spills.iter().map(|spill| spill["tool"].as_str().unwrap()).collect();
        tools.sort_unstable();
        // Nothing has to move of the counter that a terminal would show as its last line.
        assert_eq!(tools, ["Bash", "Glob", "Grep", "Read"], "{what}");
        assert!(spills.iter().all(|spill| spill["taken"] == true), "{what}: {spills:?}");
        let answer = play.answers()[0];
        for quoted in ["108894", "number 500 of 500 ....", "6392", "1500"] {
            assert!(answer.contains(quoted), "{what}: {quoted} is not in: {answer}");
        }
    }
}

#[test]
fn old_reports_move_to_disk_on_a_resume_and_are_found_there() {
    for (version, lang) in plays() {
        let place = Place::new();
        let play = Play::of(&place, version, lang, &["trim"]).calm();
        let what = &play.what;
        let report = &play.receipt()["resumes"][0];
        assert_eq!((&report["made"]["trim"], count(&report["left"])), (&4.into(), 0), "{what}: {report}");
        assert!(report["tokens_saved"].as_u64().unwrap() > 10_000, "{what}: {report}");
        let bytes: usize = texts(&place.workspace()).iter().map(String::len).sum();
        let answers = play.answers();
        assert!(answers[1].contains(&bytes.to_string()), "{what}: {bytes} is not in: {answers:?}");
    }
}

#[test]
fn an_interrupted_session_goes_on_with_what_was_said() {
    for (version, lang) in plays() {
        let place = Place::new();
        let play = Play::of(&place, version, lang, &["interrupt"]).calm();
        let what = &play.what;
        assert_eq!(play.events("interrupted").len(), 1, "{what}");
        assert_eq!(count(&play.receipt()["sessions"]), 1, "{what}: the same session goes on");
        let answers = play.answers();
        assert!(answers[0].contains(&texts(&place.workspace()).len().to_string()), "{what}: {answers:?}");
        assert!(!place.workspace().join("ended").exists(), "{what}: the command was cut off");
    }
}

#[test]
fn a_killed_run_is_gone_on_with_and_nothing_is_left_running() {
    for (version, lang) in plays() {
        let place = Place::new();
        let play = Play::of(&place, version, lang, &["kill"]);
        let what = &play.what;
        let killed = play.events("killed");
        assert_eq!(killed.len(), 2, "{what}");
        let receipt = play.receipt();
        assert_eq!(
            receipt["steps"].as_array().unwrap().len(),
            1,
            "{what}: the killed ones have written no line"
        );
        for one in &killed {
            assert_eq!(receipt["sessions"], Value::from(vec![one["session"].clone()]), "{what}");
        }
        let cut_off = receipt["cut_off"].as_array().unwrap();
        assert_eq!(cut_off.len(), 2, "{what}: their session says that they were there: {cut_off:?}");
        assert!(cut_off.iter().all(|step| step["session"] == killed[0]["session"]), "{what}: {cut_off:?}");
        // A harness that was left alone for a moment may have given the call that was cut off a result of its own.
        let made = &receipt["resumes"][0]["made"];
        assert!(made["heal"] == 1 || made["prune_debris"] == 1, "{what}: the history was repaired: {made}");
        // What the first killed run had found out is quoted at the end; so is what the second one did.
        let answer = play.answers().pop().unwrap().to_owned();
        let files = texts(&place.workspace()).len();
        for quoted in ["2", &files.to_string()] {
            assert!(answer.contains(quoted), "{what}: {quoted} is not in: {answer}");
        }
        assert!(!place.workspace().join("ended").exists(), "{what}");
        wait_until("the end of all processes", || processes_of(&place.root()).is_empty());
    }
}

#[test]
fn isolated_workers_change_worktrees_and_share_the_workbench() {
    for (version, lang) in plays() {
        let place = Place::new();
        let play = Play::of(&place, version, lang, &["isolation"]).calm();
        let what = &play.what;
        let repository = place.workspace().join("repository");
        assert!(!repository.join("finding.txt").exists(), "{what}: the workspace stays as it is");
        let trees = std::fs::read_dir(repository.join(".claude/worktrees")).unwrap();
        let found: Vec<String> = trees
            .map(|tree| std::fs::read_to_string(tree.unwrap().path().join("finding.txt")).unwrap())
            .map(|text| text.trim().to_owned())
            .collect();
        assert_eq!(found.len(), 2, "{what}: {found:?}");
        let lines = lines_of(&texts(&repository)).to_string();
        assert!(found.contains(&lines), "{what}: {lines} is not in {found:?}");
        let answer = play.answers()[0];
        assert_eq!(
            answer.matches(&lines).count(),
            2,
            "{what}: counted, and listed on the workbench: {answer}"
        );
    }
}

#[test]
fn a_step_ends_when_its_worker_in_the_background_has_reported() {
    for (version, lang) in plays() {
        let place = Place::new();
        let play = Play::of(&place, version, lang, &["background"]).calm();
        let what = &play.what;
        assert!(play.events("turn_ended").len() > 1, "{what}: a turn ended while the worker was out");
        let lines = lines_of(&texts(&place.workspace())).to_string();
        let answer = play.answers()[0];
        assert!(answer.contains(&lines), "{what}: {lines} is not in: {answer}");
    }
}

#[test]
fn a_lost_network_is_waited_for() {
    for (version, lang) in plays() {
        let place = Place::new();
        let play = Play::of(&place, version, lang, &["network-loss"]).calm();
        let what = &play.what;
        let causes: Vec<&str> =
            play.events("waiting").iter().map(|event| event["cause"].as_str().unwrap()).collect();
        assert_eq!(causes, ["connection", "connection", "connection", "overloaded"], "{what}");
        let step = &play.receipt()["steps"][0];
        assert_eq!((&step["ok"], &step["attempts"]), (&true.into(), &5.into()), "{what}: {step}");
        assert_eq!(count(&step["waits"]), 4, "{what}: {step}");
        assert_eq!(count(&step["sessions"]), 1, "{what}: the same session goes on");
        let calls = play.events("called");
        assert_eq!(calls.len(), 3, "{what}: every call is made once: {calls:?}");
        let lines = lines_of(&texts(&place.workspace())).to_string();
        assert!(play.answers().last().unwrap().contains(&lines), "{what}");
    }
}

#[test]
fn a_worker_that_lost_the_network_is_sent_again() {
    for (version, lang) in plays() {
        let place = Place::new();
        let play = Play::of(&place, version, lang, &["network-loss-worker"]).calm();
        let what = &play.what;
        assert_eq!(play.events("worker_failed").len(), 1, "{what}");
        let lines = lines_of(&texts(&place.workspace())).to_string();
        assert!(play.answers().last().unwrap().contains(&lines), "{what}");
    }
}

#[test]
fn the_built_in_scenarios_are_listed_with_a_sentence_each() {
    let place = Place::new();
    for (lang, sentence) in [("en", "two workers"), ("zh-CN", "两个执行者")] {
        let said = Said::by(place.flower().args(["--lang", lang, "rehearse", "--list"]));
        said.assert_code(0);
        let line = said.stdout.lines().find(|line| line.starts_with("coordinator ")).expect("it is listed");
        assert!(line.contains(sentence), "{line}");
        let listed = said.stdout.lines().count();
        assert_eq!(listed, flower_rehearsal::BUILT_IN.len(), "{}", said.stdout);
        assert!(
            said.stdout
                .lines()
                .all(|line| line.split_once("  ").is_some_and(|(_, about)| !about.trim().is_empty()))
        );
    }
}

#[test]
fn a_scenario_that_has_no_answer_is_to_blame_and_not_the_network() {
    let version = versions().last().unwrap();
    let place = Place::new();
    let file = place.root().join("short.toml");
    for (scenario, expected) in [
        ("[[thread]]\nname = \"nobody\"\nmatch = { prompt = \"Nobody asks this.\" }\n", "no thread matches"),
        ("[[thread]]\nname = \"main\"\n[[thread.step]]\ntext = \"{{result:1}}\"\n", "answer 1"),
    ] {
        std::fs::write(&file, scenario).unwrap();
        let said = Said::by(rehearsal(&place, version, "en").arg(&file));
        said.assert_code(1);
        assert!(said.stderr.contains(expected), "{}", said.stderr);
        assert!(said.stderr.contains("hint: The scenario is to blame"), "{}", said.stderr);
        assert!(!said.stderr.contains("Check the network"), "{}", said.stderr);
    }
    std::fs::write(&file, "[run]\nspil = 5\n[fallback]\ntext = \"{{var:nowhere}}\"\n").unwrap();
    let said = Said::by(rehearsal(&place, version, "en").arg(&file));
    said.assert_code(3);
    assert!(said.stderr.contains("short.toml:2: unknown field `spil`"), "{}", said.stderr);
    assert!(said.stderr.contains("docs/rehearsals.md"), "{}", said.stderr);
    std::fs::write(&file, "[fallback]\ntext = \"{{var:nowhere}}\"\n").unwrap();
    let said = Said::by(rehearsal(&place, version, "en").arg(&file));
    said.assert_code(3);
    assert!(said.stderr.contains("nowhere") && said.stderr.contains("{{var:workspace}}"), "{}", said.stderr);
}
