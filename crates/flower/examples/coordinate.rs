//! A coordinator that delegates and decides: `cargo run -p flower --example coordinate`.
//!
//! The model is scripted, everything else is real: Claude Code, its tools, the files, the store.

#![expect(clippy::print_stdout, reason = "what an example prints is what it is for")]

#[path = "support/offline.rs"]
mod offline;

use std::error::Error;
use std::time::Duration;

use flower::handoff::Handoff;
use flower::resilience::Resilience;
use flower::roles::{coordinator, worker};
use flower::view::TrimPolicy;

const SCENARIO: &str = r#"
[[thread]]
name = "lead"
match = { agent = "main" }
[[thread.step]]
text = "Somebody has to count."
[[thread.step.call]]
id = "count"
tool = "Agent"
input = { subagent_type = "analyst", description = "Count lines", prompt = "Which file in data/ has the most lines?" }
[[thread.step]]
text = "The largest file is {{result:count | between \"Conclusion: \" \".\"}}."

[[thread]]
name = "analyst"
match = { agent = "subagent" }
[[thread.step]]
[[thread.step.call]]
id = "lines"
tool = "Bash"
input = { command = "cd data && wc -l *.txt | sort -rn | sed -n 2p", description = "Count lines" }
[[thread.step]]
text = "Conclusion: {{result:lines | field 2 | between \"\" \".txt\"}}. Evidence: {{result:lines | trim}} lines."
"#;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let offline = offline::Offline::playing(SCENARIO).await?;
    let analyst = worker(
        "Analyses files: counts, searches, compares. Send it work that must really read files and run commands.",
        "You analyse text. Use the command line; never estimate by hand.",
    )
    .tools(["Read", "Bash", "Glob", "Grep"]);
    let lead = coordinator("lead", "Goal: find out how large data/ is.", [("analyst", analyst)]);

    // Every setting here has a default; these are only named to be seen.
    let runtime = offline
        .builder()?
        .spill_threshold(4000)
        .ephemeral(6)
        .keep_denials(1)
        .trim(TrimPolicy { keep: 20, ..TrimPolicy::default() })
        .handoff(Handoff::default())
        .resilience(Resilience::default())
        .budget_usd(5.0)
        .budget_time(Duration::from_secs(600))
        .build()?;

    let outcome = runtime.run(&lead, "Which file in data/ is the largest?").await?;
    println!("{}", outcome.text);
    println!("{} turns, ${:.4}, session {}", outcome.turns, outcome.cost_usd, outcome.sessions.join(", "));
    if let Some(failure) = outcome.failure {
        return Err(failure.to_string().into());
    }
    Ok(())
}
