//! A run that is watched, interrupted and taken up again: `cargo run -p flower --example steer`.

#![expect(clippy::print_stdout, reason = "what an example prints is what it is for")]

#[path = "support/offline.rs"]
mod offline;

use std::error::Error;

use flower::roles::{coordinator, worker};
use flower::runtime::{RunEvent, Start};

const SCENARIO: &str = r#"
[[thread]]
name = "lead"
match = { agent = "main" }
[[thread.step]]
[[thread.step.call]]
tool = "Agent"
input = { subagent_type = "doer", description = "Wait", prompt = "Wait for an hour." }
[[thread.step]]
text = "Then I leave it."
[[thread.step]]
text = "You had asked for an hour, and then thought better of it."

[[thread]]
name = "doer"
match = { agent = "subagent" }
[[thread.step]]
[[thread.step.call]]
tool = "Bash"
input = { command = "for i in $(seq 3600); do sleep 1; done", description = "Wait" }
"#;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let offline = offline::Offline::playing(SCENARIO).await?;
    let lead = coordinator("lead", "", [("doer", worker("Does things.", "You do things."))]);
    let runtime = offline.builder()?.build()?;

    // Events can be followed from anywhere; so can a run be interrupted from anywhere.
    let mut events = runtime.events();
    let watcher = runtime.clone();
    tokio::spawn(async move {
        while let Some(event) = events.recv().await {
            match event {
                RunEvent::WorkerStarted { description, .. } => println!("a worker is out: {description}"),
                RunEvent::Called { tool, .. } if tool == "Bash" => {
                    println!("this takes too long");
                    watcher.interrupt("Do not wait, leave it.");
                }
                RunEvent::Interrupted { message } => println!("interrupted: {message}"),
                RunEvent::Resumed { rewritten, .. } => println!("taken up again: {:?}", rewritten.made),
                _ => {}
            }
        }
    });

    let first = runtime.run(&lead, "Wait for an hour.").await?;
    println!("{}", first.text);
    let session = first.sessions.last().cloned().ok_or("no session was begun")?;
    let second = runtime.step(&lead, "What was that about?", Start::Resume(session)).await?;
    println!("{}", second.text);
    match first.failure.or(second.failure) {
        Some(failure) => Err(failure.to_string().into()),
        None => Ok(()),
    }
}
