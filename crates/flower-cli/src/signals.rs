//! SIGINT, SIGTERM and SIGHUP: a run is told to stop, writes down what it did, and ends with the usual exit code.

use tokio::signal::unix::{SignalKind, signal};

/// A signal that ends a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    Hangup,
    Interrupt,
    Terminate,
}

impl Ended {
    /// 128 and the signal's number, as shells count.
    pub(crate) fn exit_code(self) -> u8 {
        match self {
            Self::Hangup => 129,
            Self::Interrupt => 130,
            Self::Terminate => 143,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Hangup => "SIGHUP",
            Self::Interrupt => "SIGINT",
            Self::Terminate => "SIGTERM",
        }
    }
}

/// Waits for the first of them. Call it before anything is started: from then on the default action is off.
pub(crate) fn watch() -> std::io::Result<impl Future<Output = Ended>> {
    let mut hangup = signal(SignalKind::hangup())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    Ok(async move {
        tokio::select! {
            _ = hangup.recv() => Ended::Hangup,
            _ = interrupt.recv() => Ended::Interrupt,
            _ = terminate.recv() => Ended::Terminate,
        }
    })
}
