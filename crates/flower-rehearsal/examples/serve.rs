//! Serves a scenario file until it is interrupted: `cargo run -p flower-rehearsal --example serve -- FILE [NAME=VALUE …]`.
//!
//! Without a file the default scenario answers. Prints the URL for `ANTHROPIC_BASE_URL`.

use flower_rehearsal::{Options, Rehearsal, Scenario, scenario};
use std::path::Path;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(serve())
}

#[expect(clippy::print_stdout, reason = "the URL is this program's output")]
async fn serve() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1).peekable();
    let file = arguments.next_if(|argument| !argument.contains('='));
    let variables = arguments.filter_map(|pair| own(pair.split_once('=')));
    let scenario = match file {
        Some(file) => Scenario::load(Path::new(&file))?,
        None => Scenario::parse("default.toml", scenario::DEFAULT)?,
    };
    let options = Options { variables: variables.collect(), ..Options::default() };
    let rehearsal = Rehearsal::start(scenario, options).await?;
    println!("{}", rehearsal.url());
    tokio::signal::ctrl_c().await?;
    println!("{}", serde_json::to_string_pretty(&rehearsal.shutdown().await)?);
    Ok(())
}

fn own(pair: Option<(&str, &str)>) -> Option<(String, String)> {
    pair.map(|(name, value)| (name.to_owned(), value.to_owned()))
}
