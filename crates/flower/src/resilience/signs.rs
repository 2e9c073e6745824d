//! The signs of a failure: what the harness says in fields, gathered while a turn runs. Pure.

use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::time::Duration;

use flower_claude::wire::{Assistant, Block, Message, MirrorFrame, Raw, SystemDetail, TurnResult};
use serde::Deserialize;

/// What is known of how a turn ended. Feed it every message with [`Signs::observe`]; a new turn clears it.
///
/// Only what the harness says itself is kept: its result, the synthetic messages that stand for an API failure, and its
/// announcements of retries. A model's own words never get in here, unless the harness gives them as the error text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Signs {
    /// The result's `subtype`; none if the turn had no result.
    pub subtype: Option<String>,
    /// The result says that the turn failed.
    pub is_error: bool,
    /// The result's `terminal_reason`.
    pub terminal_reason: Option<String>,
    /// The result's `stop_reason`.
    pub stop_reason: Option<String>,
    /// HTTP status of the failure.
    pub api_error_status: Option<u16>,
    /// The synthetic message's `error`: `rate_limit`, `server_error` and the like.
    pub error: Option<String>,
    /// `api_error`: a finer word of the same (2.1.332).
    pub api_error: Option<String>,
    /// `api_error_type`: the API's own error type (2.1.332).
    pub api_error_type: Option<String>,
    /// The transcript entry says that the same request would fail again (2.1.332).
    pub resend_cannot_cure: bool,
    /// What the harness said in words. Heeded only where fields say nothing.
    pub text: String,
    /// The wait before the harness's own last retry. It follows the server's `retry-after`, where there was one.
    pub last_retry_delay: Option<Duration>,
    /// What came from the harness so far.
    pub heard: Heard,
    /// The harness is gone or given up, and how.
    pub end: Option<End>,
}

/// What came from a harness so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Heard {
    /// Nothing since it was started.
    #[default]
    Nothing,
    /// Something, but no answer of the model on the main thread in this turn.
    Something,
    /// An answer of the model on the main thread in this turn.
    Answer,
}

/// How a harness ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// By itself, with this code.
    Exited(i32),
    /// By a signal, its own or one that it passed on.
    Signalled(i32),
    /// Its status could not be learnt.
    Gone,
    /// It was ended because nothing came from it any more.
    Silent,
}

impl End {
    /// Of a status. Codes over 128 are how the harness itself reports SIGTERM (143) and SIGHUP (129).
    pub fn of(status: Option<ExitStatus>) -> Self {
        let Some(status) = status else { return Self::Gone };
        match (status.code(), status.signal()) {
            (_, Some(signal)) => Self::Signalled(signal),
            (Some(code @ 129..=159), None) => Self::Signalled(code - 128),
            (Some(code), None) => Self::Exited(code),
            (None, None) => Self::Gone,
        }
    }
}

/// Fields that only synthetic messages have. The stream writes them with underscores, transcripts without.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Fields {
    #[serde(alias = "apiErrorStatus")]
    api_error_status: Option<u16>,
    #[serde(alias = "apiError")]
    api_error: Option<String>,
    #[serde(alias = "apiErrorType")]
    api_error_type: Option<String>,
    #[serde(alias = "resendCannotCure")]
    resend_cannot_cure: Option<bool>,
}

impl Signs {
    /// Takes the next message of the stream.
    pub fn observe(&mut self, message: &Message) {
        self.heard = self.heard.max(Heard::Something);
        match message {
            Message::System(system) => match &system.detail {
                SystemDetail::Init(_) => *self = Self { heard: Heard::Something, ..Self::default() },
                SystemDetail::ApiRetry(retry) => self.last_retry_delay = retry.delay(),
                _ => {}
            },
            Message::Assistant(line) if line.parent_tool_use_id.is_none() => self.observe_line(line),
            Message::Result(result) => self.observe_result(result),
            _ => {}
        }
    }

    fn observe_line(&mut self, line: &Assistant) {
        self.error.clone_from(&line.error);
        if line.error.is_none() {
            // The model answers again, so what failed before has passed.
            self.forget_failure();
            self.heard = Heard::Answer;
            return;
        }
        self.take_fields(&line.raw);
        self.text = line
            .message
            .content
            .iter()
            .filter_map(|block| match block {
                Block::Text(text) => Some(text.as_str()),
                _ => None,
            })
            .collect();
    }

    fn observe_result(&mut self, result: &TurnResult) {
        if result.says_nothing() && self.subtype.is_some() {
            return;
        }
        self.subtype = Some(result.subtype.clone());
        self.is_error = result.is_error;
        self.terminal_reason.clone_from(&result.terminal_reason);
        self.stop_reason.clone_from(&result.stop_reason);
        if !result.is_error {
            self.forget_failure();
            return;
        }
        self.take_fields(&result.raw);
        self.api_error_status = result.api_error_status.or(self.api_error_status);
        // `result` repeats the synthetic message. Without one it could be the model's last words.
        let synthetic = self.error.is_some() || self.api_error_status.is_some();
        let said = result.result.iter().filter(|_| synthetic).chain(&result.errors);
        let words = said.map(String::as_str).filter(|text| !text.is_empty()).collect::<Vec<_>>().join("; ");
        if !words.is_empty() {
            self.text = words;
        }
    }

    /// Takes mirrored transcript entries: some signs stand only there.
    pub fn mirrored(&mut self, frame: &MirrorFrame) {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Entry {
            #[serde(default)]
            is_api_error_message: bool,
            #[serde(default)]
            is_sidechain: bool,
        }
        for entry in &frame.entries {
            if may_tell_of_failure(entry)
                && entry.read::<Entry>().is_ok_and(|entry| entry.is_api_error_message && !entry.is_sidechain)
            {
                self.take_fields(entry);
            }
        }
    }

    /// Of a transcript entry that stands for a failed request.
    pub(super) fn of_entry(entry: &Raw, error: Option<String>, text: String) -> Self {
        let mut signs = Self {
            subtype: Some("success".to_owned()),
            is_error: true,
            heard: Heard::Something,
            error,
            text,
            ..Self::default()
        };
        signs.take_fields(entry);
        signs
    }

    /// The harness has ended.
    pub fn ended(&mut self, end: End) {
        self.end = Some(end);
    }

    fn take_fields(&mut self, raw: &Raw) {
        let Ok(fields) = raw.read::<Fields>() else { return };
        self.api_error_status = fields.api_error_status.or(self.api_error_status);
        self.api_error = fields.api_error.or(self.api_error.take());
        self.api_error_type = fields.api_error_type.or(self.api_error_type.take());
        self.resend_cannot_cure |= fields.resend_cannot_cure.unwrap_or(false);
    }

    fn forget_failure(&mut self) {
        self.error = None;
        self.api_error = None;
        self.api_error_type = None;
        self.api_error_status = None;
        self.resend_cannot_cure = false;
        self.last_retry_delay = None;
        self.text.clear();
    }
}

/// Whether a transcript entry is worth reading for signs of a failed request: nearly none is.
pub(super) fn may_tell_of_failure(entry: &Raw) -> bool {
    entry.as_str().contains("\"isApiErrorMessage\"")
}
