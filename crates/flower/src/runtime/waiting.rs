//! A step between two attempts: it waits for the network and for time to pass, and hears what comes meanwhile.

use std::time::{Duration, Instant};

use tokio::sync::mpsc::UnboundedReceiver;

use super::event::RunEvent;
use super::outcome::{Failure, FailureKind};
use super::progress::Progress;
use super::{Inner, Settings};
use crate::resilience::{Cause, Probed, Reach, SettingsEnv, Streak, chance, wait_for};

/// What ended a wait.
pub(super) enum Waited {
    /// It is time for the next attempt.
    Enough,
    /// Somebody interrupts: this is to be said to the session.
    Said(String),
    /// The step has to end.
    End(Failure),
}

/// Which wait.
pub(super) struct Wait {
    pub(super) time: Duration,
    pub(super) attempt: u32,
    pub(super) probe: bool,
    pub(super) cause: Cause,
}

/// Waits until the network is there, where that can be told, and then as long as `wait` says.
pub(super) async fn wait(
    inner: &Inner,
    wait: Wait,
    interrupts: &mut UnboundedReceiver<String>,
    progress: &Progress,
    streak: &mut Streak,
) -> Waited {
    let Wait { time, attempt, probe, cause } = wait;
    inner.tell(&RunEvent::Waiting {
        cause: cause.word(),
        text: cause.text(inner.lang).to_owned(),
        seconds: time.as_secs_f64(),
        attempt,
    });
    let began = Instant::now();
    let mut stop = inner.stop.subscribe();
    let left = progress.time_left(inner);
    let enough = async {
        if probe {
            probe_until_there(inner).await;
        }
        tokio::time::sleep(time).await;
    };
    let waited = tokio::select! {
        biased;
        stopped = stop.wait_for(Option::is_some) => {
            let why = stopped.ok().and_then(|why| why.clone()).unwrap_or_default();
            Waited::End(Failure { kind: FailureKind::Stopped, text: why })
        }
        () = after(left) => match progress.over_budget(inner) {
            Some(failure) => Waited::End(failure),
            None => Waited::Enough,
        },
        Some(message) = interrupts.recv() => {
            inner.tell(&RunEvent::Interrupted { message: message.clone() });
            Waited::Said(message)
        }
        () = enough => Waited::Enough,
    };
    streak.also_waited(began.elapsed().saturating_sub(time));
    waited
}

/// Waits so long; for ever when there is no such time.
pub(super) async fn after(time: Option<Duration>) {
    match time {
        Some(time) => tokio::time::sleep(time).await,
        None => std::future::pending().await,
    }
}

/// Looks for the network with a connection that sends nothing.
async fn probe_until_there(inner: &Inner) {
    let settings = match inner.settings {
        Settings::AsUsual => SettingsEnv::read(&inner.config_dir, &inner.workspace),
        Settings::None => SettingsEnv::default(),
    };
    let variable = |name: &str| settings.get(name).map(str::to_owned).or_else(|| inner.harness_env(name));
    let reach = Reach::of(inner.harness.version.version(), variable);
    let endpoint = match &reach {
        Reach::Probe(endpoint) => endpoint.to_string(),
        Reach::Blind(_) => String::new(),
    };
    let tell = |Probed { number, found }| {
        inner.tell(&RunEvent::Probed { endpoint: endpoint.clone(), number, answers: found.answers() });
    };
    wait_for(&reach, &inner.resilience.probing, tokio::time::sleep, chance, tell).await;
}
