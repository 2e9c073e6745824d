//! The one place that writes to the harness: whole lines, in the order in which they were handed in.

use tokio::io::AsyncWriteExt;
use tokio::process::ChildStdin;
use tokio::sync::{mpsc, oneshot};

use crate::process::Leash;

/// Hands lines to the task that writes them.
#[derive(Debug, Clone)]
pub(super) struct Writer {
    orders: mpsc::UnboundedSender<Order>,
}

#[derive(Debug)]
enum Order {
    Line { text: String, written: Option<oneshot::Sender<()>> },
    Close,
}

/// The input is closed, or nobody reads it any more.
#[derive(Debug)]
pub(super) struct Closed;

impl Writer {
    /// Starts the task. It ends, and closes the pipe, when it is told to or when nobody reads the pipe any more.
    pub(super) fn start(stdin: ChildStdin, leash: Leash) -> Self {
        let (orders, receiver) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            write(stdin, receiver).await;
            leash.let_go_of_input();
        });
        Self { orders }
    }

    /// Hands in a line and does not wait. On a closed pipe it is dropped: answers may come too late.
    pub(super) fn post(&self, text: String) {
        let _ = self.orders.send(Order::Line { text, written: None });
    }

    /// Hands in a line and waits until it is written.
    pub(super) async fn write(&self, text: String) -> Result<(), Closed> {
        let (written, done) = oneshot::channel();
        self.orders.send(Order::Line { text, written: Some(written) }).map_err(|_| Closed)?;
        done.await.map_err(|_| Closed)
    }

    /// Closes the pipe behind the lines that were handed in before.
    pub(super) fn close(&self) {
        let _ = self.orders.send(Order::Close);
    }
}

async fn write(mut stdin: ChildStdin, mut orders: mpsc::UnboundedReceiver<Order>) {
    while let Some(Order::Line { mut text, written }) = orders.recv().await {
        text.push('\n');
        let sent = match stdin.write_all(text.as_bytes()).await {
            Ok(()) => stdin.flush().await,
            Err(error) => Err(error),
        };
        if sent.is_err() {
            // The harness is gone. Whoever waits learns it by the dropped channel.
            return;
        }
        if let Some(written) = written {
            let _ = written.send(());
        }
    }
}
