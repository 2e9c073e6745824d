//! A human speaks while a turn is running, in both versions.

use std::time::Duration;

use flower::roles::{coordinator, worker};
use flower::runtime::{RunEvent, Start};

use crate::played::{Place, kill_harness, versions};

const WAITS: &str = r#"
[[thread]]
name = "main"
match = { agent = "main" }
after_last = "repeat"
[[thread.step]]
[[thread.step.call]]
tool = "Agent"
input = { subagent_type = "doer", description = "Wait", prompt = "Wait." }
[[thread.step]]
delay_ms = 2000
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

/// A harness that dies takes along what was said to it and is not in the history yet: it is said again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_said_to_a_harness_that_dies_is_said_again() {
    for version in versions() {
        let place = Place::new();
        let stage = place.stage(WAITS).await;
        let builder = place.builder(version).env("ANTHROPIC_BASE_URL", stage.rehearsal.url());
        let runtime = builder.build().unwrap();
        let mut listener = runtime.events();
        let killing = async {
            while let Some(event) = listener.recv().await {
                match &event {
                    RunEvent::Called { tool, .. } if tool == "Bash" => {
                        // The harness writes its transcript a moment later.
                        tokio::time::sleep(Duration::from_millis(300)).await;
                        assert!(runtime.interrupt("Never mind, stop here."));
                    }
                    RunEvent::Interrupted { .. } => return kill_harness(&place).await,
                    _ => {}
                }
            }
        };
        let spec = coordinator("lead", "", [("doer", worker("Does things.", "You do things."))]);
        let (played, ()) = tokio::join!(stage.step(&runtime, &spec, "Go.", Start::Fresh), killing);
        let played = played.unwrap();
        assert!(played.outcome.ok(), "{version}: {:?}", played.outcome.failure);
        assert_eq!(played.waits(), ["harness_killed"], "{version}");
        let last = played.requests.last().unwrap();
        assert!(last.contains("Never mind, stop here."), "{version}: {last}");

        // The same for the prompt that a session goes on with.
        let mut listener = runtime.events();
        let killing = async {
            while let Some(event) = listener.recv().await {
                if matches!(&event, RunEvent::Resumed { .. }) {
                    return kill_harness(&place).await;
                }
            }
        };
        let start = Start::Resume(played.outcome.sessions[0].clone());
        let (played, ()) = tokio::join!(stage.step(&runtime, &spec, "And now?", start), killing);
        let played = played.unwrap();
        assert!(played.outcome.ok(), "{version}: {:?}", played.outcome.failure);
        assert_eq!(played.waits(), ["harness_killed"], "{version}");
        let last = played.requests.last().unwrap();
        assert!(last.contains("And now?"), "{version}: {last}");
        stage.close().await;
    }
}

/// A word that comes when the turn is just over is still heard, or whoever says it learns that the step is over.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_word_after_the_last_turn_is_heard_or_refused() {
    for version in versions() {
        let place = Place::new();
        let stage = place
            .stage("[[thread]]\nname = \"main\"\nafter_last = \"repeat\"\n[[thread.step]]\ntext = \"Yes.\"\n")
            .await;
        let builder = place.builder(version).env("ANTHROPIC_BASE_URL", stage.rehearsal.url());
        let runtime = builder.build().unwrap();
        let spec = coordinator("lead", "", [("doer", worker("Does things.", "You do things."))]);
        let mut listener = runtime.events();
        let speaker = {
            let runtime = runtime.clone();
            tokio::spawn(async move {
                while !matches!(listener.recv().await, Some(RunEvent::TurnEnded { .. }) | None) {}
                runtime.interrupt("One more thing.")
            })
        };
        let played = stage.step(&runtime, &spec, "Go.", Start::Fresh).await.unwrap();
        assert!(played.outcome.ok(), "{version}: {:?}", played.outcome.failure);
        let last = played.requests.last().unwrap();
        assert_eq!(last.contains("One more thing."), speaker.await.unwrap(), "{version}: {last}");
        stage.close().await;
    }
}
