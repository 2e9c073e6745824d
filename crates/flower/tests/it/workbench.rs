//! The workbench on the real harness: an index that follows what is written, and a head that stays as it was.

use flower::Runtime;
use flower::roles::{AgentSpec, coordinator, worker};
use flower::runtime::{Outcome, RunEvent, Start};
use flower_claude::harness::Version;
use flower_rehearsal::{Options, Rehearsal, Scenario};
use serde_json::Value;

use crate::played::{Place, versions};

fn lead() -> AgentSpec {
    coordinator("lead", "Goal: count.", [("doer", worker("Does things.", "You do things."))])
}

/// A coordinator that sends a worker, which writes a script with a tool and a log with a command, and looks at the
/// index in between.
const WRITES: &str = r##"
[[thread]]
name = "main"
match = { agent = "main" }
[[thread.step]]
[[thread.step.call]]
id = "send"
tool = "Agent"
input = { subagent_type = "doer", description = "Do", prompt = "Do it." }
[[thread.step]]
[[thread.step.call]]
id = "look"
tool = "Read"
input = { file_path = "{{var:workspace}}/.flower/INDEX.md" }
[[thread.step]]
text = "Answer one."
[[thread.step]]
text = "Answer two."
[[thread.step]]
text = "Answer three."

[[thread]]
name = "worker"
match = { agent = "subagent" }
[[thread.step]]
[[thread.step.call]]
id = "write"
tool = "Write"
input = { file_path = "{{var:workspace}}/.flower/scripts/count.py", content = "# desc: counts words\n" }
[[thread.step]]
[[thread.step.call]]
id = "index"
tool = "Bash"
input = { command = "cat .flower/INDEX.md", description = "d" }
[[thread.step]]
[[thread.step.call]]
id = "log"
tool = "Bash"
input = { command = "echo long > .flower/artifacts/log.txt", description = "d" }
[[thread.step]]
text = "Conclusion: done."
"##;

struct Stage {
    place: Place,
    rehearsal: Rehearsal,
    runtime: Runtime,
}

impl Stage {
    async fn new(version: Version) -> Self {
        let place = Place::new();
        let scenario = WRITES.replace("{{var:workspace}}", &place.workspace().display().to_string());
        let options = Options { keep_requests: true, ..Options::default() };
        let rehearsal = Rehearsal::start(Scenario::parse("test", &scenario).unwrap(), options).await.unwrap();
        let runtime = place.builder(version).env("ANTHROPIC_BASE_URL", rehearsal.url()).build().unwrap();
        Self { place, rehearsal, runtime }
    }

    async fn step(&self, prompt: &str, start: Start) -> Outcome {
        let mut events = self.runtime.events();
        let outcome = self.runtime.step(&lead(), prompt, start).await.unwrap();
        assert!(outcome.ok(), "{:?}", outcome.failure);
        while let Ok(event) = events.try_recv() {
            assert!(!matches!(event, RunEvent::Warning { .. }), "{event:?}");
        }
        outcome
    }

    /// Requests of the main thread, oldest first.
    fn of_main(&self) -> Vec<Value> {
        let requests = self.rehearsal.requests();
        let requests = requests.iter().map(|kept| serde_json::from_slice(&kept.body).unwrap());
        requests.filter(|request: &Value| request["system"].to_string().contains("Goal: count.")).collect()
    }
}

fn head(request: &Value) -> String {
    let blocks = request["system"].as_array().unwrap();
    let texts = blocks.iter().filter_map(|block| block["text"].as_str());
    texts.filter(|text| text.contains("Goal: count.")).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_index_follows_writes_and_workers() {
    for version in versions() {
        let stage = Stage::new(version).await;
        std::fs::write(stage.place.workspace().join(".flower/notes/why.md"), "# Why SQLite\n").unwrap();
        stage.step("Go.", Start::Fresh).await;
        let main = stage.of_main();
        assert!(
            head(&main[0]).contains("`notes/why.md`: Why SQLite"),
            "{version}: the step begins with what is there"
        );
        let last = main.last().unwrap()["messages"].to_string();
        for listed in ["`scripts/count.py`: counts words", "`artifacts/log.txt`"] {
            assert!(last.contains(listed), "{version}: {listed} is in the index when the worker has ended");
        }
        let requests = stage.rehearsal.requests();
        let seen = requests.iter().map(|kept| String::from_utf8_lossy(&kept.body).into_owned());
        let by_worker =
            seen.filter(|body| !body.contains("Goal: count.") && body.contains("counts words (21 B)"));
        assert!(by_worker.count() > 0, "{version}: the index is new as soon as the file is written");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_head_is_frozen_and_changes_come_at_the_end_of_a_prompt() {
    for version in versions() {
        let stage = Stage::new(version).await;
        let first = stage.step("Go.", Start::Fresh).await;
        let session = first.sessions.last().unwrap().clone();
        let head_then = head(&stage.of_main()[0]);

        std::fs::write(stage.place.workspace().join(".flower/notes/later.md"), "# Decided later\n").unwrap();
        stage.step("Go on.", Start::Resume(session.clone())).await;
        let main = stage.of_main();
        let resumed = main.last().unwrap();
        assert_eq!(head(resumed), head_then, "{version}");
        let prompt = resumed["messages"].to_string();
        let (_, after) = prompt.split_once("Go on.").unwrap();
        for told in ["new: `notes/later.md`: Decided later", "new: `scripts/count.py`: counts words"] {
            assert!(after.contains(told), "{version}: {told}");
        }

        // Told once: the third step adds nothing.
        stage.step("And on.", Start::Resume(session.clone())).await;
        let main = stage.of_main();
        let prompt = main.last().unwrap()["messages"].to_string();
        let (_, after) = prompt.split_once("And on.").unwrap();
        assert!(!after.contains("later.md"), "{version}");
        assert_eq!(head(main.last().unwrap()), head_then, "{version}");
        let kept = stage.runtime.workbench().runs().join("heads").join(session).with_extension("json");
        assert!(kept.is_file(), "{version}");
    }
}
