//! Is the endpoint reachable? A name lookup and a TCP connection that is closed again: nothing is sent, nothing costs.
//!
//! The one part of resilience that touches the network. How long to wait between probes is decided in [`super::backoff`].

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

/// A probe that has come back while somebody waits for an endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probed {
    /// Which one, from 1.
    pub number: u32,
    /// What it found.
    pub found: Probe,
}

/// Waits until the endpoint answers. Each probe is told when it has come back, before the pause behind it.
///
/// Where there is nothing to probe, or no probe has answered for [`Probing::blind_after`], the wait ends all the same: a
/// probe that looks in the wrong place must not hold up a run for ever.
///
/// It keeps nothing outside itself: dropping the future ends the wait. `sleep` is [`tokio::time::sleep`] or a stand-in;
/// `chance` gives numbers from 0 to 1.
pub async fn wait_for(
    reach: &Reach,
    probing: &Probing,
    sleep: impl AsyncFn(Duration),
    chance: impl FnMut() -> f64,
    tell: impl FnMut(Probed),
) {
    if let Reach::Probe(endpoint) = reach {
        wait_until(async || probe(endpoint, probing.limit).await, probing, sleep, chance, tell).await;
    }
}

async fn wait_until(
    probe: impl AsyncFn() -> Probe,
    probing: &Probing,
    sleep: impl AsyncFn(Duration),
    mut chance: impl FnMut() -> f64,
    mut tell: impl FnMut(Probed),
) {
    // What a probe itself takes is not counted: it is bounded, and the sum must not depend on a clock.
    let mut backoff = Backoff::new(probing.schedule());
    let mut number = 0u32;
    loop {
        let found = probe().await;
        number = number.saturating_add(1);
        let answers = found.answers();
        tell(Probed { number, found });
        if answers {
            return;
        }
        match backoff.next(chance(), None) {
            Next::Wait(time) => sleep(time).await,
            Next::OutOfPatience { .. } | Next::OutOfAttempts { .. } => return,
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

    /// A wait against probes that fail so many times: whether the last one was answered, and the waits before each probe.
    async fn played(failures: u32) -> (bool, Vec<u64>) {
        let left = Cell::new(failures);
        let slept = RefCell::new(Vec::new());
        let answered = Cell::new(false);
        let probe = async || match left.get() {
            0 => Probe::Answers(([127, 0, 0, 1], 1).into()),
            n => {
                left.set(n - 1);
                Probe::TooSlow
            }
        };
        let sleep = async |wait: Duration| slept.borrow_mut().push(wait.as_secs());
        let tell = |probed: Probed| answered.set(probed.found.answers());
        wait_until(probe, &probing(), sleep, || 1.0, tell).await;
        (answered.get(), slept.into_inner())
    }

    #[tokio::test]
    async fn a_wait_ends_with_the_first_answer() {
        assert_eq!(played(0).await, (true, vec![]));
        assert_eq!(played(3).await, (true, vec![1, 2, 4]));
    }

    #[tokio::test]
    async fn a_probe_that_never_answers_does_not_hold_up_for_ever() {
        assert_eq!(played(u32::MAX).await, (false, vec![1, 2, 4, 3]));
    }

    #[tokio::test]
    async fn what_cannot_be_probed_is_not_waited_for() {
        let reach = Reach::Blind(Blind::Missing("AWS_REGION"));
        let sleep = async |_| panic!("nothing to wait for");
        wait_for(&reach, &probing(), sleep, || 0.0, |probed| panic!("{probed:?}")).await;
    }

    #[tokio::test]
    async fn each_probe_is_told() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        drop(listener);
        // The first pause brings the listener back.
        let opened = RefCell::new(None);
        let sleep = async |time| {
            assert_eq!(time, Duration::from_secs(1));
            *opened.borrow_mut() = Some(tokio::net::TcpListener::bind(address).await.unwrap());
        };
        let mut told = Vec::new();
        wait_for(&Reach::Probe(at(address)), &probing(), sleep, || 1.0, |probed| told.push(probed)).await;
        assert!(
            matches!(
                told.as_slice(),
                [
                    Probed { number: 1, found: Probe::NoConnection(_) },
                    Probed { number: 2, found: Probe::Answers(found) },
                ] if *found == address
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
            |probed| probes.set(probed.number),
        );
        tokio::select! {
            biased;
            () = wait => panic!("it has ended"),
            () = async { while probes.get() == 0 { tokio::task::yield_now().await } } => {}
        }
        assert_eq!(probes.get(), 1);
    }
}
