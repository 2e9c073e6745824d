//! A full context on the real harness: a document, and a session that goes on from it, in both versions.

use std::time::Duration;

use flower::handoff::Handoff;
use flower::roles::{AgentSpec, coordinator, worker};
use flower::runtime::{FailureKind, RunEvent, Start};

use crate::played::{Place, Played, kill_harness, versions};

fn lead() -> AgentSpec {
    coordinator("lead", "Goal: read.", [("doer", worker("Does things.", "You do things."))])
}

/// Files that fill a small window after a few looks.
fn place() -> Place {
    let place = Place::new();
    for name in ["a", "b", "c", "d"] {
        let text = format!("{name} is for reading\n").repeat(1500);
        std::fs::write(place.workspace().join(name), text).unwrap();
    }
    place
}

const READS: &str = r#"
[[thread]]
name = "successor"
match = { agent = "main", prompt = "the whole of a and b" }
[[thread.step]]
[[thread.step.call]]
tool = "Bash"
input = { command = "wc -l d", description = "d" }
[[thread.step]]
text = "All is read."

[[thread]]
name = "first"
match = { agent = "main" }
[[thread.step]]
[[thread.step.call]]
tool = "Bash"
input = { command = "cat a", description = "d" }
[[thread.step]]
[[thread.step.call]]
tool = "Bash"
input = { command = "cat b", description = "d" }
[[thread.step]]
[[thread.step.call]]
tool = "Bash"
input = { command = "cat c", description = "d" }
"#;

const DOCUMENT: &str = r#"
[[thread.step]]
text = """
## Doing
Reading the files: the whole of a and b is read.
## Decided
In the order of names, because it is the shortest.
## Dead ends
None.
## Next
Read d.
## Scene
a, b, c, d
"""
"#;

/// Hands over at 20,000 tokens.
fn small() -> Handoff {
    Handoff { window: Some(32_000), reserve: 12_000, ..Handoff::default() }
}

async fn play(version: flower_claude::harness::Version, document: &str) -> (Place, Played) {
    let place = place();
    let builder = place.builder(version).spill_threshold(None).handoff(small());
    let played = place.play_with(builder, &lead(), &format!("{READS}{document}")).await.unwrap();
    (place, played)
}

fn handed_over(played: &Played) -> Vec<(u32, Option<String>)> {
    let told = played.events.iter().filter_map(|event| match event {
        RunEvent::HandedOver { generation, degraded, .. } => Some((*generation, degraded.clone())),
        _ => None,
    });
    told.collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_session_leaves_a_document_and_another_goes_on() {
    for version in versions() {
        let (place, played) = play(version, DOCUMENT).await;
        assert!(played.outcome.ok(), "{version}: {:?}", played.outcome.failure);
        assert_eq!(played.outcome.text, "All is read.", "{version}");
        assert_eq!(played.outcome.sessions.len(), 2, "{version}");
        assert_eq!(handed_over(&played), [(2, None)], "{version}");
        let warned = played.events.iter().filter(|event| matches!(event, RunEvent::HandoffNear { .. }));
        // Once a session: the second one may begin with a long head.
        assert!((1..=2).contains(&warned.count()), "{version}");
        let [frozen] = played.outcome.handoffs.as_slice() else { panic!("{:?}", played.outcome.handoffs) };
        let frozen = &frozen.document;
        assert!(frozen.starts_with(place.workspace().join(".flower/notes")), "{version}");
        assert!(std::fs::read_to_string(frozen).unwrap().contains("because it is the shortest"), "{version}");
        let opening =
            played.requests.iter().find(|request| request.contains("All is") || request.contains("Read d."));
        assert!(
            opening.is_some_and(|request| request.contains("Go.")),
            "{version}: the prompt is still known"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_document_that_says_nothing_is_replaced_by_what_is_known() {
    for version in versions() {
        let (place, played) = play(
            version,
            "[[thread.step]]\ntext = \"I would rather go on reading: the whole of a and b.\"\n",
        )
        .await;
        assert_eq!(played.outcome.text, "All is read.", "{version}: {:?}", played.outcome.failure);
        let told = handed_over(&played);
        assert!(matches!(told.as_slice(), [(2, Some(_))]), "{version}: {told:?}");
        let frozen = std::fs::read_to_string(&played.outcome.handoffs[0].document).unwrap();
        assert!(frozen.contains("I would rather go on reading"), "{version}: what was written is kept");
        assert!(frozen.contains(place.workspace().to_str().unwrap()), "{version}: {frozen}");
    }
}

/// There is no room left for the document: that is what the reader is told, not in which words the API refused.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_that_is_too_full_to_write_is_told_as_full() {
    const DOCUMENT: &str = r#"
[[thread]]
name = "document"
match = { agent = "main", last = "so a new session takes over here" }
after_last = "repeat"
[[thread.step]]
text = "none"

[[thread]]
name = "first""#;
    const REFUSED: &str = r#"
[[fault]]
thread = "document"
status = 400
message = "prompt is too long: 250000 tokens > 200000 maximum"
times = 9
"#;
    let reads = READS
        .replace("the whole of a and b", "This document is degraded")
        .replace("\n[[thread]]\nname = \"first\"", DOCUMENT);
    for version in versions() {
        let place = place();
        let builder = place.builder(version).spill_threshold(None).handoff(small());
        let played = place.play_with(builder, &lead(), &format!("{reads}{REFUSED}")).await.unwrap();
        assert_eq!(played.outcome.text, "All is read.", "{version}: {:?}", played.outcome.failure);
        let [handoff] = &*played.outcome.handoffs else { panic!("{version}: {:?}", played.outcome.handoffs) };
        assert_eq!(handoff.generation, 1, "{version}");
        let full = "Its context was full, so it could not be asked any more.";
        assert_eq!(handoff.degraded.as_deref(), Some(full), "{version}");
    }
}

/// Every session is as full as the one before, and does nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_endless_loop_ends_with_its_cause() {
    for version in versions() {
        let place = place();
        let scenario = r#"
[[thread]]
name = "always"
match = { agent = "main" }
[[thread.step]]
[[thread.step.call]]
tool = "Bash"
input = { command = "cat a", description = "d" }
[[thread.step.call]]
tool = "Bash"
input = { command = "cat b", description = "d" }
[[thread.step]]
[[thread.step.call]]
tool = "Bash"
input = { command = "wc -l c", description = "d" }
[[thread.step]]
text = """
## Doing
Reading.
## Next
The same again.
"""
"#;
        let builder =
            place.builder(version).spill_threshold(None).handoff(Handoff { reserve: 20_000, ..small() });
        let played = place.play_with(builder, &lead(), scenario).await.unwrap();
        let failure = played.outcome.failure.unwrap();
        assert_eq!(failure.kind, FailureKind::ContextFull, "{version}: {failure}");
        assert!(played.outcome.sessions.len() <= 3, "{version}: {:?}", played.outcome.sessions);
        assert!(
            failure.text.contains("no progress") || failure.text.contains("fill the window"),
            "{version}: {failure}"
        );
    }
}

/// A document that `fault` keeps back, but for the times when it does not.
fn kept_back(fault: &str) -> String {
    let document = format!(
        r#"
[[thread]]
name = "document"
match = {{ agent = "main", last = "so a new session takes over here" }}
after_last = "repeat"
{DOCUMENT}
[[fault]]
thread = "document"
{fault}

[[thread]]
name = "first""#
    );
    READS.replace("\n[[thread]]\nname = \"first\"", &document)
}

/// The document is worth asking for again: only the session itself knows the reasons.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_document_that_something_passing_has_kept_back_is_asked_for_again() {
    for version in versions() {
        for (fault, cause) in [("stall = 0", "harness_killed"), ("status = 529\ntimes = 3", "overloaded")] {
            let place = place();
            let stage = place.stage(&kept_back(fault)).await;
            let builder = place.builder(version).spill_threshold(None).handoff(small());
            let killing = async {
                while stage.rehearsal.state().faults_played.is_empty() {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
                if cause == "harness_killed" {
                    kill_harness(&place).await;
                }
            };
            let spec = lead();
            let (played, ()) = tokio::join!(stage.play(builder, &spec, "Go.", Start::Fresh), killing);
            let played = played.unwrap();
            stage.close().await;
            let case = format!("{version}, {cause}");
            assert_eq!(played.outcome.text, "All is read.", "{case}: {:?}", played.outcome.failure);
            assert_eq!(handed_over(&played), [(2, None)], "{case}: the document is the session's own");
            assert!(!played.waits().is_empty(), "{case}");
            assert!(played.waits().iter().all(|waited| *waited == cause), "{case}: {:?}", played.waits());
        }
    }
}

/// What is said while a session writes its document is for the one that goes on from it, whatever keeps the document back.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_word_while_the_document_is_being_written_is_for_the_next_session() {
    for version in versions() {
        for fault in ["delay_ms = 3000", "status = 529\ntimes = 3"] {
            let place = place();
            let stage = place.stage(&kept_back(fault)).await;
            let builder = place.builder(version).env("ANTHROPIC_BASE_URL", stage.rehearsal.url());
            let runtime = builder.spill_threshold(None).handoff(small()).build().unwrap();
            let speaking = async {
                while stage.rehearsal.state().faults_played.is_empty() {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
                assert!(runtime.interrupt("Leave c."), "{version}");
            };
            let spec = lead();
            let (played, ()) = tokio::join!(stage.step(&runtime, &spec, "Go.", Start::Fresh), speaking);
            let played = played.unwrap();
            stage.close().await;
            let case = format!("{version}, {fault}");
            assert_eq!(played.outcome.text, "All is read.", "{case}: {:?}", played.outcome.failure);
            assert_eq!(handed_over(&played), [(2, None)], "{case}: the document is the session's own");
            let heard: Vec<_> =
                played.requests.iter().filter(|request| request.contains("Leave c.")).collect();
            assert!(!heard.is_empty(), "{case}");
            for request in heard {
                assert!(request.contains("the whole of a and b"), "{case}: only the next session hears it");
            }
        }
    }
}
