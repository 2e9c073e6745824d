//! The built-in rehearsals of handoffs, in both versions, one language each: what one session found out reaches the last.

use std::path::Path;

use flower::handoff::Handoff;
use flower::roles::{AgentSpec, coordinator, worker};
use flower::runtime::RunEvent;
use flower_claude::harness::Version;
use flower_context::Lang;
use flower_rehearsal::{BuiltIn, Scenario};

use crate::played::{Place, Played, versions};

/// Three files of ten bytes.
fn place() -> Place {
    let place = Place::new();
    std::fs::create_dir(place.workspace().join("data")).unwrap();
    for name in ["a.txt", "b.txt", "c.txt"] {
        std::fs::write(place.workspace().join("data").join(name), "ten bytes\n").unwrap();
    }
    place
}

fn lead() -> AgentSpec {
    let analyst =
        worker("Analyses files.", "You analyse files.").tools(["Read", "Write", "Bash", "Glob", "Grep"]);
    coordinator("lead", "", [("analyst", analyst)])
}

async fn play(place: &Place, version: Version, name: &str, lang: Lang, handoff: Handoff) -> Played {
    let built_in = BuiltIn::named(name).unwrap();
    let scenario = match lang {
        Lang::En => built_in.english(),
        Lang::Zh => built_in.chinese(),
    };
    let window = Scenario::parse(name, &scenario).unwrap().window;
    let builder = place.builder(version).lang(lang).handoff(Handoff { window, ..handoff });
    let played = place.play_with(builder, &lead(), &scenario).await.unwrap();
    assert!(played.outcome.ok(), "{version} {name}: {:?}", played.outcome.failure);
    played
}

/// Of each handoff: whether its document was degraded.
fn degraded(played: &Played) -> Vec<bool> {
    let told = played.events.iter().filter_map(|event| match event {
        RunEvent::HandedOver { degraded, .. } => Some(degraded.is_some()),
        _ => None,
    });
    told.collect()
}

fn files_in(directory: &Path) -> usize {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    entries.filter(|entry| entry.path().is_file()).count()
}

/// Each version with a language of its own: the two have nothing to do with each other, and a play takes a while.
fn plays() -> impl Iterator<Item = (Version, Lang)> {
    versions().zip([Lang::Zh, Lang::En])
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_number_is_carried_over_two_documents() {
    for (version, lang) in plays() {
        let place = place();
        let played = play(&place, version, "handoff", lang, Handoff::default()).await;
        let outcome = &played.outcome;
        assert_eq!(
            outcome.text.matches('3').count(),
            2,
            "{version}: counted and handed on: {}",
            outcome.text
        );
        assert_eq!(outcome.sessions.len(), 3, "{version}");
        assert_eq!(degraded(&played), [false, false], "{version}");
        let warned = played.events.iter().filter(|event| matches!(event, RunEvent::HandoffNear { .. }));
        assert_eq!(warned.count(), 2, "{version}: once in each session that filled up");
        let notes = place.workspace().join(".flower/notes");
        assert_eq!((files_in(&notes), files_in(&notes.join("archive"))), (1, 1), "{version}");
        assert_eq!(outcome.handoffs.len(), 2, "{version}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_step_goes_on_from_degraded_documents() {
    for (version, lang) in plays() {
        let place = place();
        let played = play(&place, version, "handoff-degraded", lang, Handoff::default()).await;
        assert!(played.outcome.text.contains('3'), "{version}: {}", played.outcome.text);
        assert_eq!(degraded(&played), [true, true], "{version}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_workers_said_survives_a_context_that_is_full_at_once() {
    for (version, lang) in plays() {
        let place = place();
        let played = play(&place, version, "overflow", lang, Handoff::default()).await;
        let text = &played.outcome.text;
        assert_eq!(text.matches("30").count(), 2, "{version}: looked at, and read in the document: {text}");
        assert_eq!(degraded(&played), [true], "{version}");
        assert_eq!(played.outcome.sessions.len(), 2, "{version}");
    }
}

/// The same play in one session: nothing in it needs a handoff but its length.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_handoff_one_session_plays_to_its_end() {
    for version in versions() {
        let played = play(&place(), version, "handoff", Lang::En, Handoff::off()).await;
        assert_eq!((played.outcome.sessions.len(), degraded(&played).len()), (1, 0), "{version}");
    }
}

/// The harness counts the newest answer too and refuses 23,000 tokens before its window is full; so one long answer can
/// lead from below the mark to where nothing can be asked any more.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_harness_that_refuses_before_any_mark_hands_over_at_once() {
    let scenario = r#"
[[thread]]
name = "second-session"
match = { agent = "main", prompt = "notes/handoff-1-" }
[[thread.step]]
text = "{{prompt | between \"> First\" \"line\"}}"

[[thread]]
name = "coordinator"
match = { agent = "main" }
[[thread.step]]
text = "{{filler:100000}}"
repeat = 3
[[thread.step.call]]
tool = "Bash"
input = { command = "ls data", description = "d" }
[[thread.step]]
text = "First it says: line {{filler:245000}}"
[[thread.step.call]]
tool = "Bash"
input = { command = "ls data", description = "d" }
[[thread.step]]
text = "This is never asked."
"#;
    for version in versions() {
        let place = place();
        // 200,000 tokens in both versions.
        let builder = place.builder(version).model("claude-haiku-4-5");
        let played = place.play_with(builder, &lead(), scenario).await.unwrap();
        assert_eq!(played.outcome.text, " it says: ", "{version}: {:?}", played.outcome.failure);
        assert_eq!(degraded(&played), [true], "{version}");
        assert!(!played.requests.iter().any(|request| request.contains("This is never asked.")), "{version}");
    }
}
