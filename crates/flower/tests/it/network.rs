//! A network that is lost and comes back: the run waits, looks for it without sending anything, and goes on; both
//! versions.

use std::time::Duration;

use flower::resilience::Resilience;
use flower::roles::{AgentSpec, coordinator, worker};
use flower::runtime::{RunEvent, Start};

use crate::played::{Place, Played, quick, versions};

fn lead() -> AgentSpec {
    let analyst = worker("Counts.", "You count with commands.").tools(["Bash", "Read"]);
    coordinator("lead", "", [("analyst", analyst)])
}

/// A workspace with three files of 18 lines and 36 bytes together.
fn place() -> Place {
    let place = Place::new();
    let data = place.workspace().join("data");
    std::fs::create_dir(&data).unwrap();
    for (name, lines) in [("a", 5), ("b", 6), ("c", 7)] {
        std::fs::write(data.join(format!("{name}.txt")), "x\n".repeat(lines)).unwrap();
    }
    place
}

/// The commands that were run, in order.
fn commands(played: &Played) -> Vec<String> {
    let command = |event: &RunEvent| match event {
        RunEvent::Called { tool, input, .. } if tool == "Bash" => {
            Some(input.to_value()["command"].as_str()?.to_owned())
        }
        _ => None,
    };
    played.events.iter().filter_map(command).collect()
}

/// What each probe found, in order.
fn probes(played: &Played) -> Vec<bool> {
    let found = |event: &RunEvent| match event {
        RunEvent::Probed { answers, .. } => Some(*answers),
        _ => None,
    };
    played.events.iter().filter_map(found).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn four_losses_change_nothing_about_the_answer() {
    let scenario = include_str!("../../../flower-rehearsal/scenarios/network-loss.toml");
    for version in versions() {
        let place = place();
        let stage = place.stage(scenario).await;
        let builder = place.builder(version).resilience(quick());
        let played = stage.play(builder, &lead(), "Go.", Start::Fresh).await.unwrap();
        let state = stage.close().await;
        assert!(played.outcome.ok(), "{version}: {:?}", played.outcome.failure);
        assert_eq!(played.outcome.text, "data/ has 3 files with 18 lines and 36 bytes.", "{version}");
        assert_eq!(
            commands(&played),
            ["ls data | wc -l", "cat data/*.txt | wc -l", "cat data/*.txt | wc -c"],
            "{version}: nothing is done twice"
        );
        assert_eq!(played.waits(), ["connection", "connection", "connection", "overloaded"], "{version}");
        assert_eq!(probes(&played).iter().filter(|answers| **answers).count(), 3, "{version}");
        assert!(probes(&played).contains(&false), "{version}: it was looked for while it was gone");
        assert_eq!(state.faults_waiting, 0, "{version}: every fault was played");
        let sessions: std::collections::BTreeSet<_> = played.outcome.sessions.iter().collect();
        assert_eq!(sessions.len(), played.outcome.sessions.len(), "{version}: {:?}", played.outcome.sessions);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_that_lost_its_connection_is_sent_again() {
    let scenario = include_str!("../../../flower-rehearsal/scenarios/network-loss-worker.toml");
    for version in versions() {
        let place = place();
        let stage = place.stage(scenario).await;
        let builder = place.builder(version).resilience(quick());
        let played = stage.play(builder, &lead(), "Go.", Start::Fresh).await.unwrap();
        let state = stage.close().await;
        assert!(played.outcome.ok(), "{version}: {:?}", played.outcome.failure);
        let text = &played.outcome.text;
        assert!(text.ends_with("The second one counted: 18 lines."), "{version}: {text}");
        assert!(text.contains("API Error: "), "{version}: the first one brought the failure: {text}");
        assert_eq!(commands(&played), ["ls data", "cat data/*.txt | wc -l"], "{version}");
        assert_eq!(state.faults_waiting, 0, "{version}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_begins_when_the_network_comes() {
    let scenario = "[[thread]]\nname = \"main\"\n[[thread.step]]\ntext = \"Here I am.\"\n";
    for version in versions() {
        let place = place();
        let stage = place.stage(scenario).await;
        stage.rehearsal.go_away().await;
        let url = stage.rehearsal.url();
        let runtime =
            place.builder(version).resilience(quick()).env("ANTHROPIC_BASE_URL", url).build().unwrap();
        let mut listener = runtime.events();
        // Nobody comes before it was looked for.
        let coming = async {
            while let Some(event) = listener.recv().await {
                if matches!(event, RunEvent::Probed { answers: false, number: 3.., .. }) {
                    return stage.rehearsal.come_back().await;
                }
            }
        };
        let spec = lead();
        let (played, ()) = tokio::join!(stage.step(&runtime, &spec, "Go.", Start::Fresh), coming);
        let played = played.unwrap();
        stage.close().await;
        assert_eq!(played.outcome.text, "Here I am.", "{version}: {:?}", played.outcome.failure);
        assert_eq!(played.waits(), ["connection"], "{version}: one wait, however long");
        let probes = probes(&played);
        assert!(probes.len() > 3 && probes[..3] == [false; 3], "{version}: {probes:?}");
        assert_eq!(probes.last(), Some(&true), "{version}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_that_stalls_is_given_up_and_asked_for_again() {
    let fault = |effect: &str| {
        format!(
            r#"
[[thread]]
name = "main"
match = {{ agent = "main" }}
[[thread.step]]
[[thread.step.call]]
tool = "Bash"
input = {{ command = "cat data/*.txt | wc -l", description = "d" }}
[[thread.step]]
text = "There are some."
[[fault]]
thread = "main"
step = 2
{effect}
"#
        )
    };
    for version in versions() {
        for effect in ["stall = 0", "stall = 3"] {
            let place = place();
            let stage = place.stage(&fault(effect)).await;
            // On a busy machine a harness may not even have started by then; it is started again.
            let resilience = quick().silent_after(Duration::from_secs(8)).unknown_attempts(99);
            let resilience = Resilience { unknown_in_all: 99, ..resilience };
            let builder = place.builder(version).resilience(resilience);
            let played = stage.play(builder, &lead(), "Go.", Start::Fresh).await.unwrap();
            stage.close().await;
            let case = format!("{version}, {effect}");
            assert_eq!(played.outcome.text, "There are some.", "{case}: {:?}", played.outcome.failure);
            assert!(played.waits().contains(&"silent"), "{case}: {:?}", played.waits());
        }
    }
}
