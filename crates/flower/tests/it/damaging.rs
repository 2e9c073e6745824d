//! Disks and databases that refuse: nothing is lost, and the run ends in success or in an error with a name.

use std::fs;

use flower::handoff::Handoff;
use flower::roles::{AgentSpec, agent};
use flower::runtime::{FailureKind, RunEvent, Start};
use flower_store::{OpenOptions, ProjectPaths, SessionKey, SessionStore as _, SqliteStore};

use crate::played::{Place, Played, versions};

const LOOKS: &str = r#"
[[thread]]
name = "main"
[[thread.step]]
[[thread.step.call]]
tool = "Bash"
input = { command = "cat long.txt", description = "d" }
[[thread.step]]
text = "Seen."
[[thread.step]]
text = "Still known."
[[thread.step]]
text = "Known again."
"#;

fn spec() -> AgentSpec {
    agent("reader", "").tools(["Read", "Bash(cat *)"])
}

fn place() -> Place {
    let place = Place::new();
    fs::write(place.workspace().join("long.txt"), "a long line of text\n".repeat(600)).unwrap();
    place
}

fn warned(played: &Played, words: &str) -> bool {
    played.events.iter().any(|event| matches!(event, RunEvent::Warning { text } if text.contains(words)))
}

/// What is done to the bytes of a database.
type Damage<'d> = &'d dyn Fn(Vec<u8>) -> Vec<u8>;

fn stored(place: &Place, session: &str) -> usize {
    let db = place.workspace().join(".flower/runs/sessions.db");
    let paths = ProjectPaths::resolve(&place.config_dir(), &place.workspace()).unwrap();
    let store = SqliteStore::open(db, &OpenOptions::default()).unwrap().store;
    store.load(&SessionKey::main(paths.project_key(), session).unwrap()).unwrap().len()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_locked_store_did_not_take_is_taken_later() {
    let version = versions().last().unwrap();
    let place = place();
    let stage = place.stage(LOOKS).await;
    // The store is there before it is locked.
    let runtime = place.builder(version).env("ANTHROPIC_BASE_URL", stage.rehearsal.url()).build().unwrap();
    let db = place.workspace().join(".flower/runs/sessions.db");
    let lock = rusqlite::Connection::open(&db).unwrap();
    lock.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let played = stage.step(&runtime, &spec(), "Go.", Start::Fresh).await.unwrap();
    assert!(played.outcome.ok(), "{:?}", played.outcome.failure);
    assert!(warned(&played, "not everything is in the store yet"), "{:?}", played.events);
    lock.execute_batch("COMMIT").unwrap();
    drop((lock, runtime));

    let session = played.outcome.sessions[0].clone();
    let again =
        stage.play(place.builder(version), &spec(), "And?", Start::Resume(session.clone())).await.unwrap();
    assert_eq!(again.outcome.text, "Still known.", "{:?}", again.outcome.failure);
    assert!(stored(&place, &session) > 4);
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_torn_store_is_set_aside_and_the_session_comes_from_the_harnesss_own_file() {
    let version = versions().last().unwrap();
    // Behind a sound header too: the page of the threads, the last one of the entries.
    let page = |mut bytes: Vec<u8>, page: usize| {
        bytes[page * 4096..][..4096].fill(0xff);
        bytes
    };
    let damages: [(&str, Damage<'_>); 3] = [
        ("cut", &|bytes| bytes[..bytes.len() / 2].to_vec()),
        ("threads", &|bytes| page(bytes, 1)),
        ("entries", &|bytes| page(bytes.clone(), bytes.len() / 4096 - 1)),
    ];
    for (damage, damaged) in damages {
        let place = place();
        let stage = place.stage(LOOKS).await;
        let first = stage.play(place.builder(version), &spec(), "Go.", Start::Fresh).await.unwrap();
        let session = first.outcome.sessions[0].clone();
        let before = stored(&place, &session);
        let db = place.workspace().join(".flower/runs/sessions.db");
        fs::write(&db, damaged(fs::read(&db).unwrap())).unwrap();
        let resume = Start::Resume(session.clone());
        let again = stage.play(place.builder(version), &spec(), "And?", resume).await.unwrap();
        assert_eq!(again.outcome.text, "Still known.", "{damage}: {:?}", again.outcome.failure);
        assert!(warned(&again, "was damaged"), "{damage}: {:?}", again.events);
        assert!(stored(&place, &session) > before, "{damage}: what is stored now is the whole session");
        stage.close().await;
    }
}

#[test]
fn a_manifest_that_cannot_be_written_is_an_error_before_anything_is_spent() {
    let place = place();
    let manifest = place.workspace().join(".flower/runs/manifest.jsonl");
    fs::create_dir_all(&manifest).unwrap();
    let error = place.builder(versions().last().unwrap()).build().unwrap_err().to_string();
    assert!(error.contains(manifest.to_str().unwrap()), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_view_that_cannot_be_written_is_an_error_before_anything_is_spent() {
    let version = versions().last().unwrap();
    let place = place();
    let stage = place.stage(LOOKS).await;
    let first = stage.play(place.builder(version), &spec(), "Go.", Start::Fresh).await.unwrap();
    let views = place.workspace().join(".flower/runs/views");
    fs::write(&views, "in the way").unwrap();
    let session = first.outcome.sessions[0].clone();
    let resume = || Start::Resume(session.clone());
    let before = stage.rehearsal.requests().len();
    let error =
        stage.play(place.builder(version), &spec(), "And?", resume()).await.err().unwrap().to_string();
    assert!(error.contains(views.to_str().unwrap()), "{error}");
    assert_eq!(stage.rehearsal.requests().len(), before);
    fs::remove_file(&views).unwrap();
    let again = stage.play(place.builder(version), &spec(), "And?", resume()).await.unwrap();
    assert_eq!(again.outcome.text, "Still known.", "{:?}", again.outcome.failure);
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_result_that_cannot_be_spilled_stays_as_it_is() {
    let version = versions().last().unwrap();
    let place = place();
    let stage = place.stage(LOOKS).await;
    let runtime = place.builder(version).env("ANTHROPIC_BASE_URL", stage.rehearsal.url()).build().unwrap();
    let spill = place.workspace().join(".flower/spill");
    fs::remove_dir_all(&spill).unwrap();
    fs::write(&spill, "in the way").unwrap();
    let played = stage.step(&runtime, &spec(), "Go.", Start::Fresh).await.unwrap();
    assert!(played.outcome.ok(), "{:?}", played.outcome.failure);
    assert!(played.events.iter().any(|event| matches!(event, RunEvent::SpillFailed { .. })));
    let whole = "a long line of text\\n".repeat(600);
    assert!(
        played.requests.last().unwrap().contains(whole.trim_end_matches("\\n")),
        "the model has all of it"
    );
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_handoff_that_cannot_be_frozen_ends_the_step_and_keeps_the_session() {
    let version = versions().last().unwrap();
    let place = place();
    let stage = place.stage(LOOKS).await;
    let first = stage.play(place.builder(version), &spec(), "Go.", Start::Fresh).await.unwrap();
    let session = first.outcome.sessions[0].clone();
    let entries = stored(&place, &session);
    let full = "[[fault]]\nstatus = 400\nmessage = \"prompt is too long: 250000 tokens > 200000 maximum\"\ntimes = 9\n";
    let full = place.stage(&format!("{LOOKS}{full}")).await;
    let builder = place.builder(version).handoff(Handoff::default());
    let runtime = builder.env("ANTHROPIC_BASE_URL", full.rehearsal.url()).build().unwrap();
    let notes = place.workspace().join(".flower/notes");
    fs::remove_dir_all(&notes).unwrap();
    fs::write(&notes, "in the way").unwrap();
    let played = full.step(&runtime, &spec(), "And?", Start::Resume(session.clone())).await.unwrap();
    let failure = played.outcome.failure.unwrap();
    assert_eq!(failure.kind, FailureKind::ContextFull, "{failure}");
    assert!(failure.text.contains("notes"), "{failure}");
    assert!(stored(&place, &session) > entries, "what came since is stored");
    full.rehearsal.shutdown().await;
    stage.close().await;
}
