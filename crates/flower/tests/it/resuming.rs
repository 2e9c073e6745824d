//! A session that is opened again: read from the store, rewritten, in both versions.

use flower::roles::{AgentSpec, coordinator, worker};
use flower::runtime::{RunEvent, Start};
use flower_context::rewrite::Pass;

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
