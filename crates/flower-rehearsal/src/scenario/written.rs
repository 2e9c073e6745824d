//! Writes scenario files, for the recorder and for people who go on from a recording.

use super::run::{Moment, Run, Setting};
use super::{AfterLast, AgentMatch, Call, Match, Scenario, Step, Thought, Thread};
use crate::fault::{At, Effect, Fault};
use serde_json::Value;
use std::fmt::Write as _;
use std::time::Duration;

pub(super) fn write(scenario: &Scenario) -> String {
    let mut out = Lines(String::new());
    out.text("name", &scenario.name);
    if let Some(about) = &scenario.about {
        out.text("about", about);
    }
    if let Some(prompt) = &scenario.prompt {
        out.text("prompt", prompt);
    }
    if let Some(window) = scenario.window {
        out.field("window", window);
    }
    if scenario.run != Run::default() {
        out.run(&scenario.run);
    }
    for thread in &scenario.threads {
        out.thread(thread);
    }
    if let Some(step) = &scenario.fallback {
        out.line("\n[fallback]");
        out.step(step, "fallback");
    }
    for fault in &scenario.faults {
        out.fault(fault);
    }
    out.0
}

struct Lines(String);

impl Lines {
    fn line(&mut self, line: &str) {
        self.0.push_str(line);
        self.0.push('\n');
    }

    fn field(&mut self, key: &str, value: impl std::fmt::Display) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.0, "{key} = {value}");
    }

    fn text(&mut self, key: &str, text: &str) {
        self.field(key, toml::Value::String(text.to_owned()));
    }

    fn run(&mut self, run: &Run) {
        self.line("\n[run]");
        if run.isolated {
            self.field("isolated", true);
        }
        if let Some(alone) = &run.alone {
            self.text("alone", alone);
        }
        for (key, setting) in [
            ("spill", run.spill),
            ("expire", run.expire),
            ("denials", run.denials),
            ("trim", run.trim),
            ("handoff", run.handoff),
            ("retries", run.retries),
        ] {
            match setting {
                Setting::Usual => {}
                Setting::Off => self.field(key, false),
                Setting::At(number) => self.field(key, number),
            }
        }
        for step in &run.steps {
            self.line("\n[[run.step]]");
            self.text("prompt", &step.prompt);
            self.text("start", step.start.name());
            if !step.idle.is_zero() {
                self.field("idle_seconds", step.idle.as_secs());
            }
            if let Some(kill) = &step.kill {
                self.field("kill", moment(kill));
            }
            for interrupt in &step.interrupts {
                self.line("[[run.step.interrupt]]");
                self.field("when", moment(&interrupt.when));
                self.text("say", &interrupt.say);
            }
        }
    }

    fn thread(&mut self, thread: &Thread) {
        self.line("\n[[thread]]");
        self.text("name", &thread.name);
        let matches = conditions(&thread.matches);
        if !matches.is_empty() {
            self.field("match", format!("{{ {} }}", matches.join(", ")));
        }
        match thread.after_last {
            AfterLast::Fallback => {}
            AfterLast::Repeat => self.text("after_last", "repeat"),
            AfterLast::Error => self.text("after_last", "error"),
        }
        for step in &thread.steps {
            self.line("\n[[thread.step]]");
            self.step(step, "thread.step");
        }
    }

    fn step(&mut self, step: &Step, path: &str) {
        match &step.thinking {
            Some(Thought::Plain(template)) => self.text("thinking", &template.written()),
            Some(Thought::Redacted) => self.field("redacted_thinking", true),
            None => {}
        }
        if let Some(text) = &step.text {
            self.text("text", &text.written());
        }
        if let Some(reason) = step.stop_reason {
            self.text("stop_reason", reason.name());
        }
        if let Some(tokens) = step.output_tokens {
            self.field("output_tokens", tokens);
        }
        if step.repeat.0.get() > 1 {
            self.field("repeat", step.repeat.0);
        }
        self.milliseconds("delay_ms", step.delay);
        self.milliseconds("pace_ms", step.pace);
        for call in &step.calls {
            self.call(call, path);
        }
    }

    fn call(&mut self, call: &Call, path: &str) {
        self.line(&format!("[[{path}.call]]"));
        if let Some(id) = &call.id {
            self.text("id", id);
        }
        self.text("tool", &call.tool);
        let input = call.input.written();
        if !input.is_empty() {
            self.field("input", value(&Value::Object(input)));
        }
    }

    fn fault(&mut self, fault: &Fault) {
        self.line("\n[[fault]]");
        match &fault.at {
            At::Anywhere => {}
            At::Request(number) => self.field("request", number),
            At::Thread { name, step } => {
                self.text("thread", name);
                if let Some(step) = step {
                    self.field("step", step);
                }
            }
            At::Rate { rate, seed } => {
                self.field("rate", toml::Value::Float(*rate));
                self.field("seed", seed);
            }
        }
        if let Some(times) = fault.times {
            self.field("times", times);
        }
        match &fault.effect {
            Effect::Status { status, message, retry_after } => {
                self.field("status", status);
                if let Some(message) = message {
                    self.text("message", message);
                }
                if let Some(seconds) = retry_after {
                    self.field("retry_after", seconds);
                }
            }
            Effect::Reset { after } => self.field("reset", after),
            Effect::Cut { after } => self.field("cut", after),
            Effect::Delay(delay) => self.field("delay_ms", delay.as_millis()),
            Effect::Pace(pace) => self.field("pace_ms", pace.as_millis()),
            Effect::Stall { after } => self.field("stall", after),
            Effect::Away(time) => self.field("away_ms", time.as_millis()),
            Effect::Window(window) => self.field("window", window),
        }
    }

    fn milliseconds(&mut self, key: &str, time: Duration) {
        if !time.is_zero() {
            self.field(key, time.as_millis());
        }
    }
}

fn moment(moment: &Moment) -> String {
    let (key, text) = match moment {
        Moment::File(path) => ("file", path),
        Moment::Called(tool) => ("called", tool),
        Moment::Said(text) => ("said", text),
    };
    format!("{{ {key} = {} }}", toml::Value::String(text.clone()))
}

fn conditions(matches: &Match) -> Vec<String> {
    let texts = |key: &str, texts: &[String]| {
        let texts: Vec<_> = texts.iter().map(|text| toml::Value::String(text.clone())).collect();
        match texts.as_slice() {
            [] => None,
            [one] => Some(format!("{key} = {one}")),
            _ => Some(format!("{key} = {}", toml::Value::Array(texts))),
        }
    };
    let agent = match matches.agent {
        AgentMatch::Any => None,
        AgentMatch::Main => Some("agent = \"main\"".to_owned()),
        AgentMatch::Subagent => Some("agent = \"subagent\"".to_owned()),
    };
    let model = matches.model.as_ref().map(|model| format!("model = {}", toml::Value::String(model.clone())));
    [
        agent,
        texts("prompt", &matches.prompt),
        texts("last", &matches.last),
        texts("system", &matches.system),
        model,
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// A JSON value in TOML. What TOML lacks (null, integers beyond 64 bits with sign) is written as a quotation that
/// gives JSON.
fn value(json: &Value) -> String {
    match json {
        Value::String(text) => toml::Value::String(text.clone()).to_string(),
        Value::Bool(truth) => truth.to_string(),
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(integer), _) => integer.to_string(),
            (None, Some(float)) if number.is_f64() => toml::Value::Float(float).to_string(),
            _ => as_json(json),
        },
        Value::Null => as_json(json),
        Value::Array(items) => format!("[{}]", items.iter().map(value).collect::<Vec<_>>().join(", ")),
        Value::Object(map) => {
            let fields: Vec<_> =
                map.iter().map(|(key, inner)| format!("{} = {}", bare(key), value(inner))).collect();
            if fields.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", fields.join(", ")) }
        }
    }
}

fn as_json(json: &Value) -> String {
    format!("'{{{{\"{json}\" | as_json}}}}'")
}

fn bare(key: &str) -> String {
    let word = !key.is_empty()
        && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    if word { key.to_owned() } else { toml::Value::String(key.to_owned()).to_string() }
}
