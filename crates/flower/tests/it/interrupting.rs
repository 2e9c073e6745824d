//! A human speaks while a turn is running, in both versions.

use std::time::Duration;

use flower::roles::{coordinator, worker};
use flower::runtime::{RunEvent, Start};

use crate::played::{Place, versions};

const WAITS: &str = r#"
[[thread]]
name = "main"
match = { agent = "main" }
[[thread.step]]
[[thread.step.call]]
tool = "Agent"
input = { subagent_type = "doer", description = "Wait", prompt = "Wait." }
[[thread.step]]
text = "Then I stop."

[[thread]]
name = "worker"
match = { agent = "subagent" }
[[thread.step]]
[[thread.step.call]]
tool = "Bash"
input = { command = "for i in $(seq 100); do sleep 1; done; touch waited", description = "d" }
"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_goes_on_with_what_was_said() {
    for version in versions() {
        let place = Place::new();
        let stage = place.stage(WAITS).await;
        let builder = place.builder(version).env("ANTHROPIC_BASE_URL", stage.rehearsal.url());
        let runtime = builder.build().unwrap();
        assert!(!runtime.interrupt("Nobody is there."), "{version}");
        let mut listener = runtime.events();
        let speaker = {
            let runtime = runtime.clone();
            tokio::spawn(async move {
                while let Some(event) = listener.recv().await {
                    if matches!(&event, RunEvent::Called { tool, .. } if tool == "Bash") {
                        break;
                    }
                }
                tokio::time::sleep(Duration::from_millis(300)).await;
                assert!(runtime.interrupt("Never mind, stop here."));
            })
        };
        let spec = coordinator("lead", "", [("doer", worker("Does things.", "You do things."))]);
        let played = stage.step(&runtime, &spec, "Go.", Start::Fresh).await.unwrap();
        speaker.await.unwrap();
        assert!(played.outcome.ok(), "{version}: {:?}", played.outcome.failure);
        assert_eq!(played.outcome.text, "Then I stop.", "{version}");
        assert_eq!(played.outcome.sessions.len(), 1, "{version}: the same session goes on");
        let last = played.requests.last().unwrap();
        assert!(last.contains("Never mind, stop here."), "{version}: {last}");
        assert!(last.contains("has not failed and was not refused"), "{version}");
        assert!(!place.workspace().join("waited").exists());
        assert!(!runtime.interrupt("Too late."), "{version}: the step is over");
        stage.close().await;
    }
}
