//! A step that is played in a process of its own, so that it can be killed while it is at work.

use std::process::Stdio;
use std::str::FromStr;

use flower_context::fill;
use flower_rehearsal::scenario::run::Moment;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::Command;

use super::moment::{Happened, file_there};
use super::play::Play;
use crate::error::{CliError, Kind};
use crate::signals::{self, Ended};
use crate::stage::Show;

/// Which step another process plays: what `--part` says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Part {
    /// Where the scripted API listens.
    pub(super) url: String,
    /// The step, from 0.
    pub(super) step: usize,
    /// The session of the step before.
    pub(super) session: Option<String>,
    /// Of the rehearsal: artifacts lie in a directory named after it.
    pub(super) seed: u64,
}

impl FromStr for Part {
    type Err = serde_json::Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        serde_json::from_str(text)
    }
}

/// How a part ended.
pub(super) enum PartEnd {
    /// At its moment.
    Killed {
        /// The session that it worked on, if it had come so far.
        session: Option<String>,
    },
    /// By a signal to us.
    Stopped(Ended),
}

impl Play<'_> {
    /// Plays a step in a process of its own and kills it at the moment.
    pub(super) async fn play_and_kill(&self, part: &Part, moment: &Moment) -> Result<PartEnd, CliError> {
        let cannot = |error: std::io::Error| CliError::from_error(Kind::CannotStart, &error);
        let signal = signals::watch().map_err(cannot)?;
        let mut child = Command::new(std::env::current_exe().map_err(cannot)?)
            .args(["--lang", self.console.lang.tag(), "rehearse"])
            .args(&self.again)
            .arg("--part")
            .arg(serde_json::to_string(part).unwrap_or_default())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(cannot)?;
        let pid = child.id().unwrap_or_default();
        let Some(stdout) = child.stdout.take() else {
            return Err(CliError::new(Kind::CannotStart, "a pipe is missing"));
        };
        let mut lines = BufReader::new(stdout).lines();
        let mut session = part.session.clone();
        let there = file_there(moment, &self.workspace.path);
        tokio::pin!(there, signal);
        loop {
            let line = tokio::select! {
                biased;
                ended = &mut signal => {
                    child.kill().await.map_err(cannot)?;
                    return Ok(PartEnd::Stopped(ended));
                }
                () = &mut there => break,
                line = lines.next_line() => line.unwrap_or_default(),
            };
            let Some(line) = line else {
                let text = self.console.texts().rehearsal_not_killed;
                return Err(CliError::new(Kind::Failed, text).hint(self.console.texts().hint_moment));
            };
            if self.show == Show::Json {
                self.console.data(&line);
            }
            let told: Value = serde_json::from_str(&line).unwrap_or_default();
            if told["event"] == "session_started" {
                session = told["session"].as_str().map(str::to_owned);
            }
            if Happened::told(&told).is(moment) {
                break;
            }
        }
        child.kill().await.map_err(cannot)?;
        let line = fill(self.console.texts().rehearsal_killed, &[("pid", &pid.to_string())]);
        self.console.say(&line);
        if self.show == Show::Json {
            self.console.json(&serde_json::json!({ "event": "killed", "pid": pid, "session": session }));
        }
        Ok(PartEnd::Killed { session })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_one_argument() {
        let part =
            Part { url: "http://127.0.0.1:1".into(), step: 1, session: Some("s".into()), seed: u64::MAX };
        assert_eq!(serde_json::to_string(&part).unwrap().parse::<Part>().unwrap(), part);
        assert!("2".parse::<Part>().is_err());
    }
}
