//! Faults: answers that fail the way real ones do, at chosen places.
//!
//! Written in a scenario file as `[[fault]]` entries or sent as JSON to `POST /rehearsal/faults`; the fields are the
//! same. Where: `request = 3` (the third request to `/v1/messages`, from 1), `thread = "main"` with `step = 2` (that
//! thread's second answer; without `step` any of its answers), `rate = 0.1` with `seed = 7` (by chance, but the same
//! chance in every run), or nothing (any request). How often: `times`, by default once, for `rate` without end.
//! What: exactly one of
//!
//! | field | effect |
//! | --- | --- |
//! | `status = 529` | this status with the API's error body; `message` and `retry_after` (seconds) may be given |
//! | `reset = 0` | the connection is reset before the first byte, or after so many events of the stream |
//! | `cut = 4` | the stream ends in good order after so many events, its last ones missing |
//! | `stall = 4` | after so many events nothing more comes, and the connection stays open; 0 is no answer at all |
//! | `away_ms = 3000` | the server is gone for so long: this connection and all others are reset, new ones are refused |
//! | `delay_ms = 2000` | the answer starts late |
//! | `pace_ms = 50` | each event comes late |
//! | `window = 50000` | `prompt is too long` as if the model's window were so many tokens; a shorter prompt is not hit |

use crate::wire::{ErrorKind, Refusal};
use serde::Deserialize;
use std::num::NonZeroU64;
use std::time::Duration;

/// One fault: where, how often, what.
#[derive(Debug, Clone, PartialEq)]
pub struct Fault {
    /// Which answers it breaks.
    pub at: At,
    /// How many; `None` for all.
    pub times: Option<u64>,
    /// What it does to them.
    pub effect: Effect,
}

/// Which answers a fault breaks.
#[derive(Debug, Clone, PartialEq)]
pub enum At {
    /// Any.
    Anywhere,
    /// The n-th request to `/v1/messages`, from 1.
    Request(NonZeroU64),
    /// Answers of one thread.
    Thread {
        /// The thread's name.
        name: String,
        /// The answer in it, from 1; any without.
        step: Option<NonZeroU64>,
    },
    /// Each request with this probability, decided by the seed and the request's number.
    Rate {
        /// From 0 to 1.
        rate: f64,
        /// Another seed, other requests.
        seed: u64,
    },
}

/// What a fault does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// An error answer.
    Status {
        /// HTTP status.
        status: u16,
        /// Text of the error; the kind's usual text without.
        message: Option<String>,
        /// Seconds for the `retry-after` header.
        retry_after: Option<u64>,
    },
    /// The connection is reset after so many events; 0 is before the first byte.
    Reset {
        /// Events that still go out.
        after: usize,
    },
    /// The stream ends early but in good order.
    Cut {
        /// Events that still go out.
        after: usize,
    },
    /// The stream stops and stays open.
    Stall {
        /// Events that still go out.
        after: usize,
    },
    /// The server is gone for so long, for everybody.
    Away(Duration),
    /// The answer starts late.
    Delay(Duration),
    /// Each event comes late.
    Pace(Duration),
    /// The window is this small.
    Window(u64),
}

impl Effect {
    /// The field that asks for it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Status { .. } => "status",
            Self::Reset { .. } => "reset",
            Self::Cut { .. } => "cut",
            Self::Stall { .. } => "stall",
            Self::Away(_) => "away_ms",
            Self::Delay(_) => "delay_ms",
            Self::Pace(_) => "pace_ms",
            Self::Window(_) => "window",
        }
    }
}

/// A request as faults see it.
#[derive(Debug, Clone, Copy)]
pub struct Target<'a> {
    /// Its number among the requests to `/v1/messages`, from 1.
    pub request: u64,
    /// The thread that answers it.
    pub thread: &'a str,
    /// The answer's position in the thread, from 1.
    pub step: u64,
    /// Tokens of its prompt.
    pub tokens: u64,
}

/// A fault that makes no sense.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct FaultError(pub(crate) String);

impl Fault {
    /// Whether this fault hits a request, its count left aside.
    pub fn hits(&self, target: &Target<'_>) -> bool {
        let here = match &self.at {
            At::Anywhere => true,
            At::Request(number) => number.get() == target.request,
            At::Thread { name, step } => {
                name == target.thread && step.is_none_or(|step| step.get() == target.step)
            }
            At::Rate { rate, seed } => chance(*seed, target.request) < *rate,
        };
        here && !matches!(self.effect, Effect::Window(window) if target.tokens <= window)
    }
}

/// Takes the faults that hit a request: counts them down and removes those that are used up. At most one error or
/// break is taken, the first; delays and slow streams add to it.
pub fn take(faults: &mut Vec<Fault>, target: &Target<'_>) -> Vec<Effect> {
    let mut taken: Vec<Effect> = Vec::new();
    for fault in faults.iter_mut() {
        let slow = matches!(fault.effect, Effect::Delay(_) | Effect::Pace(_));
        let broken = taken.iter().any(|effect| !matches!(effect, Effect::Delay(_) | Effect::Pace(_)));
        if fault.times == Some(0) || (broken && !slow) || !fault.hits(target) {
            continue;
        }
        fault.times = fault.times.map(|times| times - 1);
        taken.push(fault.effect.clone());
    }
    faults.retain(|fault| fault.times != Some(0));
    taken
}

/// A number from 0 to 1 that depends on both inputs only (`SplitMix64`).
fn chance(seed: u64, request: u64) -> f64 {
    let mut bits = seed.wrapping_add(request.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^= bits >> 31;
    #[expect(clippy::cast_precision_loss, reason = "53 bits fit a float exactly")]
    let fraction = (bits >> 11) as f64 / (1u64 << 53) as f64;
    fraction
}

/// The error answer of a status fault.
pub(crate) fn refusal(status: u16, message: Option<&str>) -> Refusal {
    let kind = ErrorKind::of_status(status);
    let usual = match kind {
        ErrorKind::Overloaded => "Overloaded",
        ErrorKind::RateLimit => {
            "This request would exceed your account's rate limit. Please try again later."
        }
        ErrorKind::Authentication => "invalid x-api-key",
        ErrorKind::Billing => "Payment required",
        ErrorKind::RequestTooLarge => "Request exceeds the maximum size",
        ErrorKind::Api => "Internal server error",
        _ => "rehearsed fault",
    };
    Refusal::new(kind, message.unwrap_or(usual))
}

/// A fault as it is written in a scenario file or sent as JSON.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WrittenFault {
    request: Option<NonZeroU64>,
    thread: Option<String>,
    step: Option<NonZeroU64>,
    rate: Option<f64>,
    seed: Option<u64>,
    times: Option<NonZeroU64>,
    status: Option<u16>,
    message: Option<String>,
    retry_after: Option<u64>,
    reset: Option<usize>,
    cut: Option<usize>,
    stall: Option<usize>,
    away_ms: Option<u64>,
    delay_ms: Option<u64>,
    pace_ms: Option<u64>,
    window: Option<u64>,
}

impl TryFrom<WrittenFault> for Fault {
    type Error = FaultError;

    fn try_from(written: WrittenFault) -> Result<Self, FaultError> {
        let error = |text: &str| Err(FaultError(text.to_owned()));
        let at = match (written.request, written.thread, written.step, written.rate) {
            (None, None, None, None) => At::Anywhere,
            (Some(number), None, None, None) => At::Request(number),
            (None, Some(name), step, None) => At::Thread { name, step },
            (None, None, None, Some(rate)) if (0.0..=1.0).contains(&rate) => {
                At::Rate { rate, seed: written.seed.unwrap_or(0) }
            }
            (None, None, None, Some(_)) => return error("rate must be between 0 and 1"),
            (None, None, Some(_), None) => return error("step needs thread = \"NAME\" beside it"),
            _ => {
                return error(
                    "a fault has one place: request, thread (with step), rate, or none for any request",
                );
            }
        };
        let times = match at {
            At::Rate { .. } => written.times.map(NonZeroU64::get),
            _ => Some(written.times.map_or(1, NonZeroU64::get)),
        };
        if written.status.is_none() && (written.message.is_some() || written.retry_after.is_some()) {
            return error("message and retry_after belong to status");
        }
        let mut effects = [
            written.status.map(|status| Effect::Status {
                status,
                message: written.message,
                retry_after: written.retry_after,
            }),
            written.reset.map(|after| Effect::Reset { after }),
            written.cut.map(|after| Effect::Cut { after }),
            written.stall.map(|after| Effect::Stall { after }),
            written.away_ms.map(|ms| Effect::Away(Duration::from_millis(ms))),
            written.delay_ms.map(|ms| Effect::Delay(Duration::from_millis(ms))),
            written.pace_ms.map(|ms| Effect::Pace(Duration::from_millis(ms))),
            written.window.map(Effect::Window),
        ]
        .into_iter()
        .flatten();
        match (effects.next(), effects.next()) {
            (Some(Effect::Status { status, .. }), None) if !(400..600).contains(&status) => {
                error("status must be an error, 400 to 599")
            }
            (Some(effect), None) => Ok(Self { at, times, effect }),
            _ => error(
                "a fault does exactly one of: status, reset, cut, stall, away_ms, delay_ms, pace_ms, window",
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(value: serde_json::Value) -> Result<Fault, String> {
        let written: WrittenFault = serde_json::from_value(value).map_err(|error| error.to_string())?;
        Fault::try_from(written).map_err(|error| error.to_string())
    }

    fn target(request: u64) -> Target<'static> {
        Target { request, thread: "main", step: 2, tokens: 100 }
    }

    #[test]
    fn a_fault_has_one_place_and_one_effect() {
        for (value, expected) in [
            (json!({"status":529,"cut":1}), "exactly one of"),
            (json!({}), "exactly one of"),
            (json!({"status":200}), "400 to 599"),
            (json!({"step":1,"cut":1}), "step needs thread"),
            (json!({"rate":2.0,"cut":1}), "between 0 and 1"),
            (json!({"request":1,"thread":"a","cut":1}), "one place"),
            (json!({"cut":1,"message":"x"}), "belong to status"),
            (json!({"stauts":529}), "unknown field `stauts`"),
        ] {
            let error = read(value.clone()).unwrap_err();
            assert!(error.contains(expected), "{value}: {error}");
        }
    }

    #[test]
    fn a_fault_hits_its_place_as_often_as_it_says() {
        let hits = |value, requests: &[u64]| {
            let mut faults = vec![read(value).unwrap()];
            requests.iter().map(|number| take(&mut faults, &target(*number)).len()).collect::<Vec<_>>()
        };
        assert_eq!(hits(json!({"status":529}), &[1, 2]), [1, 0]);
        assert_eq!(hits(json!({"status":529,"times":2}), &[1, 2, 3]), [1, 1, 0]);
        assert_eq!(hits(json!({"status":529,"request":2}), &[1, 2, 3]), [0, 1, 0]);
        assert_eq!(hits(json!({"status":529,"thread":"main","step":2}), &[1]), [1]);
        assert_eq!(hits(json!({"status":529,"thread":"main","step":3}), &[1]), [0]);
        assert_eq!(hits(json!({"status":529,"thread":"other"}), &[1]), [0]);
        assert_eq!(hits(json!({"window":100}), &[1]), [0]);
        assert_eq!(hits(json!({"window":99}), &[1, 2]), [1, 0]);
    }

    #[test]
    fn a_rate_hits_the_same_requests_in_every_run() {
        let hit = |seed| {
            let mut faults = vec![read(json!({"status":529,"rate":0.3,"seed":seed})).unwrap()];
            (1..=1000).filter(|number| !take(&mut faults, &target(*number)).is_empty()).collect::<Vec<_>>()
        };
        assert_eq!(hit(1), hit(1));
        assert_ne!(hit(1), hit(2));
        assert!((200..400).contains(&hit(1).len()), "{}", hit(1).len());
    }

    #[test]
    fn one_error_and_all_delays_are_taken() {
        let mut faults: Vec<_> = [json!({"status":529}), json!({"status":500}), json!({"delay_ms":1})]
            .map(|value| read(value).unwrap())
            .into();
        let taken = take(&mut faults, &target(1));
        assert!(matches!(taken.as_slice(), [Effect::Status { status: 529, .. }, Effect::Delay(_)]));
        assert_eq!(faults.len(), 1, "the second error is still to come");
    }
}
