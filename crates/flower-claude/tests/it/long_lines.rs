//! Lines of any length (B023).

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use flower_claude::lines::{DEFAULT_LIMIT, Lines, Piece};
use flower_claude::session::Dirt;
use flower_claude::wire::{Block, Line, Message, ToolResult, parse_line};
use flower_claude::{Event, Host, Session};
use serde_json::json;
use tempfile::TempDir;

use super::fake::{Fake, all};

/// The second line has 1,048,577 bytes without its newline, the third holds 12,000,000 "y".
fn stream(directory: &Path) -> (PathBuf, [usize; 2]) {
    let result = |content: &str| {
        json!({"type": "user", "message": {"role": "user", "content":
            [{"type": "tool_result", "tool_use_id": "toolu_b023a", "content": content}]}})
        .to_string()
    };
    let padding = 1_048_577 - result("").len();
    let lines = [
        json!({"type": "assistant", "message": {"id": "m", "role": "assistant", "content":
            [{"type": "tool_use", "id": "toolu_b023a", "name": "Read", "input": {}}]}})
        .to_string(),
        result(&"x".repeat(padding)),
        result(&"y".repeat(12_000_000)),
        json!({"type": "assistant", "message": {"id": "n", "role": "assistant", "content":
            [{"type": "text", "text": "read it"}]}})
        .to_string(),
        json!({"type": "result", "subtype": "success", "result": "read it"}).to_string(),
    ];
    assert_eq!(lines[1].len(), 1_048_577);
    let file = directory.join("stdout.ndjson");
    fs::write(&file, lines.join("\n") + "\n").unwrap();
    (file, [padding, 12_000_000])
}

fn length(message: &Message) -> Option<usize> {
    match message {
        Message::User(user) => {
            user.message.content.tool_results().next().map(|result: &ToolResult| result.text().len())
        }
        _ => None,
    }
}

#[test]
fn lengths_do_not_depend_on_the_size_of_chunks() {
    let directory = TempDir::new().unwrap();
    let (file, expected) = stream(directory.path());
    let bytes = fs::read(file).unwrap();
    for size in [1, 7, 4096, 65_536] {
        let mut messages = Vec::new();
        let mut lines = Lines::new(DEFAULT_LIMIT);
        for chunk in bytes.chunks(size) {
            lines.push(chunk, |piece| match piece {
                Piece::Line(line) => match parse_line(std::str::from_utf8(line).unwrap()) {
                    Line::Message(message) => messages.push(message),
                    other => panic!("{other:?}"),
                },
                Piece::TooLong(bytes) => panic!("{bytes} bytes dropped"),
            });
        }
        assert_eq!(messages.len(), 5, "chunks of {size}");
        assert_eq!(messages.iter().filter_map(length).collect::<Vec<_>>(), expected, "chunks of {size}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_driver_delivers_them_from_a_real_pipe() {
    for writer in
        ["cat", "dd bs=7 status=none if=", "dd bs=4096 status=none if=", "dd bs=65536 status=none if="]
    {
        let fake = Fake::new("");
        let (file, expected) = stream(fake.path());
        // Seven bytes at a time takes the writer a while; the first megabyte of it is enough.
        let writer = match writer {
            "cat" => format!("exec cat '{}'", file.display()),
            slow if slow.contains("bs=7 ") => {
                format!("head -n 2 '{}' | {}/dev/stdin", file.display(), slow)
            }
            other => format!("exec {other}'{}'", file.display()),
        };
        let whole = !writer.contains("bs=7 ");
        let fake = Fake::new(&writer);
        let (session, mut events) = Session::start(fake.launch(), Host::default()).await.unwrap();
        let lengths: Vec<usize> = all(&mut events)
            .await
            .iter()
            .filter_map(|event| match event {
                Event::Message(message) => length(message),
                _ => None,
            })
            .collect();
        assert_eq!(lengths, if whole { &expected[..] } else { &expected[..1] }, "{writer}");
        drop(session);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_line_over_the_limit_is_lost_alone() {
    let fake = Fake::new("");
    let (file, expected) = stream(fake.path());
    let fake = Fake::printing(&file);
    let launch = fake.launch().line_limit(2 * 1024 * 1024);
    let (_session, mut events) = Session::start(launch, Host::default()).await.unwrap();
    let events = all(&mut events).await;

    let dropped: Vec<usize> = events
        .iter()
        .filter_map(|event| match event {
            Event::Dirt(Dirt::TooLong(bytes)) => Some(*bytes),
            _ => None,
        })
        .collect();
    assert_eq!(dropped.len(), 1);
    assert!(dropped[0] > 12_000_000);
    let lengths: Vec<usize> = events
        .iter()
        .filter_map(|event| match event {
            Event::Message(message) => length(message),
            _ => None,
        })
        .collect();
    assert_eq!(lengths, expected[..1]);
    let last = events.iter().rev().find_map(|event| match event {
        Event::Message(Message::Assistant(message)) => Some(message),
        _ => None,
    });
    assert!(matches!(&last.unwrap().message.content[0], Block::Text(text) if text == "read it"));
}

#[test]
fn time_is_linear_in_the_length() {
    let time = |bytes: usize| {
        let chunk = vec![b'y'; 4096];
        let mut lines = Lines::new(DEFAULT_LIMIT);
        let started = Instant::now();
        for _ in 0..bytes / chunk.len() {
            lines.push(&chunk, |_| {});
        }
        lines.finish(|piece| assert!(matches!(piece, Piece::Line(_))));
        started.elapsed()
    };
    // 16,384 chunks. Looking at everything again with each would be half a terabyte.
    assert!(time(64 * 1024 * 1024) < Duration::from_secs(20));
}
