//! Whether the server can be reached: it can go away for a while, as a network does, and come back on the same port.
//!
//! While it is away its socket is bound and does not listen: the system refuses connections, and gives the port to nobody
//! who does not ask for this very one.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::net::{TcpListener, TcpSocket};
use tokio::sync::watch;

/// Asks the server to go and to come back.
#[derive(Debug)]
pub(super) struct Presence {
    wanted: watch::Sender<bool>,
    is: watch::Receiver<bool>,
    epoch: Arc<AtomicU64>,
}

/// The listener's side of it.
#[derive(Debug)]
pub(super) struct Attendance {
    wanted: watch::Receiver<bool>,
    is: watch::Sender<bool>,
    epoch: Arc<AtomicU64>,
}

/// The time between two absences, as a connection knows it.
#[derive(Debug)]
pub(super) struct Epoch {
    now: Arc<AtomicU64>,
    born: u64,
}

/// A socket in its two states, and between them.
pub(super) enum Socket {
    Listening(TcpListener),
    Refusing(TcpSocket),
    /// The one is closed and the other could not be opened yet.
    Nothing,
}

impl Presence {
    pub(super) fn new() -> (Self, Attendance) {
        let (wanted, wanted_receiver) = watch::channel(true);
        let (is, is_receiver) = watch::channel(true);
        let epoch = Arc::new(AtomicU64::new(0));
        (
            Self { wanted, is: is_receiver, epoch: Arc::clone(&epoch) },
            Attendance { wanted: wanted_receiver, is, epoch },
        )
    }

    /// Done when new connections are refused and old ones are broken.
    pub(super) async fn leave(&self) {
        self.epoch.fetch_add(1, Ordering::AcqRel);
        self.wanted.send_replace(false);
        self.until(false).await;
    }

    /// Done when connections are accepted again.
    pub(super) async fn come_back(&self) {
        self.wanted.send_replace(true);
        self.until(true).await;
    }

    async fn until(&self, present: bool) {
        // An error means that the listener is gone for good: nothing to wait for.
        let _ = self.is.clone().wait_for(|is| *is == present).await;
    }
}

impl Attendance {
    /// Makes the socket what it is asked to be.
    pub(super) fn follow(&mut self, socket: &mut Socket, address: SocketAddr) -> io::Result<()> {
        let present = *self.wanted.borrow_and_update();
        match (std::mem::replace(socket, Socket::Nothing), present) {
            (Socket::Listening(listener), true) => *socket = Socket::Listening(listener),
            (Socket::Refusing(bound), false) => *socket = Socket::Refusing(bound),
            (Socket::Refusing(bound), true) => *socket = Socket::Listening(bound.listen(BACKLOG)?),
            (Socket::Nothing, true) => *socket = Socket::Listening(bind(address)?.listen(BACKLOG)?),
            (Socket::Listening(listener), false) => {
                drop(listener);
                *socket = Socket::Refusing(bind(address)?);
            }
            (Socket::Nothing, false) => *socket = Socket::Refusing(bind(address)?),
        }
        self.is.send_replace(present);
        Ok(())
    }

    /// Something else is asked of the socket than before. Waits for ever when nobody can ask any more.
    pub(super) async fn changed(&mut self) {
        if self.wanted.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    /// For a connection that is accepted now.
    pub(super) fn epoch(&self) -> Epoch {
        Epoch { born: self.epoch.load(Ordering::Acquire), now: Arc::clone(&self.epoch) }
    }
}

impl Epoch {
    /// The server has been away since.
    pub(super) fn is_over(&self) -> bool {
        self.now.load(Ordering::Acquire) != self.born
    }
}

/// Connections that may wait to be accepted; what the standard library uses.
const BACKLOG: u32 = 128;

fn bind(address: SocketAddr) -> io::Result<TcpSocket> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // Connections of before may still be dying on this port.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    Ok(socket)
}
