//! Connections that a handler can break: the way a fault resets one is below HTTP.

use super::presence::{Attendance, Epoch, Socket};
use axum::extract::connect_info::Connected;
use axum::serve::{IncomingStream, Listener};
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};

/// Breaks the connection on which a request came.
#[derive(Debug, Clone, Default)]
pub(super) struct Handle(Arc<AtomicBool>);

impl Handle {
    /// From now on nothing more is written: the client sees a reset.
    pub(super) fn reset(&self) {
        self.0.store(true, Ordering::Release);
    }
}

impl Connected<IncomingStream<'_, Loopback>> for Handle {
    fn connect_info(stream: IncomingStream<'_, Loopback>) -> Self {
        stream.remote_addr().clone()
    }
}

/// Ends all connections at their next write: for answers that outlast a shutdown.
#[derive(Debug, Clone, Default)]
pub(super) struct Closing(Arc<AtomicBool>);

impl Closing {
    pub(super) fn close(&self) {
        self.0.store(true, Ordering::Release);
    }
}

/// A listener whose connections carry a [`Handle`], and that can be gone for a while.
pub(super) struct Loopback {
    socket: Socket,
    address: SocketAddr,
    attendance: Attendance,
    closing: Closing,
}

impl Loopback {
    pub(super) fn new(
        listener: TcpListener,
        address: SocketAddr,
        attendance: Attendance,
        closing: Closing,
    ) -> Self {
        Self { socket: Socket::Listening(listener), address, attendance, closing }
    }
}

/// Between two tries at something that the system refuses for now.
const AGAIN: Duration = Duration::from_millis(50);

impl Listener for Loopback {
    type Io = Connection;
    type Addr = Handle;

    async fn accept(&mut self) -> (Connection, Handle) {
        loop {
            // Out of descriptors, most likely: wait for one to come free.
            if self.attendance.follow(&mut self.socket, self.address).is_err() {
                tokio::time::sleep(AGAIN).await;
                continue;
            }
            let accepted = match &self.socket {
                Socket::Listening(listener) => {
                    tokio::select! {
                        accepted = listener.accept() => accepted,
                        () = self.attendance.changed() => continue,
                    }
                }
                Socket::Refusing(_) | Socket::Nothing => {
                    self.attendance.changed().await;
                    continue;
                }
            };
            let Ok((stream, _)) = accepted else {
                tokio::time::sleep(AGAIN).await;
                continue;
            };
            // Small events go out at once; without it the run is only slower.
            let _ = stream.set_nodelay(true);
            let handle = Handle::default();
            let connection = Connection {
                stream,
                handle: handle.clone(),
                closing: self.closing.clone(),
                epoch: self.attendance.epoch(),
            };
            return (connection, handle);
        }
    }

    fn local_addr(&self) -> io::Result<Handle> {
        Ok(Handle::default())
    }
}

/// A TCP stream that can be broken by its [`Handle`].
pub(super) struct Connection {
    stream: TcpStream,
    handle: Handle,
    closing: Closing,
    epoch: Epoch,
}

impl Connection {
    fn is_broken(&self) -> bool {
        self.handle.0.load(Ordering::Acquire) || self.epoch.is_over()
    }

    /// An error if the connection is to be broken: the server drops it then.
    fn check(&self) -> io::Result<()> {
        if self.is_broken() || self.closing.0.load(Ordering::Acquire) {
            Err(io::ErrorKind::ConnectionReset.into())
        } else {
            Ok(())
        }
    }
}

impl Drop for Connection {
    /// A broken connection says no farewell: without lingering, the kernel sends a reset.
    fn drop(&mut self) {
        if self.is_broken() {
            // If this fails the client sees an early end instead of a reset.
            let _ = self.stream.set_zero_linger();
        }
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        // What comes over a connection of before the server went is lost.
        if read.is_ready() && self.epoch.is_over() {
            return Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()));
        }
        read
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.check()?;
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.check()?;
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.check()?;
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.check()?;
        Pin::new(&mut self.stream).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}
