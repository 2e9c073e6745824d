//! Division of labour on the real harness: who may do what, unattended, in both versions.

use flower::roles::{AgentSpec, coordinator, worker};
use flower::runtime::RunEvent;
use flower_context::Lang;

use crate::played::{Place, versions};

fn lead() -> AgentSpec {
    coordinator("lead", "Goal: try everything.", [("doer", worker("Does things.", "You do things."))])
}

/// A coordinator that sends one worker, which makes these calls one after the other.
fn worker_makes(calls: &[(&str, &str)]) -> String {
    let mut scenario = String::from(
        r#"
[[thread]]
name = "main"
match = { agent = "main" }
[[thread.step]]
[[thread.step.call]]
id = "send"
tool = "Agent"
input = { subagent_type = "doer", description = "Do", prompt = "Do it." }
[[thread.step]]
text = "The worker has done it."

[[thread]]
name = "worker"
match = { agent = "subagent" }
"#,
    );
    let step = |(index, (tool, input)): (usize, &(&str, &str))| {
        format!(
            "[[thread.step]]\n[[thread.step.call]]\nid = \"c{index}\"\ntool = \"{tool}\"\ninput = {{ {input} }}\n"
        )
    };
    scenario.extend(calls.iter().enumerate().map(step));
    scenario + "[[thread.step]]\ntext = \"Conclusion: done.\"\n"
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_works_unattended() {
    for version in versions() {
        let place = Place::new();
        let outside = place.root().join("outside.txt");
        let outside_write = format!("file_path = {:?}, content = \"x\"", outside.to_str().unwrap());
        let played = place
            .play(
                version,
                &lead(),
                &worker_makes(&[
                    (
                        "Bash",
                        r#"command = "mkdir -p made && touch made/a && echo hi > made/b", description = "d""#,
                    ),
                    ("Bash", r#"command = "sh -c 'echo from a script > made/c'", description = "d""#),
                    ("Write", r#"file_path = "{{var:workspace}}/made/d", content = "one""#),
                    (
                        "Edit",
                        r#"file_path = "{{var:workspace}}/made/d", old_string = "one", new_string = "two""#,
                    ),
                    (
                        "Write",
                        r#"file_path = "{{var:workspace}}/.flower/artifacts/log.txt", content = "long""#,
                    ),
                    ("Write", &outside_write),
                    ("Glob", r#"pattern = "made/*""#),
                    ("Grep", r#"pattern = "two", path = "made""#),
                ]),
            )
            .await;
        assert!(played.outcome.ok(), "{version}: {:?}", played.outcome.failure);
        assert!(played.outcome.denials.is_empty(), "{version}: {:?}", played.outcome.denials);
        for tool in ["Bash", "Write", "Edit", "Glob", "Grep"] {
            let failed = played.failed(tool);
            assert!(!failed.is_empty() && !failed.contains(&true), "{version}: {tool}: {failed:?}");
        }
        let made = std::fs::read_to_string(place.workspace().join("made/d")).unwrap();
        assert_eq!(made, "two", "{version}");
        assert!(outside.exists(), "{version}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_coordinator_cannot_act_and_is_told_what_to_do_instead() {
    const TRIES: &str = r#"
[[thread]]
name = "main"
match = { agent = "main" }
[[thread.step]]
[[thread.step.call]]
id = "bash"
tool = "Bash"
input = { command = "ls && touch made", description = "d" }
[[thread.step]]
[[thread.step.call]]
id = "write"
tool = "Write"
input = { file_path = "{{var:workspace}}/made", content = "x" }
[[thread.step]]
[[thread.step.call]]
id = "background"
tool = "Bash"
input = { command = "ls", description = "d", run_in_background = true }
[[thread.step]]
[[thread.step.call]]
id = "stranger"
tool = "Agent"
input = { subagent_type = "general-purpose", description = "d", prompt = "p" }
[[thread.step]]
[[thread.step.call]]
id = "look"
tool = "Bash"
input = { command = "for n in 1 2; do echo $n; done && awk '{ print NF }' /dev/null", description = "d" }
[[thread.step]]
text = "Four refusals and a glance."
"#;
    for version in versions() {
        for lang in [Lang::En, Lang::Zh] {
            let place = Place::new();
            let played = place.play_with(place.builder(version).lang(lang), &lead(), TRIES).await.unwrap();
            assert!(played.outcome.ok(), "{version}: {:?}", played.outcome.failure);
            assert_eq!(played.outcome.denials.len(), 4, "{version}: {:?}", played.outcome.denials);
            assert!(!place.workspace().join("made").exists(), "{version}");
            // The harness itself would ask somebody about this one; the wall has the answer.
            assert_eq!(played.failed("Bash"), [true, true, false], "{version}: the glance passes");
            let reason = &played.outcome.denials[0].reason;
            assert!(reason.contains("touch made"), "{version}: the refused part is named: {reason}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn workers_run_in_the_foreground_unless_asked_otherwise() {
    // The background worker is slower than the coordinator's turn: the step ends when it has reported.
    const TWO: &str = r#"
[[thread]]
name = "main"
match = { agent = "main" }
[[thread.step]]
[[thread.step.call]]
id = "front"
tool = "Agent"
input = { subagent_type = "doer", description = "Front", prompt = "FRONT" }
[[thread.step]]
text = "Front says {{result:front | between \"<<\" \">>\"}}."
[[thread.step.call]]
id = "back"
tool = "Agent"
input = { subagent_type = "doer", description = "Back", prompt = "BACK", run_in_background = true }
[[thread.step]]
text = "One is still out."
[[thread.step]]
text = "Both have reported."

[[thread]]
name = "front"
match = { agent = "subagent", prompt = "FRONT" }
[[thread.step]]
text = "Report: <<front>>"

[[thread]]
name = "back"
match = { agent = "subagent", prompt = "BACK" }
[[thread.step]]
[[thread.step.call]]
id = "slow"
tool = "Bash"
input = { command = "for i in 1 2 3 4; do sleep 0.4; done; touch back-was-here", description = "d" }
[[thread.step]]
text = "Report: <<back>>"
"#;
    for version in versions() {
        let place = Place::new();
        let played = place.play(version, &lead(), TWO).await;
        assert!(played.outcome.ok(), "{version}: {:?}", played.outcome.failure);
        assert_eq!(played.outcome.text, "Both have reported.", "{version}");
        assert!(place.workspace().join("back-was-here").exists(), "{version}");
        let said: Vec<&str> = played
            .events
            .iter()
            .filter_map(|event| match event {
                RunEvent::Said { worker: None, text } => Some(text.as_str()),
                _ => None,
            })
            .collect();
        assert_eq!(said[0], "Front says front.", "{version}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_knows_the_workbench_and_the_coordinator_its_rules() {
    for version in versions() {
        let place = Place::new();
        let played = place.play(version, &lead(), &worker_makes(&[])).await;
        let artifacts = place.workspace().join(".flower/artifacts").display().to_string();
        let mut coordinator = false;
        let mut worker = false;
        for request in &played.requests {
            let request: serde_json::Value = serde_json::from_str(request).unwrap();
            let system = request["system"].to_string();
            assert!(system.contains(&artifacts), "{version}: everybody knows where artifacts go");
            coordinator |= system.contains("Goal: try everything.") && system.contains("How you work here");
            worker |= system.contains("You do things.") && system.contains("How you report");
        }
        assert!(coordinator && worker, "{version}: {} requests", played.requests.len());
    }
}
