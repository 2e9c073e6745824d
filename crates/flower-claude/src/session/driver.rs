//! The one reader of the harness's output, from the first byte to the end of the process.
//!
//! It waits for nothing but bytes: messages go into an unbounded queue, requests are answered by tasks of their own, so
//! neither a slow consumer nor a slow hook delays the next line.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{ChildStderr, ChildStdout};
use tokio::sync::watch;
use tokio::time::Instant;

use super::answers::Answers;
use super::event::{Dirt, Event, EventSender, Exit};
use super::requests::Requests;
use super::run::SharedTurns;
use super::writer::Writer;
use crate::lines::{Lines, Piece};
use crate::process::{Ending, Entry, Stopper, Tail};
use crate::wire::{Line, Message, SystemDetail, parse_line};

/// How long a pipe may stay open behind the end of the process: somebody may have inherited it.
const DRAIN: Duration = Duration::from_secs(2);

/// How long a process that has closed its output has to end by itself. Nothing can come from it any more.
const SILENT_GRACE: Duration = Duration::from_secs(10);

const CHUNK: usize = 64 * 1024;

pub(super) struct Driver {
    pub(super) answers: Answers,
    pub(super) requests: Arc<Requests>,
    pub(super) writer: Writer,
    pub(super) events: EventSender,
    pub(super) turns: SharedTurns,
    pub(super) entry: Option<Entry>,
    pub(super) stopper: Stopper,
    pub(super) exit: watch::Sender<Option<Exit>>,
}

impl Driver {
    /// Reads until the process has ended and its output is read, then says so.
    pub(super) async fn run(
        self,
        stdout: ChildStdout,
        stderr: ChildStderr,
        ending: impl Future<Output = Ending>,
        line_limit: usize,
    ) {
        let tail = Arc::new(Mutex::new(Tail::default()));
        let draining = tokio::spawn(drain(stderr, Arc::clone(&tail)));
        let mut ending = std::pin::pin!(ending);

        let known = self.read(stdout, ending.as_mut(), line_limit).await;
        self.requests.end();
        self.answers.cancel_all();
        self.writer.close();
        let ending = if let Some(known) = known {
            known
        } else {
            self.stopper.stop_after(SILENT_GRACE);
            ending.await
        };

        let stop = draining.abort_handle();
        if tokio::time::timeout(DRAIN, draining).await.is_err() {
            stop.abort();
        }
        let stderr_tail = tail.lock().unwrap_or_else(PoisonError::into_inner).text();
        let Ending { status, ended_by, leftovers } = ending;
        let exit = Exit { status, ended_by, leftovers, stderr_tail };
        self.exit.send_replace(Some(exit.clone()));
        self.events.send(Event::Ended(exit));
    }

    /// Reads to the end of the output. Returns the ending if the process ended before its output did.
    async fn read(
        &self,
        mut stdout: impl AsyncRead + Unpin,
        mut ending: impl Future<Output = Ending> + Unpin,
        line_limit: usize,
    ) -> Option<Ending> {
        let mut lines = Lines::new(line_limit);
        let mut chunk = vec![0; CHUNK];
        let mut known = None;
        let deadline = tokio::time::sleep(Duration::MAX);
        let mut deadline = std::pin::pin!(deadline);
        loop {
            tokio::select! {
                read = stdout.read(&mut chunk) => match read {
                    Ok(length) if length > 0 => {
                        lines.push(chunk.get(..length).unwrap_or_default(), |piece| self.take(&piece));
                    }
                    _ => break,
                },
                ended = &mut ending, if known.is_none() => {
                    known = Some(ended);
                    deadline.as_mut().reset(Instant::now() + DRAIN);
                }
                () = &mut deadline => break,
            }
        }
        lines.finish(|piece| self.take(&piece));
        known
    }

    fn take(&self, piece: &Piece<'_>) {
        let line = match piece {
            Piece::TooLong(bytes) => return self.events.send(Event::Dirt(Dirt::TooLong(*bytes))),
            Piece::Line(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) => parse_line(text),
                Err(_) => Line::Dirt(String::from_utf8_lossy(bytes).into_owned()),
            },
        };
        match line {
            Line::Message(message) => self.message(message),
            Line::Mirror(frame) => self.events.send(Event::Mirror(frame)),
            Line::Request { request_id, request } => self.answers.begin(request_id, request),
            Line::Response(answer) => self.requests.answered(answer.response),
            Line::Cancel(cancelled) => self.answers.cancel(&cancelled.request_id),
            Line::Dirt(text) => self.events.send(Event::Dirt(Dirt::NotAMessage(text))),
        }
    }

    fn message(&self, message: Message) {
        if let Message::System(system) = &message
            && let SystemDetail::Init(init) = &system.detail
            && let Some(entry) = self.entry.clone()
        {
            let session = init.session_id.clone();
            // A slow disk is no reason to stop reading. Without the note the record still has the process.
            tokio::task::spawn_blocking(move || entry.note_session(&session));
        }
        let over = self.turns.observe(&message);
        self.events.send(Event::Message(message));
        if over {
            self.events.send(Event::RunOver);
        }
    }
}

/// Reads stderr all the time: a full pipe would block the harness.
async fn drain(mut stderr: ChildStderr, tail: Arc<Mutex<Tail>>) {
    let mut chunk = vec![0; CHUNK];
    while let Ok(length @ 1..) = stderr.read(&mut chunk).await {
        tail.lock().unwrap_or_else(PoisonError::into_inner).push(chunk.get(..length).unwrap_or_default());
    }
}
