//! The largest results of tools, and how often the same thing was asked for again.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use serde::{Deserialize, Serialize};

use super::arguments::Arguments;
use super::kinds::Length;
use super::spills::Moved;
use super::tokens::Calibration;
use super::words::{absolute, moved, simple_commands};
use crate::transcript::ToolUse;

/// So many of the largest results of a thread are kept.
const KEPT: usize = 10;

/// Smaller results are no burden, however many there are.
const LARGE: u64 = 2_000;

/// Programs that put a file's content into their output.
const READERS: &[&str] = &[
    "awk", "bat", "cat", "cut", "grep", "head", "jq", "less", "more", "nl", "rg", "sed", "sort", "tail",
    "tac",
];

/// A large result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LargeResult {
    /// Name of the tool.
    pub tool: String,
    /// What was asked for, in one line of at most 200 characters.
    pub input: String,
    /// Id of the call.
    pub tool_use_id: String,
    /// Characters of its text.
    pub characters: u64,
    /// Its tokens, estimated.
    pub tokens: u64,
    /// The turn of its thread, counted from 1, whose call it answered.
    pub turn: u64,
    /// Later calls of the thread that read the same file, ran the same command, or read the file that it was moved to.
    pub read_again: u64,
}

/// A thing that can be asked for, by hash: transcripts hold millions of them, and one in 2^64 is not confused here.
type Target = u64;

#[derive(Debug)]
struct Candidate {
    tool: String,
    input: String,
    tool_use_id: String,
    length: Length,
    turn: u64,
    /// The number of calls when it came.
    after: u32,
    targets: Vec<Target>,
}

/// The results of one thread while they are being collected.
#[derive(Debug, Default)]
pub(super) struct ResultTally {
    calls: u32,
    /// The numbers of the calls that asked for a target, rising.
    asked: HashMap<Target, Vec<u32>>,
    largest: Vec<Candidate>,
}

impl ResultTally {
    /// Notes what a call asks for.
    pub(super) fn call(&mut self, tool_use: &ToolUse<'_>, arguments: &Arguments<'_>, cwd: &str) {
        self.calls += 1;
        for target in targets(tool_use, arguments, cwd) {
            self.asked.entry(target).or_default().push(self.calls);
        }
    }

    /// Notes a result that came at a turn, and where it was moved to.
    pub(super) fn result(
        &mut self,
        tool_use: &ToolUse<'_>,
        length: Length,
        moved: Option<&Moved>,
        turn: u64,
        cwd: &str,
    ) {
        if length.characters < LARGE && moved.is_none() {
            return;
        }
        let arguments = Arguments::of(tool_use);
        let mut targets = targets(tool_use, &arguments, cwd);
        targets.extend(moved.iter().flat_map(|moved| &moved.paths).map(|path| file(path, cwd)));
        self.largest.push(Candidate {
            tool: tool_use.name.to_string(),
            input: arguments.summary(),
            tool_use_id: tool_use.id.to_string(),
            length,
            turn,
            after: self.calls,
            targets,
        });
        if self.largest.len() >= 4 * KEPT {
            self.keep_the_largest();
        }
    }

    /// How often a file was asked for by now.
    pub(super) fn asked_for_file(&self, path: &str, cwd: &str) -> u64 {
        self.asked.get(&file(path, cwd)).map_or(0, |calls| calls.len() as u64)
    }

    /// Sorted by size, the earlier one first where two are equal.
    fn keep_the_largest(&mut self) {
        self.largest
            .sort_by_key(|candidate| (std::cmp::Reverse(candidate.length.characters), candidate.after));
        self.largest.truncate(KEPT);
    }

    /// The largest results, largest first. Tokens are filled in once they can be estimated.
    pub(super) fn finish(mut self) -> Vec<(LargeResult, Length)> {
        self.keep_the_largest();
        let Self { largest, asked, .. } = self;
        let result = |candidate: Candidate| {
            let read_again = read_again(&asked, &candidate);
            let Candidate { tool, input, tool_use_id, length, turn, .. } = candidate;
            let characters = length.characters;
            (LargeResult { tool, input, tool_use_id, characters, tokens: 0, turn, read_again }, length)
        };
        largest.into_iter().map(result).collect()
    }
}

impl LargeResult {
    pub(super) fn estimated((mut result, length): (Self, Length), calibration: &Calibration) -> Self {
        result.tokens = calibration.tokens(length);
        result
    }
}

/// Later calls that share a target; a call that shares two counts once.
fn read_again(asked: &HashMap<Target, Vec<u32>>, candidate: &Candidate) -> u64 {
    let mut later: Vec<u32> = candidate
        .targets
        .iter()
        .filter_map(|target| asked.get(target))
        .flat_map(|calls| calls.iter().copied().filter(|call| *call > candidate.after))
        .collect();
    later.sort_unstable();
    later.dedup();
    later.len() as u64
}

/// What a call asks for. A call that writes asks for nothing.
fn targets(tool_use: &ToolUse<'_>, arguments: &Arguments<'_>, cwd: &str) -> Vec<Target> {
    match &*tool_use.name {
        "Write" | "Edit" | "MultiEdit" | "NotebookEdit" => Vec::new(),
        "Read" => arguments.file().iter().map(|path| file(path, cwd)).collect(),
        "Bash" => arguments.command().map(|command| of_command(&command, cwd)).unwrap_or_default(),
        name => vec![hash(&(name, arguments.whole()))],
    }
}

fn of_command(command: &str, cwd: &str) -> Vec<Target> {
    let mut targets = vec![hash(&("Bash", command.trim()))];
    let mut cwd = cwd.to_owned();
    for words in simple_commands(command) {
        if let Some(there) = moved(&words, &cwd) {
            cwd = there;
        } else if let Some((program, arguments)) = words.split_first()
            && READERS.contains(&program.rsplit('/').next().unwrap_or_default())
        {
            let files = arguments.iter().filter(|word| !word.starts_with('-') && word.contains(['/', '.']));
            targets.extend(files.map(|path| file(path, &cwd)));
        }
    }
    targets
}

fn file(path: &str, cwd: &str) -> Target {
    hash(&("file", absolute(path, cwd)))
}

fn hash(value: &impl Hash) -> Target {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Thread {
        tally: ResultTally,
        inputs: Vec<(String, String)>,
    }

    /// Plays calls, each with a result of this many characters, and says how often each large one was read again.
    fn check(calls: &[(&str, &str, u64)], expected: &[(&str, u64)]) {
        let mut thread = Thread { tally: ResultTally::default(), inputs: Vec::new() };
        for (name, input, _) in calls {
            thread.inputs.push(((*name).to_owned(), (*input).to_owned()));
        }
        for ((name, input), (_, _, characters)) in thread.inputs.iter().zip(calls) {
            let tool_use =
                ToolUse { id: "t".into(), name: name.into(), input: serde_json::from_str(input).ok() };
            thread.tally.call(&tool_use, &Arguments::of(&tool_use), "/repo");
            let length = Length { characters: *characters, bytes: *characters };
            thread.tally.result(&tool_use, length, None, 1, "/repo");
        }
        let found = thread.tally.finish();
        let found: Vec<_> = found.iter().map(|(result, _)| (&*result.input, result.read_again)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn reading_again_is_seen_by_file_and_by_command() {
        check(
            &[
                ("Read", r#"{"file_path":"/repo/a.log"}"#, 9_000),
                ("Bash", r#"{"command":"cargo test"}"#, 8_000),
                ("Read", r#"{"file_path":"/repo/a.log","offset":10}"#, 100),
                ("Bash", r#"{"command":"tail -n 5 a.log | grep -c x"}"#, 10),
                ("Bash", r#"{"command":"cd /repo/sub && cat ../a.log a.log"}"#, 10),
                ("Edit", r#"{"file_path":"/repo/a.log"}"#, 10),
                ("Bash", r#"{"command":"cargo test"}"#, 10),
            ],
            &[("/repo/a.log", 3), ("cargo test", 1)],
        );
    }

    #[test]
    fn only_the_largest_are_kept_and_small_ones_never() {
        let inputs: Vec<String> = (0..100).map(|n| format!(r#"{{"command":"c{n}"}}"#)).collect();
        let calls: Vec<_> = inputs.iter().zip(1_950..).map(|(input, n)| ("Bash", &**input, n)).collect();
        let names: Vec<String> = (90..100).rev().map(|n| format!("c{n}")).collect();
        let expected: Vec<_> = names.iter().map(|name| (&**name, 0)).collect();
        check(&calls, &expected);
        check(&[("Bash", r#"{"command":"ls"}"#, 1_999)], &[]);
    }
}
