//! Failures that are not the run's own: what passes is waited for, what does not ends the step; both versions.

use std::time::Duration;

use flower::resilience::Resilience;
use flower::roles::{AgentSpec, agent};
use flower::runtime::{FailureKind, RunEvent, RuntimeBuilder};

use crate::played::{Place, Played, versions};

/// Waits as short as a test can bear.
fn quick() -> Resilience {
    Resilience::default().first_wait(Duration::from_millis(20)).longest_wait(Duration::from_millis(50))
}

fn spec() -> AgentSpec {
    agent("doer", "").tools(["Read", "Bash(touch *)"])
}

/// One call, then the answer; `fault` breaks something.
fn scenario(fault: &str) -> String {
    format!(
        r#"
[[thread]]
name = "main"
match = {{ agent = "main" }}
[[thread.step]]
text = "I look."
[[thread.step.call]]
tool = "Read"
input = {{ file_path = "{{{{var:workspace}}}}/note.txt" }}
[[thread.step]]
text = "It is there."
{fault}
"#
    )
}

async fn play(
    version: flower_claude::harness::Version,
    builder: impl Fn(RuntimeBuilder) -> RuntimeBuilder,
    fault: &str,
) -> Played {
    let place = Place::new();
    std::fs::write(place.workspace().join("note.txt"), "x\n").unwrap();
    let builder = builder(place.builder(version).resilience(quick()));
    let stage = place.stage(&scenario(fault)).await;
    let played = stage.play(builder, &spec(), "Go.", flower::runtime::Start::Fresh).await.unwrap();
    stage.rehearsal.shutdown().await;
    played
}

fn waits(played: &Played) -> Vec<&'static str> {
    let waits = played.events.iter().filter_map(|event| match event {
        RunEvent::Waiting { cause, .. } => Some(*cause),
        _ => None,
    });
    waits.collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_passes_is_waited_for_and_the_session_goes_on() {
    for version in versions() {
        for effect in ["status = 529", "status = 500", "status = 429", "reset = 0", "reset = 3"] {
            for step in [1, 2] {
                // Twice: some requests the harness makes again by itself.
                let fault = format!("[[fault]]\nthread = \"main\"\nstep = {step}\ntimes = 3\n{effect}\n");
                let played = play(version, |builder| builder, &fault).await;
                let case = format!("{version}, {effect}, step {step}");
                assert!(played.outcome.ok(), "{case}: {:?}", played.outcome.failure);
                assert_eq!(played.outcome.text, "It is there.", "{case}");
                assert!(!waits(&played).is_empty(), "{case}");
                assert_eq!(played.outcome.sessions.len(), 1, "{case}: the same session goes on");
                assert_eq!(played.failed("Read"), [false], "{case}: nothing is done twice");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_does_not_pass_ends_the_step_with_its_cause() {
    for version in versions() {
        for (effect, expected) in [
            ("status = 401", "login or key"),
            ("status = 403", "login or key"),
            (
                "status = 400\nmessage = \"Your credit balance is too low to access the Anthropic API.\"",
                "cannot pay",
            ),
            ("status = 404", "model"),
        ] {
            let fault = format!("[[fault]]\nthread = \"main\"\nstep = 2\ntimes = 9\n{effect}\n");
            let played = play(version, |builder| builder, &fault).await;
            let failure = played.outcome.failure.clone().unwrap();
            assert!(failure.text.contains(expected), "{version}, {effect}: {failure}");
            assert!(waits(&played).is_empty(), "{version}, {effect}: {:?}", waits(&played));
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn patience_ends() {
    for version in versions() {
        let few = |builder: RuntimeBuilder| builder.resilience(quick().attempts(2));
        let fault = "[[fault]]\nthread = \"main\"\ntimes = 99\nstatus = 529\n";
        let played = play(version, few, fault).await;
        let failure = played.outcome.failure.clone().unwrap();
        assert!(failure.text.contains("still after 2 more attempts"), "{version}: {failure}");
        assert_eq!(waits(&played).len(), 2, "{version}");
        let short = |builder: RuntimeBuilder| {
            builder.budget_time(Duration::from_secs(5)).resilience(Resilience::default())
        };
        let played = play(version, short, fault).await;
        assert_eq!(played.outcome.failure.clone().unwrap().kind, FailureKind::Limit, "{version}");
    }
}
