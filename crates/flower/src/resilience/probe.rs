//! Is the endpoint reachable? A name lookup and a TCP connection that is closed again: nothing is sent, nothing costs.
//!
//! The one part of resilience that touches the world. How long to wait between probes is decided in [`super::backoff`].

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::net::{TcpStream, lookup_host};
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::backoff::{Backoff, Next};
use super::endpoint::{Endpoint, Reach};
use super::settings::Probing;

/// What a probe found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Probe {
    /// Something accepts connections there.
    Answers(SocketAddr),
    /// The name cannot be looked up; the system's words.
    NoName(String),
    /// No address of it accepts a connection; the system's words on the last one.
    NoConnection(String),
    /// Nothing was known in time.
    TooSlow,
}

impl Probe {
    /// Something answers.
    pub fn answers(&self) -> bool {
        matches!(self, Self::Answers(_))
    }
}

/// Looks up the endpoint's name and connects to its addresses, all at once, `limit` for all of it: an address from which
/// nothing comes back must not hide one that answers.
pub async fn probe(endpoint: &Endpoint, limit: Duration) -> Probe {
    timeout(limit, reach(endpoint)).await.unwrap_or(Probe::TooSlow)
}

async fn reach(endpoint: &Endpoint) -> Probe {
    match lookup_host((endpoint.host.as_str(), endpoint.port)).await {
        Ok(addresses) => reach_any(addresses.take(MOST_ADDRESSES)).await,
        Err(error) => Probe::NoName(error.to_string()),
    }
}

/// Names of big services have some addresses of each kind; nobody needs more of them to say that one answers.
const MOST_ADDRESSES: usize = 16;

async fn reach_any(addresses: impl Iterator<Item = SocketAddr>) -> Probe {
    let mut tries: JoinSet<io::Result<SocketAddr>> =
        addresses.map(|address| async move { TcpStream::connect(address).await.map(|_| address) }).collect();
    let mut last = io::Error::from(io::ErrorKind::AddrNotAvailable);
    while let Some(tried) = tries.join_next().await {
        match tried.map_err(io::Error::other).flatten() {
            // What is dropped is tried no longer.
            Ok(address) => return Probe::Answers(address),
            Err(error) => last = error,
        }
    }
    Probe::NoConnection(last.to_string())
}

/// What happens while somebody waits for an endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Waiting {
    /// A probe has come back.
    Probed {
        /// Which one, from 1.
        number: u32,
        /// What it found.
        found: Probe,
        /// Waited before it, in sum.
        waited: Duration,
    },
    /// The next probe comes after a wait.
    Pausing {
        /// Waited so far.
        waited: Duration,
        /// The wait that begins now.
        next_in: Duration,
    },
}

/// How a wait ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrival {
    /// The endpoint answers.
    Reached {
        /// Waited in sum.
        waited: Duration,
    },
    /// There is nothing to probe, or no probe has answered for [`Probing::blind_after`]: try all the same. A probe that
    /// looks in the wrong place must not hold up a run for ever.
    Untold {
        /// Waited in sum.
        waited: Duration,
    },
}

impl Arrival {
    /// Waited in sum, for [`Backoff::also_waited`].
    pub fn waited(self) -> Duration {
        match self {
            Self::Reached { waited } | Self::Untold { waited } => waited,
        }
    }
}

/// Waits until the endpoint answers, or until `probing` says to try without. Every probe and every pause is told first.
///
/// It keeps nothing outside itself: dropping the future ends the wait. `sleep` is [`tokio::time::sleep`] or a stand-in;
/// `chance` gives numbers from 0 to 1.
pub async fn wait_for(
    reach: &Reach,
    probing: &Probing,
    sleep: impl AsyncFn(Duration),
    chance: impl FnMut() -> f64,
    tell: impl FnMut(Waiting),
) -> Arrival {
    match reach {
        Reach::Probe(endpoint) => {
            wait_until(async || probe(endpoint, probing.limit).await, probing, sleep, chance, tell).await
        }
        Reach::Blind(_) => Arrival::Untold { waited: Duration::ZERO },
    }
}

async fn wait_until(
    probe: impl AsyncFn() -> Probe,
    probing: &Probing,
    sleep: impl AsyncFn(Duration),
    mut chance: impl FnMut() -> f64,
    mut tell: impl FnMut(Waiting),
) -> Arrival {
    let mut backoff = Backoff::new(probing.schedule());
    let mut number = 0u32;
    loop {
        let found = probe().await;
        number = number.saturating_add(1);
        let answers = found.answers();
        // What a probe itself took is not counted: it is bounded, and the sum must not depend on a clock.
        let waited = backoff.waited();
        tell(Waiting::Probed { number, found, waited });
        if answers {
            return Arrival::Reached { waited };
        }
        match backoff.next(chance(), None) {
            Next::Wait(next_in) => {
                tell(Waiting::Pausing { waited, next_in });
                sleep(next_in).await;
            }
            Next::OutOfPatience { .. } | Next::OutOfAttempts { .. } => return Arrival::Untold { waited },
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};

    use super::super::endpoint::{Blind, Hop};
    use super::*;

    fn probing() -> Probing {
        Probing {
            limit: Duration::from_secs(5),
            first: Duration::from_secs(1),
            longest: Duration::from_secs(4),
            blind_after: Duration::from_secs(10),
            jitter: 0.0,
        }
    }

    fn at(address: SocketAddr) -> Endpoint {
        Endpoint { host: address.ip().to_string(), port: address.port(), hop: Hop::Api }
    }

    /// A wait against probes that fail so many times: its end and the waits before each probe.
    async fn played(failures: u32) -> (Arrival, Vec<u64>) {
        let left = Cell::new(failures);
        let slept = RefCell::new(Vec::new());
        let probe = async || match left.get() {
            0 => Probe::Answers(([127, 0, 0, 1], 1).into()),
            n => {
                left.set(n - 1);
                Probe::TooSlow
            }
        };
        let sleep = async |wait: Duration| slept.borrow_mut().push(wait.as_secs());
        let arrival = wait_until(probe, &probing(), sleep, || 1.0, |_| {}).await;
        (arrival, slept.into_inner())
    }

    #[tokio::test]
    async fn a_wait_ends_with_the_first_answer() {
        let seconds = Duration::from_secs;
        assert_eq!(played(0).await, (Arrival::Reached { waited: Duration::ZERO }, vec![]));
        assert_eq!(played(3).await, (Arrival::Reached { waited: seconds(7) }, vec![1, 2, 4]));
    }

    #[tokio::test]
    async fn a_probe_that_never_answers_does_not_hold_up_for_ever() {
        let waited = Duration::from_secs(10);
        assert_eq!(played(u32::MAX).await, (Arrival::Untold { waited }, vec![1, 2, 4, 3]));
    }

    #[tokio::test]
    async fn what_cannot_be_probed_is_not_waited_for() {
        let reach = Reach::Blind(Blind::Missing("AWS_REGION"));
        let sleep = async |_| panic!("nothing to wait for");
        let arrival = wait_for(&reach, &probing(), sleep, || 0.0, |_| {}).await;
        assert_eq!(arrival, Arrival::Untold { waited: Duration::ZERO });
    }

    #[tokio::test]
    async fn probes_and_pauses_are_told() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        drop(listener);
        // The first pause brings the listener back.
        let opened = RefCell::new(None);
        let sleep = async |_| {
            *opened.borrow_mut() = Some(tokio::net::TcpListener::bind(address).await.unwrap());
        };
        let told = RefCell::new(Vec::new());
        let reach = Reach::Probe(at(address));
        let arrival =
            wait_for(&reach, &probing(), sleep, || 1.0, |event| told.borrow_mut().push(event)).await;
        let second = Duration::from_secs(1);
        assert_eq!(arrival, Arrival::Reached { waited: second });
        let told = told.into_inner();
        assert!(
            matches!(
                told.as_slice(),
                [
                    Waiting::Probed { number: 1, found: Probe::NoConnection(_), waited: Duration::ZERO },
                    Waiting::Pausing { waited: Duration::ZERO, next_in },
                    Waiting::Probed { number: 2, found: Probe::Answers(found), waited },
                ] if *next_in == second && *waited == second && *found == address
            ),
            "{told:?}"
        );
    }

    #[tokio::test]
    async fn a_probe_sends_nothing() {
        use tokio::io::AsyncReadExt as _;
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        assert_eq!(probe(&at(address), Duration::from_secs(5)).await, Probe::Answers(address));
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut sent = Vec::new();
        stream.read_to_end(&mut sent).await.unwrap();
        assert_eq!(sent, b"");
    }

    #[tokio::test]
    async fn one_address_that_answers_is_enough() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let here = listener.local_addr().unwrap();
        let closed = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let gone = closed.local_addr().unwrap();
        drop(closed);
        for addresses in [vec![here, gone], vec![gone, here], vec![gone, gone, here]] {
            assert_eq!(reach_any(addresses.into_iter()).await, Probe::Answers(here));
        }
        for addresses in [vec![], vec![gone]] {
            assert!(matches!(reach_any(addresses.into_iter()).await, Probe::NoConnection(_)));
        }
    }

    #[tokio::test]
    async fn names_without_an_address_are_told_apart() {
        let endpoint = Endpoint { host: "no-such-host.invalid".into(), port: 443, hop: Hop::Api };
        let found = probe(&endpoint, Duration::from_secs(30)).await;
        assert!(matches!(found, Probe::NoName(_)), "{found:?}");
    }

    #[tokio::test]
    async fn a_wait_that_is_dropped_is_over() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        drop(listener);
        let reach = Reach::Probe(at(address));
        let probes = Cell::new(0);
        let probing = probing();
        let wait = wait_for(
            &reach,
            &probing,
            async |_| std::future::pending().await,
            || 1.0,
            |event| probes.set(probes.get() + u32::from(matches!(event, Waiting::Probed { .. }))),
        );
        tokio::select! {
            biased;
            arrival = wait => panic!("{arrival:?}"),
            () = async { while probes.get() == 0 { tokio::task::yield_now().await } } => {}
        }
        assert_eq!(probes.get(), 1);
    }
}
