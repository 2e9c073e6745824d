//! How a step goes on after an attempt. Pure: how the attempt ended, and what failed before, decide.

use std::time::Duration;

use flower_context::{Lang, fill};

use super::attempt::End;
use super::outcome::{Failure, FailureKind};
use super::progress::Progress;
use super::succession::Left;
use super::tally::TurnEnd;
use crate::handoff::Why;
use crate::resilience::{Cause, Class, GiveUp, Heard, Streak, Then, classify};
use crate::texts::texts;

/// Whether a step goes on.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Next {
    /// It has ended: well, when there is no failure.
    End(Option<Failure>),
    /// It goes on.
    GoOn(How),
}

/// How a step goes on.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum How {
    /// The same session goes on with what is still to be said to it.
    Hear,
    /// The same session goes on at once, without its thinking.
    Repair(Cause),
    /// The same session goes on after a wait.
    Retry { wait: Duration, attempt: u32, probe: bool, cause: Cause },
    /// Another session goes on.
    HandOver(Left),
}

/// Decides how a step goes on. `chance` is a number from 0 to 1; `handoff`: sessions hand over when they are full.
pub(super) fn next(
    end: &End,
    progress: &Progress,
    streak: &mut Streak,
    handoff: bool,
    lang: Lang,
    chance: f64,
) -> Next {
    match end {
        End::Interrupted => return Next::GoOn(How::Hear),
        End::HandOver(left) => return Next::GoOn(How::HandOver(left.clone())),
        // Somebody has decided that it ends.
        End::Failed(failure) if is_final(failure.kind) => return Next::End(Some(failure.clone())),
        End::Over | End::Failed(_) => {}
    }
    let said = said(end, progress.tally.last.as_ref(), lang);
    let Some(class) = classify(&progress.signs) else {
        // No turn has failed: what went wrong went wrong with the harness.
        return Next::End(said.map(|text| Failure { kind: FailureKind::Harness, text }));
    };
    if progress.signs.heard == Heard::Answer {
        streak.progressed();
    }
    let failure = Failure { kind: FailureKind::of(class.cause()), text: said.unwrap_or_default() };
    let how = match streak.failed(class, progress.signs.last_retry_delay, chance) {
        Then::Retry { wait, attempt, probe } => How::Retry { wait, attempt, probe, cause: class.cause() },
        Then::Repair => How::Repair(class.cause()),
        Then::Handoff if handoff => How::HandOver(Left::Nothing(match class {
            Class::ContextFull(_) => Why::Full,
            class => Why::Failed(class.cause().text(lang).to_owned()),
        })),
        // Whoever interrupts says so; this was the harness's or a hook's own doing.
        Then::Handoff | Then::Interrupted => return Next::End(Some(failure)),
        Then::GiveUp(why) => return Next::End(Some(given_up(&failure, class.cause(), why, lang))),
    };
    Next::GoOn(how)
}

/// What is said to a session that goes on after a failure.
pub(super) fn go_on(cause: Cause, lang: Lang) -> String {
    fill(texts(lang).go_on, &[("cause", cause.text(lang))])
}

fn is_final(kind: FailureKind) -> bool {
    matches!(kind, FailureKind::Stopped | FailureKind::Budget | FailureKind::Limit)
}

/// What was said of why the attempt failed, if it has.
fn said(end: &End, last: Option<&TurnEnd>, lang: Lang) -> Option<String> {
    match (end, last) {
        (End::Failed(Failure { text, .. }), _) | (_, Some(TurnEnd::Failed(text))) => Some(text.clone()),
        (_, Some(TurnEnd::Answered(_))) => None,
        (_, Some(TurnEnd::Cut) | None) => Some(texts(lang).no_turn.to_owned()),
    }
}

/// The failure in the words of whoever has to do something about it: the cause, what was said, how often it was tried.
fn given_up(failure: &Failure, cause: Cause, why: GiveUp, lang: Lang) -> Failure {
    let texts = texts(lang);
    let tried = match why {
        // Without another attempt there is nothing to tell.
        GiveUp::Fatal | GiveUp::OutOfAttempts { attempts: 0 } => String::new(),
        GiveUp::OutOfPatience { waited } => {
            fill(texts.out_of_patience, &[("minutes", &(waited.as_secs() / 60).to_string())])
        }
        GiveUp::OutOfAttempts { attempts } => {
            fill(texts.out_of_attempts, &[("attempts", &attempts.to_string())])
        }
    };
    let said = match failure.text.trim() {
        "" => String::new(),
        text => format!(": {text}"),
    };
    Failure { kind: failure.kind, text: format!("{}{tried}{said}", cause.text(lang)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resilience::{Resilience, Signs};

    fn failed(kind: FailureKind, text: &str) -> Failure {
        Failure { kind, text: text.to_owned() }
    }

    fn signs(error: &str, status: Option<u16>) -> Signs {
        Signs {
            subtype: Some("success".to_owned()),
            is_error: true,
            error: Some(error.to_owned()),
            api_error_status: status,
            heard: Heard::Something,
            ..Signs::default()
        }
    }

    fn check(end: &End, last: Option<TurnEnd>, signs: Signs, expected: &str) {
        let mut progress = Progress::default();
        progress.tally.last = last;
        progress.signs = signs;
        let mut streak = Streak::new(&Resilience::default().jitter(0.0));
        let next = next(end, &progress, &mut streak, true, Lang::En, 0.5);
        let found = match next {
            Next::End(None) => "success".to_owned(),
            Next::End(Some(failure)) => failure.to_string(),
            Next::GoOn(How::Hear) => "hear".to_owned(),
            Next::GoOn(How::Repair(cause)) => format!("repair: {}", cause.word()),
            Next::GoOn(How::Retry { attempt, cause, .. }) => format!("retry {attempt}: {}", cause.word()),
            Next::GoOn(How::HandOver(left)) => format!("{left:?}"),
        };
        assert!(found.contains(expected), "{found}\nis not\n{expected}");
    }

    #[test]
    fn a_step_goes_on_after_what_passes_and_ends_after_what_does_not() {
        let over = &End::Over;
        let api = |text: &str| Some(TurnEnd::Failed(text.to_owned()));
        let fine = Signs { subtype: Some("success".to_owned()), heard: Heard::Something, ..Signs::default() };
        check(over, Some(TurnEnd::Answered("42".to_owned())), fine.clone(), "success");
        check(over, api("API Error: 529"), signs("server_error", Some(529)), "retry 1: ");
        check(
            over,
            api("Credit balance is too low"),
            signs("billing_error", Some(400)),
            "the account cannot pay for this: Credit balance is too low (api)",
        );
        let full =
            Signs { terminal_reason: Some("blocking_limit".to_owned()), ..signs("invalid_request", None) };
        check(over, api("Prompt is too long"), full, "Nothing(Full)");
        check(&End::Interrupted, None, Signs::default(), "hear");
        check(&End::HandOver(Left::Written("x".to_owned())), None, Signs::default(), "Written(\"x\")");
        for kind in [FailureKind::Stopped, FailureKind::Budget, FailureKind::Limit] {
            check(&End::Failed(failed(kind, "enough")), None, Signs::default(), "enough");
        }
        let crashed = End::Failed(failed(FailureKind::Harness, "it ended"));
        check(
            &crashed,
            None,
            Signs { heard: Heard::Something, ..Signs::default() },
            "retry 1: harness_crashed",
        );
    }

    #[test]
    fn the_kind_of_a_failure_follows_from_what_is_done_about_it() {
        let check = |subtype: &str, reason: Option<&str>, status: Option<u16>, kind: FailureKind| {
            let mut progress = Progress::default();
            progress.tally.last = Some(TurnEnd::Failed("it failed".to_owned()));
            progress.signs = Signs {
                subtype: Some(subtype.to_owned()),
                is_error: true,
                terminal_reason: reason.map(str::to_owned),
                api_error_status: status,
                heard: Heard::Something,
                ..Signs::default()
            };
            // Without another attempt and without a handoff each of them ends the step.
            let mut streak = Streak::new(&Resilience::off());
            let next = next(&End::Over, &progress, &mut streak, false, Lang::En, 0.5);
            let Next::End(Some(failure)) = next else { panic!("{subtype} {reason:?}: {next:?}") };
            assert_eq!(failure.kind, kind, "{subtype} {reason:?} {status:?}: {failure}");
        };
        check("success", Some("api_error"), Some(529), FailureKind::Api);
        check("success", None, Some(401), FailureKind::Api);
        check("success", Some("prompt_too_long"), Some(400), FailureKind::ContextFull);
        check("success", Some("blocking_limit"), None, FailureKind::ContextFull);
        check("success", Some("rapid_refill_breaker"), None, FailureKind::ContextFull);
        check("success", Some("image_error"), Some(413), FailureKind::ContextFull);
        check("error_max_turns", Some("max_turns"), None, FailureKind::Limit);
        check("error_max_turns", None, None, FailureKind::Limit);
        check("error_max_budget_usd", None, None, FailureKind::Budget);
        check("error_during_execution", Some("budget_exhausted"), None, FailureKind::Budget);
        check("error_during_execution", Some("aborted_tools"), None, FailureKind::Interrupted);
        check("error_during_execution", Some("aborted_streaming"), None, FailureKind::Interrupted);
        check("error_of_next_year", Some("reason_of_next_year"), None, FailureKind::Harness);
    }

    #[test]
    fn what_was_tried_is_told() {
        let gave_up = |why| given_up(&failed(FailureKind::Api, "no"), Cause::Overloaded, why, Lang::En).text;
        assert_eq!(gave_up(GiveUp::Fatal), "the API is overloaded: no");
        let waited = Duration::from_secs(7200);
        assert_eq!(
            gave_up(GiveUp::OutOfPatience { waited }),
            "the API is overloaded, still after waiting for 120 minutes: no"
        );
        assert_eq!(
            gave_up(GiveUp::OutOfAttempts { attempts: 3 }),
            "the API is overloaded, still after 3 more attempts: no"
        );
    }
}
