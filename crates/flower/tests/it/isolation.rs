//! A worker with a worktree of its own.

use flower::RunError;
use flower::roles::{AgentSpec, coordinator, worker};

use crate::played::{Place, make_repository, versions};

fn lead() -> AgentSpec {
    coordinator("lead", "", [("builder", worker("Builds.", "You build.").isolated())])
}

const BUILDS: &str = r#"
[[thread]]
name = "main"
match = { agent = "main" }
[[thread.step]]
[[thread.step.call]]
id = "send"
tool = "Agent"
input = { subagent_type = "builder", description = "Build", prompt = "Build it." }
[[thread.step]]
text = "Built."

[[thread]]
name = "builder"
match = { agent = "subagent" }
[[thread.step]]
[[thread.step.call]]
id = "where"
tool = "Bash"
input = { command = "touch built && git rev-parse --show-toplevel", description = "d" }
[[thread.step]]
text = "Conclusion: built."
"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_isolated_worker_changes_a_worktree_and_not_the_workspace() {
    for version in versions() {
        let place = Place::new();
        make_repository(&place.workspace());
        let builder = place.builder(version).workbench(place.root().join("bench"));
        let played = place.play_with(builder, &lead(), BUILDS).await.unwrap();
        assert!(played.outcome.ok(), "{version}: {:?}", played.outcome.failure);
        assert_eq!(played.failed("Bash"), [false], "{version}");
        assert!(!place.workspace().join("built").exists(), "{version}: not in the workspace itself");
        let worktrees = place.workspace().join(".claude/worktrees");
        let built =
            std::fs::read_dir(worktrees).unwrap().any(|entry| entry.unwrap().path().join("built").exists());
        assert!(built, "{version}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_isolation_needs_is_asked_for_before_anything_is_spent() {
    let version = versions().last().unwrap();
    let place = Place::new();
    let outside = || place.builder(version).workbench(place.root().join("bench"));
    let refused = place.play_with(outside(), &lead(), BUILDS).await;
    assert!(matches!(refused, Err(RunError::NoRepository { .. })));
    make_repository(&place.workspace());
    let refused = place.play_with(place.builder(version), &lead(), BUILDS).await;
    assert!(matches!(refused, Err(RunError::WorkbenchInside { .. })));
    assert!(place.play_with(outside(), &lead(), BUILDS).await.is_ok());
}
