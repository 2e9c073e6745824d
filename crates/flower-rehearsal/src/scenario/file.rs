//! Reads scenario files. An error names the file, the line and what to write instead.

use super::template::{InputTemplate, Template, TemplateError};
use super::{AfterLast, AgentMatch, Call, Match, Repeat, Scenario, Step, StopReason, Thought, Thread};
use crate::fault::{At, Fault, FaultError, WrittenFault};
use crate::validate::{MOST_TOOL_NAME, is_tool_name};
use serde::Deserialize;
use serde::de::{self, Deserializer, SeqAccess, Visitor};
use std::num::NonZeroUsize;
use std::time::Duration;
use toml::Spanned;

mod run;

/// A scenario that cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ScenarioError {
    /// The file cannot be read.
    #[error("cannot read scenario {file}")]
    Read {
        /// The file.
        file: String,
        /// Why.
        source: std::io::Error,
    },
    /// The file is no TOML or has a wrong field.
    #[error("{file}:{line}: {reason}")]
    Written {
        /// The file.
        file: String,
        /// The line, from 1.
        line: usize,
        /// What is wrong and what to write instead.
        reason: String,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenScenario {
    name: Option<String>,
    prompt: Option<String>,
    about: Option<String>,
    window: Option<Spanned<i64>>,
    #[serde(default)]
    run: run::WrittenRun,
    #[serde(default)]
    thread: Vec<Spanned<WrittenThread>>,
    fallback: Option<WrittenStep>,
    #[serde(default)]
    fault: Vec<Spanned<WrittenFault>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenThread {
    name: Spanned<String>,
    #[serde(default, rename = "match")]
    matches: WrittenMatch,
    #[serde(default)]
    step: Vec<Spanned<WrittenStep>>,
    after_last: Option<Spanned<String>>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenMatch {
    agent: Option<Spanned<String>>,
    #[serde(default)]
    prompt: Texts,
    #[serde(default)]
    last: Texts,
    #[serde(default)]
    system: Texts,
    model: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenStep {
    text: Option<Spanned<String>>,
    thinking: Option<Spanned<String>>,
    redacted_thinking: Option<Spanned<bool>>,
    #[serde(default)]
    call: Vec<Spanned<WrittenCall>>,
    stop_reason: Option<Spanned<String>>,
    output_tokens: Option<u64>,
    repeat: Option<Spanned<i64>>,
    delay_ms: Option<u64>,
    pace_ms: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenCall {
    id: Option<Spanned<String>>,
    tool: Spanned<String>,
    #[serde(default)]
    input: Option<Spanned<toml::Table>>,
}

/// One text or a list of texts.
#[derive(Default)]
struct Texts(Vec<String>);

impl<'de> Deserialize<'de> for Texts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextsVisitor;
        impl<'de> Visitor<'de> for TextsVisitor {
            type Value = Texts;

            fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str("a text or a list of texts")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Texts, E> {
                Ok(Texts(vec![text.to_owned()]))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Texts, A::Error> {
                let mut texts = Vec::new();
                while let Some(text) = items.next_element()? {
                    texts.push(text);
                }
                Ok(Texts(texts))
            }
        }
        deserializer.deserialize_any(TextsVisitor)
    }
}

pub(super) fn parse(file: &str, text: &str) -> Result<Scenario, ScenarioError> {
    let place = Place { file, text };
    let written: WrittenScenario = toml::from_str(text).map_err(|error| {
        place.error(error.span().map_or(0, |span| span.start), error.message().trim().to_owned())
    })?;
    let alone = written.run.alone.as_ref().map(|name| (name.span().start, name.get_ref().clone()));
    let run = place.run(written.run, written.prompt.as_deref())?;
    let mut threads: Vec<Thread> = Vec::new();
    for written in written.thread {
        let at = written.get_ref().name.span().start;
        let thread = place.thread(written.into_inner())?;
        if threads.iter().any(|other| other.name == thread.name) {
            return Err(
                place.error(at, format!("two threads are called {:?}; give each its own name", thread.name))
            );
        }
        threads.push(thread);
    }
    if let Some((at, name)) = alone.filter(|(_, name)| threads.iter().all(|thread| thread.name != *name)) {
        return Err(place.error(at, format!("no thread is called {name:?}; {}", known_threads(&threads))));
    }
    let fallback = written.fallback.map(|step| place.step(step, 0)).transpose()?;
    let mut faults = Vec::new();
    for written in written.fault {
        let at = written.span().start;
        let fault =
            Fault::try_from(written.into_inner()).map_err(|FaultError(reason)| place.error(at, reason))?;
        if let At::Thread { name, .. } = &fault.at
            && !threads.iter().any(|thread| thread.name == *name)
        {
            return Err(place.error(at, format!("no thread is called {name:?}; {}", known_threads(&threads))));
        }
        faults.push(fault);
    }
    if threads.is_empty() && fallback.is_none() {
        let reason =
            "there is nothing to answer with; write a [[thread]] with steps, or a [fallback] with a text";
        return Err(place.error(0, reason));
    }
    let window = written.window.map(|window| {
        let tokens = u64::try_from(*window.get_ref()).ok().filter(|tokens| *tokens > 0);
        tokens.ok_or_else(|| place.error(window.span().start, "window must be 1 or more, in tokens"))
    });
    Ok(Scenario {
        name: written.name.unwrap_or_else(|| file.to_owned()),
        about: written.about,
        prompt: written.prompt,
        window: window.transpose()?,
        run,
        threads,
        fallback,
        faults,
    })
}

fn known_threads(threads: &[Thread]) -> String {
    let names: Vec<_> = threads.iter().map(|thread| format!("{:?}", thread.name)).collect();
    if names.is_empty() {
        "the file has no threads".to_owned()
    } else {
        format!("write one of {}", names.join(", "))
    }
}

/// The file being read, for errors.
struct Place<'a> {
    file: &'a str,
    text: &'a str,
}

impl Place<'_> {
    fn error(&self, at: usize, reason: impl Into<String>) -> ScenarioError {
        let before = self.text.as_bytes().get(..at).unwrap_or_default();
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        ScenarioError::Written { file: self.file.to_owned(), line, reason: reason.into() }
    }

    /// A word out of a fixed list.
    fn word<T: Copy>(
        &self,
        what: &str,
        word: &Spanned<String>,
        known: &[(T, &str)],
    ) -> Result<T, ScenarioError> {
        known.iter().find(|(_, name)| name == word.get_ref()).map(|(value, _)| *value).ok_or_else(|| {
            let names: Vec<_> = known.iter().map(|(_, name)| format!("\"{name}\"")).collect();
            self.error(
                word.span().start,
                format!("{what} cannot be {:?}; write {}", word.get_ref(), names.join(" or ")),
            )
        })
    }

    fn thread(&self, written: WrittenThread) -> Result<Thread, ScenarioError> {
        let agent = match &written.matches.agent {
            None => AgentMatch::Any,
            Some(word) => self.word(
                "agent",
                word,
                &[(AgentMatch::Main, "main"), (AgentMatch::Subagent, "subagent"), (AgentMatch::Any, "any")],
            )?,
        };
        let after_last = match &written.after_last {
            None => AfterLast::Fallback,
            Some(word) => self.word(
                "after_last",
                word,
                &[
                    (AfterLast::Fallback, "fallback"),
                    (AfterLast::Repeat, "repeat"),
                    (AfterLast::Error, "error"),
                ],
            )?,
        };
        let mut steps = Vec::new();
        // Ids of the calls of earlier steps: what may be quoted by name.
        let mut ids: Vec<String> = Vec::new();
        for written in written.step {
            let at = written.span().start;
            let step = self.step(written.into_inner(), at)?;
            for name in step.templates().flat_map(Template::calls) {
                if !ids.iter().any(|id| id == name) {
                    let known = if ids.is_empty() { "none".to_owned() } else { ids.join(", ") };
                    return Err(self.error(
                        at,
                        format!(
                            "no earlier step has a call with id = {name:?} to quote; earlier ids: {known}"
                        ),
                    ));
                }
            }
            for id in step.calls.iter().filter_map(|call| call.id.as_ref()) {
                if ids.contains(id) {
                    return Err(
                        self.error(at, format!("two calls have id = {id:?}; ids are unique in a thread"))
                    );
                }
                ids.push(id.clone());
            }
            steps.push(step);
        }
        let name = written.name.into_inner();
        let WrittenMatch { prompt, last, system, model, .. } = written.matches;
        let matches = Match { agent, prompt: prompt.0, last: last.0, system: system.0, model };
        Ok(Thread { name, matches, steps, after_last })
    }

    fn step(&self, written: WrittenStep, at: usize) -> Result<Step, ScenarioError> {
        let redacted = written.redacted_thinking.as_ref().is_some_and(|redacted| *redacted.get_ref());
        let thinking = match (&written.thinking, redacted) {
            (Some(text), false) => Some(Thought::Plain(self.template(text)?)),
            (None, true) => Some(Thought::Redacted),
            (None, false) => None,
            (Some(text), true) => {
                let reason = "a step has thinking or redacted_thinking, not both";
                return Err(self.error(text.span().start, reason));
            }
        };
        let text = written.text.as_ref().map(|text| self.template(text)).transpose()?;
        let calls = written.call.into_iter().map(|call| self.call(call)).collect::<Result<Vec<_>, _>>()?;
        if text.is_none() && calls.is_empty() && thinking.is_none() {
            return Err(self.error(at, "a step needs text = \"…\", a [[thread.step.call]] or both"));
        }
        let repeat = match written.repeat {
            None => Repeat::default(),
            Some(count) => usize::try_from(*count.get_ref())
                .ok()
                .and_then(NonZeroUsize::new)
                .map(Repeat)
                .ok_or_else(|| self.error(count.span().start, "repeat must be 1 or more"))?,
        };
        Ok(Step {
            thinking,
            text,
            calls,
            stop_reason: written
                .stop_reason
                .as_ref()
                .map(|word| self.word("stop_reason", word, &StopReason::ALL))
                .transpose()?,
            output_tokens: written.output_tokens,
            repeat,
            delay: Duration::from_millis(written.delay_ms.unwrap_or(0)),
            pace: Duration::from_millis(written.pace_ms.unwrap_or(0)),
        })
    }

    fn call(&self, written: Spanned<WrittenCall>) -> Result<Call, ScenarioError> {
        let WrittenCall { id, tool, input } = written.into_inner();
        let id = id.map(|id| self.call_id(&id)).transpose()?;
        let tool = self.tool_name(tool)?;
        let Some(input) = input else {
            return Ok(Call { id, tool, input: InputTemplate::literal(&serde_json::Map::new()) });
        };
        let at = input.span().start;
        let json = serde_json::to_value(input.into_inner())
            .map_err(|error| self.error(at, format!("input cannot be written as JSON: {error}")))?;
        let map = json.as_object().cloned().unwrap_or_default();
        let input = InputTemplate::parse(&map).map_err(|error| self.template_error(at, &error))?;
        Ok(Call { id, tool, input })
    }

    /// A name that the API takes back; any other would break the conversation at the next request.
    fn tool_name(&self, name: Spanned<String>) -> Result<String, ScenarioError> {
        if is_tool_name(name.get_ref()) {
            return Ok(name.into_inner());
        }
        let reason = format!(
            "no tool can be called {:?}; write up to {MOST_TOOL_NAME} letters, digits, - or _",
            name.get_ref()
        );
        Err(self.error(name.span().start, reason))
    }

    fn call_id(&self, id: &Spanned<String>) -> Result<String, ScenarioError> {
        let text = id.get_ref();
        let word = !text.is_empty()
            && text.parse::<i64>().is_err()
            && text.chars().all(|letter| letter.is_alphanumeric() || matches!(letter, '-' | '_' | '.'));
        if word {
            Ok(text.clone())
        } else {
            let reason = format!(
                "id = {text:?} cannot be quoted; write letters, digits, -, _ or ., and not a number alone"
            );
            Err(self.error(id.span().start, reason))
        }
    }

    fn template(&self, text: &Spanned<String>) -> Result<Template, ScenarioError> {
        Template::parse(text.get_ref()).map_err(|error| self.template_error(text.span().start, &error))
    }

    /// The line of the quotation itself where the file shows it literally, else the line where the value starts.
    fn template_error(&self, from: usize, error: &TemplateError) -> ScenarioError {
        let found = self.text.get(from..).and_then(|rest| rest.find(error.quotation.as_str()));
        self.error(from + found.unwrap_or(0), error.to_string())
    }
}

#[cfg(test)]
mod tests;
