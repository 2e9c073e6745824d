//! A session that is opened again: read from the store, rewritten, in both versions.

use flower::roles::{AgentSpec, agent, coordinator, worker};
use flower::runtime::{RunEvent, SPILLS, Start};
use flower_context::rewrite::Pass;
use flower_store::{OpenOptions, ProjectPaths, SessionKey, SessionStore as _, SqliteStore};

use crate::played::{Place, Played, versions};

fn lead() -> AgentSpec {
    coordinator("lead", "Goal: look around.", [("doer", worker("Does things.", "You do things."))])
}

/// A coordinator that looks at eight files, tries two things that are not its own, and is asked twice more.
fn looks_around() -> String {
    let looks = (0..8).map(|number| format!("cat file-{number}.txt"));
    let commands = looks.chain(["touch first".to_owned(), "touch second".to_owned()]);
    let step = |command: String| {
        format!(
            "[[thread.step]]\n[[thread.step.call]]\ntool = \"Bash\"\ninput = {{ command = {command:?}, description = \"d\" }}\n"
        )
    };
    let mut scenario = "[[thread]]\nname = \"main\"\nmatch = { agent = \"main\" }\n".to_owned();
    scenario.extend(commands.map(step));
    scenario
        .extend(["Seen.", "Again.", "And again."].map(|text| format!("[[thread.step]]\ntext = {text:?}\n")));
    scenario
}

fn place_with_files() -> Place {
    let place = Place::new();
    for number in 0..8 {
        // What has gone stale is most of the history: to leave it out pays.
        let text = format!("this is file {number}\n").repeat(if number < 2 { 200 } else { 3 });
        std::fs::write(place.workspace().join(format!("file-{number}.txt")), text).unwrap();
    }
    place
}

fn rewritten(played: &Played) -> flower_context::rewrite::Report {
    let found = played.events.iter().find_map(|event| match event {
        RunEvent::Resumed { rewritten, .. } => Some(rewritten.clone()),
        _ => None,
    });
    found.expect("nothing was said of a view")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_resume_reads_a_smaller_history_and_the_next_one_the_same() {
    for version in versions() {
        let place = place_with_files();
        let stage = place.stage(&looks_around()).await;
        let builder = || place.builder(version);
        let first = stage.play(builder(), &lead(), "Look around.", Start::Fresh).await.unwrap();
        assert!(first.outcome.ok(), "{version}: {:?}", first.outcome.failure);
        assert_eq!(first.outcome.denials.len(), 2, "{version}");
        let session = first.outcome.sessions[0].clone();
        let resume = || Start::Resume(session.clone());

        let second = stage.play(builder(), &lead(), "Look again.", resume()).await.unwrap();
        assert_eq!(second.outcome.text, "Again.", "{version}: {:?}", second.outcome.failure);
        assert_eq!(second.outcome.sessions, std::slice::from_ref(&session), "{version}");
        let report = rewritten(&second);
        assert_eq!(report.made.get(&Pass::Expire), Some(&2), "{version}: {report:?}");
        assert_eq!(report.made.get(&Pass::PruneDenials), Some(&1), "{version}: {report:?}");
        let request = &second.requests[0];
        assert!(request.contains("`cat file-0.txt`"), "{version}: {request}");
        assert!(!request.contains("this is file 0"), "{version}");
        assert!(request.contains("this is file 2"), "{version}");
        assert!(!request.contains("touch first"), "{version}");
        assert!(request.contains("touch second"), "{version}");

        // Nothing pays a second time, so what was sent is sent again, and the cache has it.
        let third = stage.play(builder(), &lead(), "And once more.", resume()).await.unwrap();
        assert_eq!(third.outcome.text, "And again.", "{version}: {:?}", third.outcome.failure);
        assert!(rewritten(&third).made.is_empty(), "{version}: {:?}", rewritten(&third));
        let usage = usage_of_answer(&third);
        assert!(usage.cache_creation_input_tokens < 400, "{version}: {usage:?}");
        let before = usage_of_answer(&second);
        assert!(
            usage.cache_read_input_tokens
                >= before.cache_read_input_tokens + before.cache_creation_input_tokens,
            "{version}: {before:?}, then {usage:?}"
        );
        let views = place.workspace().join(".flower/runs/views");
        assert_eq!(std::fs::read_dir(views).unwrap().count(), 0, "{version}: a view is left behind");
        stage.close().await;
    }
}

fn usage_of_answer(played: &Played) -> flower_claude::wire::ModelUsage {
    let usage = played.outcome.model_usage.values().next();
    usage.expect("a model has answered").clone()
}

/// One long result, then an answer to each of three prompts.
const LONG_RESULT: &str = r#"
[[thread]]
name = "main"
match = { agent = "main" }
[[thread.step]]
[[thread.step.call]]
id = "long"
tool = "Bash"
input = { command = "seq -f 'line %06g of it' 600", description = "d" }
[[thread.step]]
text = "Seen."
[[thread.step]]
text = "Again."
[[thread.step]]
text = "And again."
[fallback]
text = "There is nothing more."
"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pointer_whose_file_is_gone_says_so_from_the_next_resume_on() {
    for version in versions() {
        let place = Place::new();
        let stage = place.stage(LONG_RESULT).await;
        let spec = agent("doer", "").tools(["Bash", "Read"]);
        let first = stage.play(place.builder(version), &spec, "Look.", Start::Fresh).await.unwrap();
        assert_eq!(first.outcome.spills.len(), 1, "{version}: {:?}", first.outcome.failure);
        let session = first.outcome.sessions[0].clone();
        let resume = || Start::Resume(session.clone());

        let second = stage.play(place.builder(version), &spec, "Look again.", resume()).await.unwrap();
        assert!(rewritten(&second).made.is_empty(), "{version}: the file is there");
        assert!(second.requests[0].contains("[spilled to "), "{version}");

        std::fs::remove_dir_all(place.workspace().join(".flower/spill")).unwrap();
        let third = stage.play(place.builder(version), &spec, "And once more.", resume()).await.unwrap();
        assert_eq!(third.outcome.text, "And again.", "{version}: {:?}", third.outcome.failure);
        assert_eq!(rewritten(&third).made.get(&Pass::Heal), Some(&1), "{version}");
        let request = &third.requests[0];
        assert!(request.contains("[no longer kept: "), "{version}: {request}");
        assert!(!request.contains("[spilled to "), "{version}: {request}");
        assert!(request.contains("line 000001 of it"), "{version}: what is shown stays");
        stage.close().await;
    }
}

/// The database of a place, and the main thread of a session in it.
fn stored(place: &Place, session: &str) -> (SqliteStore, SessionKey) {
    let paths = ProjectPaths::resolve(&place.config_dir(), &place.workspace()).unwrap();
    let db = place.workspace().join(".flower/runs/sessions.db");
    let store = SqliteStore::open(db, &OpenOptions::default()).unwrap().store;
    (store, SessionKey::main(paths.project_key(), session).unwrap())
}

/// 2.1.197 would forget the call and go on beside it; so the history is healed before any harness reads it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_was_cut_off_is_answered_before_the_harness_reads_it() {
    for version in versions() {
        let place = Place::new();
        let stage = place.stage(LONG_RESULT).await;
        let spec = agent("doer", "").tools(["Bash", "Read"]);
        let first = stage.play(place.builder(version), &spec, "Look.", Start::Fresh).await.unwrap();
        let session = first.outcome.sessions[0].clone();
        // As a kill leaves it: the message is a call and nothing else, and the last line of all.
        let (mut store, main) = stored(&place, &session);
        let lines: Vec<String> = store.load(&main).unwrap().into_iter().map(|entry| entry.text).collect();
        let call = lines.iter().position(|line| line.contains(r#""type":"tool_use""#)).unwrap();
        let cut: Vec<&str> = lines[..=call].iter().map(String::as_str).collect();
        store.delete(&main).unwrap();
        store.append(&main, &cut).unwrap();
        std::fs::remove_dir_all(place.config_dir().join("projects")).unwrap();

        let second = stage
            .play(place.builder(version), &spec, "Go on.", Start::Resume(session.clone()))
            .await
            .unwrap();
        assert!(second.outcome.ok(), "{version}: {:?}", second.outcome.failure);
        let request = &second.requests[0];
        assert!(request.contains("No result of this call was recorded"), "{version}: {request}");
        assert!(request.contains("seq -f"), "{version}: the call is there: {request}");
        // What came then hangs off what was there: nothing was forgotten on the way.
        let third =
            stage.play(place.builder(version), &spec, "Once more.", Start::Resume(session)).await.unwrap();
        assert!(third.outcome.ok(), "{version}: {:?}", third.outcome.failure);
        let request = &third.requests[0];
        for text in ["seq -f", "No result of this call was recorded", "Go on.", "Once more."] {
            assert!(request.contains(text), "{version}: {text}: {request}");
        }
        assert_eq!(rewritten(&third).made.get(&Pass::Heal), None, "{version}: healed once");
        stage.close().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_harness_did_not_let_be_replaced_is_trimmed_at_the_next_resume() {
    for version in versions() {
        let place = Place::new();
        let stage = place.stage(LONG_RESULT).await;
        let spec = agent("doer", "").tools(["Bash", "Read"]);
        let builder = || place.builder(version).spill_threshold(None);
        let first = stage.play(builder(), &spec, "Look.", Start::Fresh).await.unwrap();
        assert_eq!(first.outcome.text, "Seen.", "{version}: {:?}", first.outcome.failure);
        let session = first.outcome.sessions[0].clone();

        // As a refusal is kept: what the harness did not take.
        let (mut store, main) = stored(&place, &session);
        let called = first.events.iter().find_map(|event| match event {
            RunEvent::Called { call, .. } => Some(call),
            _ => None,
        });
        let refused = serde_json::json!({"type": "flower-spill", "call": called.unwrap(), "tool": "Bash",
            "files": [{"name": "0123456789abcdef.txt", "bytes": 9, "lines": 1}], "before": 9, "after": 1, "taken": false});
        store.append(&main.with_subpath(SPILLS).unwrap(), &[&refused.to_string()]).unwrap();

        let second = stage.play(builder(), &spec, "Look again.", Start::Resume(session)).await.unwrap();
        assert_eq!(second.outcome.text, "Again.", "{version}: {:?}", second.outcome.failure);
        let report = rewritten(&second);
        assert_eq!(report.made.get(&Pass::Trim), Some(&1), "{version}: {report:?}");
        let request = &second.requests[0];
        assert!(
            request.contains("[spilled to ") && !request.contains("line 000300 of it"),
            "{version}: {request}"
        );
        let spilled: Vec<_> = std::fs::read_dir(place.workspace().join(".flower/spill")).unwrap().collect();
        let [Ok(file)] = &spilled[..] else { panic!("{version}: {spilled:?}") };
        assert!(std::fs::read_to_string(file.path()).unwrap().contains("line 000300 of it"), "{version}");
        stage.close().await;
    }
}
