//! Makes long transcripts that look like real ones: rounds of thinking, text and parallel calls, with big
//! and small results, glances, denials and failed requests. The same size gives the same bytes.

use std::fmt::Write;

/// Average number of bytes of one entry.
const ENTRY_SIZE: usize = 2_000;

/// A transcript of about `entries` lines, about 2 kB each.
pub(crate) fn history(entries: usize) -> Vec<u8> {
    let mut history =
        History { out: String::with_capacity(entries * (ENTRY_SIZE + 200)), lines: 0, parent: None, seed: 1 };
    while history.lines < entries {
        history.turn();
    }
    history.out.into_bytes()
}

struct History {
    out: String,
    lines: usize,
    parent: Option<usize>,
    seed: u64,
}

impl History {
    /// A number below `limit`, by a linear congruential generator.
    fn below(&mut self, limit: usize) -> usize {
        self.seed = self.seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.seed >> 33).unwrap_or_default() % limit
    }

    fn turn(&mut self) {
        self.line("user", r#"{"role":"user","content":"And now the next part, please."}"#, "");
        for _ in 0..3 + self.below(8) {
            self.round();
        }
        let message = self.answer(
            r#"{"type":"text","text":"Done: the numbers are in the report."}"#,
            self.lines,
            "end_turn",
        );
        self.line("assistant", &message, "");
    }

    /// One message with thinking, text and one to three calls, then its results in another order.
    fn round(&mut self) {
        let id = self.lines;
        let thinking =
            format!(r#"{{"type":"thinking","thinking":"{}","signature":"c2ln"}}"#, "Let me see. ".repeat(40));
        let texts = [thinking, r#"{"type":"text","text":"Looking at it."}"#.to_owned()];
        for block in texts {
            let message = self.answer(&block, id, "tool_use");
            self.line("assistant", &message, "");
        }
        let mut calls = Vec::new();
        for _ in 0..=self.below(3) {
            let command = self.command();
            let call = self.lines;
            let block = format!(
                r#"{{"type":"tool_use","id":"toolu_{call:024}","name":"Bash","input":{{"command":"{command}","description":"look"}}}}"#
            );
            let message = self.answer(&block, id, "tool_use");
            calls.push(self.line("assistant", &message, ""));
        }
        while !calls.is_empty() {
            let next = self.below(calls.len());
            let call = calls.swap_remove(next);
            self.result(call);
        }
    }

    /// Most commands are written once; a few are repeated.
    fn command(&mut self) -> String {
        let at = self.lines;
        match self.below(6) {
            0 => "git status -s".to_owned(),
            1 => format!("ls -la src/part{} | head -{}", self.below(40), at % 50),
            2 => format!("git log --oneline -5 -- src/part{at}.rs 2>/dev/null || true"),
            3 => format!("cat notes/{at}.md"),
            4 => format!("cargo test -p part{} --test it case_{at}", self.below(40)),
            _ => format!("cd src && sed -i 's/a{at}/b/' part{}.rs && cargo build", self.below(40)),
        }
    }

    fn result(&mut self, call: usize) {
        // A few results are huge, most are small.
        let length = if self.below(10) == 0 { self.below(28_000) } else { self.below(1_200) };
        let text = "src/main.rs:120: warning: this line is as long as most lines of a log are\\n"
            .repeat(length / 75 + 1);
        let message = format!(
            r#"{{"role":"user","content":[{{"tool_use_id":"toolu_{call:024}","type":"tool_result","content":"{text}","is_error":false}}]}}"#
        );
        let rest = format!(
            r#","toolUseResult":{{"stdout":"{text}","stderr":"","interrupted":false,"isImage":false}},"sourceToolAssistantUUID":"{}""#,
            uuid(call)
        );
        self.parent = Some(call);
        self.line("user", &message, &rest);
    }

    fn answer(&mut self, block: &str, id: usize, stop_reason: &str) -> String {
        let (read, write) = (20_000 + self.below(80_000), self.below(4_000));
        format!(
            r#"{{"id":"msg_{id:020}","type":"message","role":"assistant","model":"claude-opus-5-5","content":[{block}],"stop_reason":"{stop_reason}","stop_sequence":null,"usage":{{"input_tokens":10,"cache_creation_input_tokens":{write},"cache_read_input_tokens":{read},"output_tokens":200}}}}"#
        )
    }

    /// Writes one entry that hangs off the last one.
    fn line(&mut self, kind: &str, message: &str, rest: &str) -> usize {
        let at = self.lines;
        let parent = self.parent.map_or("null".to_owned(), |parent| format!("\"{}\"", uuid(parent)));
        let (minutes, seconds, millis) = (at / 60_000 % 60, at / 1000 % 60, at % 1000);
        writeln!(
            self.out,
            r#"{{"parentUuid":{parent},"isSidechain":false,"type":"{kind}","message":{message},"uuid":"{}","timestamp":"2026-12-01T10:{minutes:02}:{seconds:02}.{millis:03}Z"{rest},"userType":"external","entrypoint":"sdk-cli","cwd":"/repo","sessionId":"00000000-0000-4000-8000-000000000001","version":"2.1.332","gitBranch":"main"}}"#,
            uuid(at)
        )
        .ok();
        self.parent = Some(at);
        self.lines += 1;
        at
    }
}

fn uuid(number: usize) -> String {
    format!("{number:08}-0000-4000-8000-000000000000")
}
