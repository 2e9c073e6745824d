//! Failures that are not the run's own: what passes is waited for, what does not ends the step; both versions.

use std::num::NonZeroU64;
use std::time::Duration;

use flower::resilience::Resilience;
use flower::roles::{AgentSpec, agent, coordinator, worker};
use flower::runtime::{FailureKind, RunEvent, RuntimeBuilder, Start};
use flower_rehearsal::fault::{At, Effect, Fault};

use crate::played::{Place, Played, kill_harness, quick, versions};

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
    let played = stage.play(builder, &spec(), "Go.", Start::Fresh).await.unwrap();
    stage.rehearsal.shutdown().await;
    played
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_passes_is_waited_for_and_the_session_goes_on() {
    for version in versions() {
        for effect in ["status = 529", "status = 500", "status = 429", "reset = 0", "reset = 3", "cut = 3"] {
            for step in [1, 2] {
                // Twice: some requests the harness makes again by itself.
                let fault = format!("[[fault]]\nthread = \"main\"\nstep = {step}\ntimes = 3\n{effect}\n");
                let played = play(version, |builder| builder, &fault).await;
                let case = format!("{version}, {effect}, step {step}");
                assert!(played.outcome.ok(), "{case}: {:?}", played.outcome.failure);
                assert_eq!(played.outcome.text, "It is there.", "{case}");
                assert!(!played.waits().is_empty(), "{case}");
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
            assert!(played.waits().is_empty(), "{version}, {effect}: {:?}", played.waits());
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
        assert_eq!(played.waits().len(), 2, "{version}");
        let short = |builder: RuntimeBuilder| {
            builder.budget_time(Duration::from_secs(5)).resilience(Resilience::default())
        };
        let played = play(version, short, fault).await;
        assert_eq!(played.outcome.failure.clone().unwrap().kind, FailureKind::Limit, "{version}");
    }
}

/// A coordinator whose worker makes a file; `fault` breaks something.
fn delegating(fault: &str) -> String {
    format!(
        r#"
[[thread]]
name = "main"
match = {{ agent = "main" }}
[[thread.step]]
[[thread.step.call]]
tool = "Agent"
input = {{ subagent_type = "doer", description = "Do", prompt = "Make it." }}
[[thread.step]]
[[thread.step.call]]
tool = "Bash"
input = {{ command = "ls made", description = "d" }}
[[thread.step]]
text = "Done, as far as it goes."

[[thread]]
name = "worker"
match = {{ agent = "subagent" }}
[[thread.step]]
[[thread.step.call]]
tool = "Bash"
input = {{ command = "mkdir -p made && sleep 0.5; touch made/it", description = "d" }}
[[thread.step]]
text = "Conclusion: made."
{fault}
"#
    )
}

fn lead() -> AgentSpec {
    coordinator("lead", "", [("doer", worker("Does things.", "You do things."))])
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_befalls_a_worker_is_the_coordinators_to_decide() {
    for version in versions() {
        for effect in ["status = 529", "reset = 0", "cut = 3", "status = 400"] {
            for step in [1, 2] {
                let fault = format!("[[fault]]\nthread = \"worker\"\nstep = {step}\ntimes = 4\n{effect}\n");
                let place = Place::new();
                let stage = place.stage(&delegating(&fault)).await;
                let builder = place.builder(version).resilience(quick());
                let played = stage.play(builder, &lead(), "Go.", Start::Fresh).await.unwrap();
                stage.rehearsal.shutdown().await;
                let case = format!("{version}, {effect}, step {step}");
                assert!(played.outcome.ok(), "{case}: {:?}", played.outcome.failure);
                assert_eq!(played.outcome.text, "Done, as far as it goes.", "{case}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_harness_is_taken_up_where_it_was() {
    type Point = fn(&RunEvent) -> bool;
    let points: [(&str, Point); 5] = [
        ("at its beginning", |event| matches!(event, RunEvent::SessionStarted { .. })),
        ("when a worker is sent", |event| matches!(event, RunEvent::WorkerStarted { .. })),
        ("while a worker acts", |event| matches!(event, RunEvent::Called { worker: Some(_), .. })),
        ("when a worker is back", |event| matches!(event, RunEvent::WorkerEnded { .. })),
        (
            "while it looks itself",
            |event| matches!(event, RunEvent::Called { worker: None, tool, .. } if tool == "Bash"),
        ),
    ];
    for version in versions() {
        for (when, point) in points {
            let place = Place::new();
            // Whoever kills has time for it, however busy the machine is.
            let slow = "[[fault]]\nthread = \"main\"\nstep = 3\ntimes = 2\ndelay_ms = 3000\n";
            let stage = place.stage(&delegating(slow)).await;
            let builder =
                place.builder(version).resilience(quick()).env("ANTHROPIC_BASE_URL", stage.rehearsal.url());
            let runtime = builder.build().unwrap();
            let mut listener = runtime.events();
            let killing = async {
                while let Some(event) = listener.recv().await {
                    if point(&event) {
                        kill_harness(&place).await;
                        break;
                    }
                }
            };
            let spec = lead();
            let (played, ()) = tokio::join!(stage.step(&runtime, &spec, "Go.", Start::Fresh), killing);
            let played = played.unwrap();
            stage.close().await;
            assert!(played.outcome.ok(), "{version}, {when}: {:?}", played.outcome.failure);
            assert_eq!(played.waits(), ["harness_killed"], "{version}, {when}");
        }
    }
}

/// The API refuses the thinking of a history for good: once it is taken out, and the session goes on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn refused_thinking_is_taken_out_once() {
    const THINKS: &str = r#"
[[thread]]
name = "main"
match = { agent = "main" }
[[thread.step]]
thinking = "A note, so."
text = "I look."
[[thread.step.call]]
tool = "Read"
input = { file_path = "{{var:workspace}}/note.txt" }
[[thread.step]]
text = "It is there."
"#;
    for version in versions() {
        let place = Place::new();
        std::fs::write(place.workspace().join("note.txt"), "x\n").unwrap();
        let stage = place.stage(THINKS).await;
        let builder = place.builder(version).env("ANTHROPIC_BASE_URL", stage.rehearsal.url());
        let runtime = builder.build().unwrap();
        // 2.1.332 makes a refused request again by itself, so it is refused until the session is opened anew.
        let message = Some("messages.1.content.0: Invalid `signature` in `thinking` block".to_owned());
        stage.rehearsal.inject(Fault {
            at: At::Thread { name: "main".to_owned(), step: NonZeroU64::new(2) },
            times: None,
            effect: Effect::Status { status: 400, message, retry_after: None },
        });
        let mut listener = runtime.events();
        let mend = async {
            while let Some(event) = listener.recv().await {
                if matches!(event, RunEvent::Resumed { .. }) {
                    stage.rehearsal.clear_faults();
                    break;
                }
            }
        };
        let spec = spec();
        let (played, ()) = tokio::join!(stage.step(&runtime, &spec, "Go.", Start::Fresh), mend);
        let played = played.unwrap();
        assert!(played.outcome.ok(), "{version}: {:?}", played.outcome.failure);
        assert_eq!(played.outcome.text, "It is there.", "{version}");
        assert_eq!(played.outcome.rewritten.len(), 1, "{version}: once");
        assert!(played.outcome.rewritten[0].thinking_dropped > 0, "{version}");
        assert!(played.requests.first().is_some_and(|request| !request.contains("A note, so.")));
        assert!(played.requests.iter().any(|request| request.contains("A note, so.")), "{version}");
        assert!(!played.requests.last().unwrap().contains("A note, so."), "{version}");
    }
}

/// A budget ends whatever runs, a worker's call too; what was done until then is stored, and can be gone on with.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_budget_ends_a_worker_in_the_middle_of_its_call() {
    for version in versions() {
        let place = Place::new();
        let waits = delegating("").replace("sleep 0.5;", "sleep 600;");
        let stage = place.stage(&waits).await;
        let builder =
            || place.builder(version).resilience(quick()).env("ANTHROPIC_BASE_URL", stage.rehearsal.url());
        let runtime = builder().budget_time(Duration::from_secs(20)).build().unwrap();
        let played = stage.step(&runtime, &lead(), "Go.", Start::Fresh).await.unwrap();
        assert_eq!(played.outcome.failure.clone().unwrap().kind, FailureKind::Limit, "{version}");
        let [session] = played.outcome.sessions.as_slice() else { panic!("{version}: {:?}", played.outcome) };
        let runtime = builder().build().unwrap();
        let played = stage.step(&runtime, &lead(), "And now?", Start::Resume(session.clone())).await.unwrap();
        stage.close().await;
        assert!(played.outcome.ok(), "{version}: {:?}", played.outcome.failure);
        assert_eq!(played.outcome.text, "Done, as far as it goes.", "{version}");
    }
}
