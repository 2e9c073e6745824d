//! Reads `[run]`.

use super::{Place, ScenarioError};
use crate::scenario::run::{Begin, Interrupt, Moment, Run, RunStep, Setting};
use serde::Deserialize;
use serde::de::{self, Deserializer, Visitor};
use std::time::Duration;
use toml::Spanned;

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenRun {
    #[serde(default)]
    isolated: bool,
    pub(super) alone: Option<Spanned<String>>,
    spill: Option<Spanned<Number>>,
    expire: Option<Spanned<Number>>,
    denials: Option<Spanned<Number>>,
    trim: Option<Spanned<Number>>,
    handoff: Option<Spanned<Number>>,
    retries: Option<Spanned<Number>>,
    #[serde(default)]
    step: Vec<Spanned<WrittenRunStep>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenRunStep {
    prompt: String,
    start: Option<Spanned<String>>,
    idle_seconds: Option<u64>,
    #[serde(default)]
    interrupt: Vec<WrittenInterrupt>,
    kill: Option<Spanned<WrittenMoment>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenInterrupt {
    when: Spanned<WrittenMoment>,
    say: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenMoment {
    file: Option<String>,
    called: Option<String>,
    said: Option<String>,
}

/// A number, or `false`.
enum Number {
    Off,
    At(i64),
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NumberVisitor;
        impl Visitor<'_> for NumberVisitor {
            type Value = Number;

            fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str("a number, or false for off")
            }

            fn visit_bool<E: de::Error>(self, on: bool) -> Result<Number, E> {
                if on {
                    return Err(E::invalid_value(de::Unexpected::Bool(on), &self));
                }
                Ok(Number::Off)
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Number, E> {
                Ok(Number::At(number))
            }
        }
        deserializer.deserialize_any(NumberVisitor)
    }
}

impl Place<'_> {
    /// `prompt` is the file's own, at the top.
    pub(super) fn run(&self, written: WrittenRun, prompt: Option<&str>) -> Result<Run, ScenarioError> {
        let mut steps: Vec<RunStep> = Vec::new();
        // Where the newest step begins, if it is killed.
        let mut kill = None;
        for written in written.step {
            let at = written.span().start;
            if prompt.is_some() {
                let reason = "the file has a prompt at its top and steps of a run; write it as the prompt of the first step";
                return Err(self.error(at, reason));
            }
            let step = self.run_step(written.into_inner(), steps.is_empty())?;
            kill = step.kill.is_some().then_some(at);
            steps.push(step);
        }
        if let Some(at) = kill {
            return Err(
                self.error(at, "the last step is killed; write one behind it that goes on with its session")
            );
        }
        Ok(Run {
            isolated: written.isolated,
            alone: written.alone.map(Spanned::into_inner),
            spill: self.setting(written.spill.as_ref())?,
            expire: self.setting(written.expire.as_ref())?,
            denials: self.setting(written.denials.as_ref())?,
            trim: self.setting(written.trim.as_ref())?,
            handoff: self.setting(written.handoff.as_ref())?,
            retries: self.setting(written.retries.as_ref())?,
            steps,
        })
    }

    fn run_step(&self, written: WrittenRunStep, first: bool) -> Result<RunStep, ScenarioError> {
        let start = match &written.start {
            None if first => Begin::Fresh,
            None => Begin::Resume,
            Some(word) => self.word("start", word, &Begin::ALL)?,
        };
        if let Some(word) = written.start.filter(|_| first && start != Begin::Fresh) {
            let reason = "the first step has no session to go on from; leave start out, or write \"fresh\"";
            return Err(self.error(word.span().start, reason));
        }
        let idle = Duration::from_secs(written.idle_seconds.unwrap_or(0));
        let mut interrupts = Vec::new();
        for WrittenInterrupt { when, say } in written.interrupt {
            interrupts.push(Interrupt { when: self.moment(when)?, say });
        }
        let kill = match written.kill {
            Some(kill) if !interrupts.is_empty() => {
                return Err(self.error(kill.span().start, "a step is interrupted or killed, not both"));
            }
            Some(kill) => Some(self.moment(kill)?),
            None => None,
        };
        Ok(RunStep { prompt: written.prompt, start, idle, interrupts, kill })
    }

    fn moment(&self, written: Spanned<WrittenMoment>) -> Result<Moment, ScenarioError> {
        let at = written.span().start;
        let WrittenMoment { file, called, said } = written.into_inner();
        match (file, called, said) {
            (Some(file), None, None) => Ok(Moment::File(file)),
            (None, Some(tool), None) => Ok(Moment::Called(tool)),
            (None, None, Some(text)) => Ok(Moment::Said(text)),
            _ => Err(self.error(at, "a moment is exactly one of { file = … }, { called = … }, { said = … }")),
        }
    }

    fn setting(&self, written: Option<&Spanned<Number>>) -> Result<Setting, ScenarioError> {
        match written.map(|number| (number.span().start, number.get_ref())) {
            None => Ok(Setting::Usual),
            Some((_, Number::Off)) => Ok(Setting::Off),
            Some((at, Number::At(number))) => {
                let number = usize::try_from(*number);
                number.map(Setting::At).map_err(|_| self.error(at, "write 0 or more, or false for off"))
            }
        }
    }
}
