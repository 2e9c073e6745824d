//! The server: the API's paths and the rehearsal's own, over a loopback socket.
//!
//! | path | is |
//! | --- | --- |
//! | `POST /v1/messages` | the API; `?beta=true` changes nothing |
//! | `POST /v1/messages/count_tokens` | the API |
//! | `GET`, `HEAD /` | an empty 200, so that probes do not fail |
//! | `GET /rehearsal/state` | what was served: [`State`] as JSON |
//! | `POST /rehearsal/clock` | `{"advance_seconds": N}` puts the clock forward |
//! | `POST /rehearsal/faults` | one fault or a list ([`crate::fault`]); `{"clear": true}` removes all |
//!
//! Everything else is 404 in the API's shape, a known path with another method 405.

mod answer;
mod connection;
mod log;
mod presence;
mod routes;
mod state;

pub use state::{Kept, State, ThreadState, Violation};

use crate::clock::Clock;
use crate::fault::Fault;
use crate::scenario::Scenario;
use crate::validate::ForeignThinking;
use connection::{Closing, Loopback};
use presence::Presence;
use state::Shared;
use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// How a server is set up.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where it listens; by default a free port on 127.0.0.1. Other than loopback addresses are refused.
    pub address: SocketAddr,
    /// Values for `{{var:NAME}}`. All that the scenario asks for must be here.
    pub variables: BTreeMap<String, String>,
    /// Keep every request with its body, for tests; it grows with the run. Off by default.
    pub keep_requests: bool,
    /// A file that gets one JSON line for each request (created for its owner only, credentials left out).
    pub log: Option<PathBuf>,
    /// What to do with thinking that some other server signed.
    pub foreign_thinking: ForeignThinking,
    /// The clock; by default one that runs with real time.
    pub clock: Clock,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            address: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            variables: BTreeMap::new(),
            keep_requests: false,
            log: None,
            foreign_thinking: ForeignThinking::default(),
            clock: Clock::running(),
        }
    }
}

/// Why a server cannot start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Only the loopback interface is allowed: the server answers anyone who can reach it.
    #[error("{0} is not a loopback address")]
    NotLoopback(SocketAddr),
    /// The socket cannot be opened.
    #[error("cannot listen on {address}")]
    Listen {
        /// The address asked for.
        address: SocketAddr,
        /// Why.
        source: std::io::Error,
    },
    /// The log cannot be opened.
    #[error("cannot write the request log {path}")]
    Log {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The scenario quotes variables that the host did not give.
    #[error("scenario {scenario:?} needs a value for {{{{var:{name}}}}}")]
    MissingVariable {
        /// The scenario's name.
        scenario: String,
        /// The variable.
        name: String,
    },
}

/// A running server. It stops listening when it is dropped or shut down.
#[derive(Debug)]
pub struct Rehearsal {
    address: SocketAddr,
    shared: Arc<Shared>,
    /// Dropped to stop: also when the whole is dropped.
    stop: watch::Sender<()>,
    closing: Closing,
    task: JoinHandle<()>,
}

/// How long answers in flight may take to end at shutdown.
const GRACE: Duration = Duration::from_secs(2);

impl Rehearsal {
    /// Starts a server that plays `scenario`. It is reachable when this returns.
    pub async fn start(scenario: Scenario, options: Options) -> Result<Self, Error> {
        if !options.address.ip().is_loopback() {
            return Err(Error::NotLoopback(options.address));
        }
        if let Some(name) =
            scenario.variables().into_iter().find(|name| !options.variables.contains_key(*name))
        {
            return Err(Error::MissingVariable { name: name.to_owned(), scenario: scenario.name });
        }
        let log = options
            .log
            .as_deref()
            .map(|path| log::Log::open(path).map_err(|source| Error::Log { path: path.to_owned(), source }))
            .transpose()?;
        let listen = |source| Error::Listen { address: options.address, source };
        let listener = TcpListener::bind(options.address).await.map_err(listen)?;
        let address = listener.local_addr().map_err(listen)?;
        let (stop, mut stopped) = watch::channel(());
        let (presence, attendance) = Presence::new();
        let shared = Arc::new(Shared::new(scenario, options, log, presence, stopped.clone()));
        let closing = Closing::default();
        let service =
            routes::router(Arc::clone(&shared)).into_make_service_with_connect_info::<connection::Handle>();
        let serve = axum::serve(Loopback::new(listener, address, attendance, closing.clone()), service)
            .with_graceful_shutdown(async move {
                // A dropped sender means the same as a sent one.
                let _ = stopped.changed().await;
            });
        let task = tokio::spawn(async move {
            // `axum::serve` never gives an error; it retries `accept`.
            let _ = serve.await;
        });
        Ok(Self { address, shared, stop, closing, task })
    }

    /// The base URL, for `ANTHROPIC_BASE_URL`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The address it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What was served so far.
    pub fn state(&self) -> State {
        self.shared.state()
    }

    /// The requests that were kept, oldest first ([`Options::keep_requests`]).
    pub fn requests(&self) -> Vec<Kept> {
        self.shared.kept()
    }

    /// The clock of the prompt cache.
    pub fn clock(&self) -> &Clock {
        self.shared.clock()
    }

    /// Adds a fault to those that are still to come.
    pub fn inject(&self, fault: Fault) {
        self.shared.inject(fault);
    }

    /// Takes back the faults that are still to come.
    pub fn clear_faults(&self) {
        self.shared.clear_faults();
    }

    /// Goes away: every connection is reset, new ones are refused, as when a network is lost. The port stays ours. Done
    /// when this returns.
    pub async fn go_away(&self) {
        self.shared.presence.leave().await;
    }

    /// Is there again, on the same port, after [`Rehearsal::go_away`]. Done when this returns.
    pub async fn come_back(&self) {
        self.shared.presence.come_back().await;
    }

    /// Stops listening, lets answers in flight end for a moment, and gives the final state.
    pub async fn shutdown(mut self) -> State {
        drop(self.stop);
        if tokio::time::timeout(GRACE, &mut self.task).await.is_err() {
            self.closing.close();
            self.task.abort();
        }
        self.shared.state()
    }
}
