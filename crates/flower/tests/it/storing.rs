//! What a run keeps, also when its store is in the way.

use flower::receipt::receipt;
use flower::roles::agent;
use flower::runtime::{RunEvent, Start};
use flower_store::{Manifest, ProjectPaths};

use crate::played::{Place, Played, versions};

const LOOKS: &str = r#"
[[thread]]
name = "main"
[[thread.step]]
[[thread.step.call]]
id = "deed"
tool = "Write"
input = { file_path = "{{var:workspace}}/made", content = "x" }
[[thread.step]]
text = "Refused."
"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_receipt_is_read_from_the_store_and_knows_denials_in_both_versions() {
    for version in versions() {
        let place = Place::new();
        let spec = agent("reader", "").tools(["Read", "Write(made-elsewhere)"]);
        let played = place.play(version, &spec.tools(["Read"]), LOOKS).await;
        assert!(played.outcome.ok(), "{version}: {:?}", played.outcome.failure);
        let runs = place.workspace().join(".flower/runs");
        let paths = ProjectPaths::resolve(&place.config_dir(), &place.workspace()).unwrap();
        let receipt = receipt(
            &Manifest::in_dir(&runs),
            &runs.join("sessions.db"),
            paths.project_key(),
            std::slice::from_ref(&played.outcome.run),
        )
        .unwrap();
        assert_eq!(receipt.sessions, played.outcome.sessions, "{version}");
        assert_eq!(receipt.figures.watermark, played.outcome.context_watermark, "{version}");
        assert_eq!(receipt.figures.main.turns, played.outcome.turns, "{version}");
        let denied: Vec<&str> = receipt.figures.denials.iter().map(|denial| denial.tool.as_str()).collect();
        // A tool that is not offered cannot be called at all: the harness says so, and that is no denial.
        assert_eq!(denied.len(), played.outcome.denials.len(), "{version}: {denied:?}");
        assert!(receipt.entries > 4, "{version}: {}", receipt.entries);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_damaged_store_is_set_aside_and_said() {
    let version = versions().last().unwrap();
    let place = Place::new();
    let runs = place.workspace().join(".flower/runs");
    std::fs::create_dir_all(&runs).unwrap();
    std::fs::write(runs.join("sessions.db"), vec![0_u8; 8192]).unwrap();
    let played = place.play(version, &agent("reader", "").tools(["Read"]), LOOKS).await;
    assert!(played.outcome.ok(), "{:?}", played.outcome.failure);
    let warned = played
        .events
        .iter()
        .any(|event| matches!(event, RunEvent::Warning { text } if text.contains("sessions.db")));
    assert!(warned, "{:?}", played.events);
    let kept = std::fs::read_dir(&runs).unwrap().any(|entry| {
        let path = entry.unwrap().path();
        path.file_name().unwrap() != "sessions.db"
            && std::fs::read(&path).is_ok_and(|bytes| bytes == vec![0_u8; 8192])
    });
    assert!(kept, "the damaged file is still there under another name");
}

/// A step that was killed has no line in the manifest; its session is resumed with what it was begun with all the same.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_session_was_used_with_is_known_without_a_manifest() {
    for version in versions() {
        let place = Place::new();
        let spec = agent("reader", "").tools(["Read", "Glob"]);
        let played = place.play(version, &spec, LOOKS).await;
        let session = &played.outcome.sessions[0];
        std::fs::remove_file(place.workspace().join(".flower/runs/manifest.jsonl")).unwrap();
        let runtime = place.builder(version).build().unwrap();
        let tools = runtime.tools_of(session).unwrap().unwrap();
        assert_eq!(tools, ["Read", "Glob"], "{version}");
        let stage = place.stage("[[thread]]\nname = \"main\"\n[fallback]\ntext = \"Again.\"\n").await;
        let builder = place.builder(version).env("ANTHROPIC_MODEL", "claude-haiku-4-5");
        let again = stage.play(builder, &spec, "And?", Start::Resume(session.clone())).await.unwrap();
        let model = |played: &Played| {
            let started = played.events.iter().find_map(|event| match event {
                RunEvent::SessionStarted { model, .. } => Some(model.clone()),
                _ => None,
            });
            started.unwrap()
        };
        assert_eq!(model(&again), model(&played), "{version}: the model that it was begun with is named");
    }
}
