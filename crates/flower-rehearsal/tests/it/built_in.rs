//! The built-in rehearsal, played without a harness: tool results are made up here, and every number in the answers
//! must be one of them.

use crate::client::{HEADERS, ask, go_on, post_as, start_with};
use flower_rehearsal::{BUILT_IN, COORDINATOR, COORDINATOR_ZH, Options, Rehearsal, Scenario};
use serde_json::{Value, json};
use std::collections::BTreeMap;

async fn rehearsal(text: &str) -> Rehearsal {
    let variables = BTreeMap::from([("artifacts".to_owned(), "/w/产物 dir/artifacts".to_owned())]);
    start_with(text, Options { variables, ..Options::default() }).await
}

/// Plays one conversation: each round of calls is answered by `tool`; gives the last text and all calls.
async fn play(
    rehearsal: &Rehearsal,
    agent: Option<&str>,
    prompt: &str,
    tool: &mut dyn FnMut(&str, &Value) -> String,
) -> (String, Vec<(String, Value)>) {
    let mut headers = HEADERS.to_vec();
    headers.extend(agent.map(|agent| ("x-claude-code-agent-id", agent)));
    let mut request = ask(prompt);
    let mut calls = Vec::new();
    loop {
        let answer = post_as(rehearsal, &headers, &request).await;
        assert_eq!(answer.status, 200, "{}", String::from_utf8_lossy(&answer.body));
        let message = answer.json();
        let made: Vec<_> = message["content"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|block| block["type"] == "tool_use")
            .collect();
        if made.is_empty() {
            return (
                message["content"].as_array().unwrap().last().unwrap()["text"].as_str().unwrap().to_owned(),
                calls,
            );
        }
        let mut results = Vec::new();
        for call in made {
            let name = call["name"].as_str().unwrap();
            results.push(tool(name, &call["input"]));
            calls.push((name.to_owned(), call["input"].clone()));
        }
        go_on(&mut request, &message, &results.iter().map(String::as_str).collect::<Vec<_>>());
    }
}

/// What the tools say in this play.
fn shell(command: &str) -> &'static str {
    match command {
        _ if command.starts_with("ls -la") => {
            "total 8\n-rw------- 1 u u 40 a.txt\n 4711 data/a.txt\n  289 data/b.txt\n 5000 total"
        }
        _ if command.starts_with("LC_ALL=C wc -lwc") => {
            "  61  777  4711 data/a.txt\n  10  111  289 data/b.txt\n  71  888 5000 total"
        }
        _ if command.contains("sed -n 2p") => " 4711 data/a.txt",
        _ if command.starts_with("ls data") => "2",
        _ if command.contains("head -n 20") => "     99 the\n     42 of",
        _ if command.contains("sort -u") => "345",
        _ => "<persisted-output>\nOutput too large (80KB).",
    }
}

async fn play_all(text: &str) -> (String, Vec<(String, Value)>) {
    let rehearsal = rehearsal(text).await;
    let mut written = String::new();
    let mut prompts = Vec::new();
    let mut all = Vec::new();
    // The coordinator's first half, to learn the prompts of its workers.
    let mut first = true;
    let (_, calls) = play(&rehearsal, None, "How large?", &mut |name, input| match name {
        "Bash" if std::mem::take(&mut first) => "denied: delegate this".to_owned(),
        "Bash" => shell(input["command"].as_str().unwrap()).to_owned(),
        "Agent" => {
            prompts.push(input["prompt"].as_str().unwrap().to_owned());
            PLACEHOLDER.to_owned()
        }
        _ => PLACEHOLDER.to_owned(),
    })
    .await;
    all.extend(calls);
    let mut reports = Vec::new();
    for (number, prompt) in prompts.iter().enumerate() {
        let (report, calls) =
            play(&rehearsal, Some(&format!("a{number}")), prompt, &mut |name, input| match name {
                "Bash" => shell(input["command"].as_str().unwrap()).to_owned(),
                _ => {
                    input["content"].as_str().unwrap().clone_into(&mut written);
                    "File created".to_owned()
                }
            })
            .await;
        all.extend(calls);
        reports.push(report);
    }
    let mut reports = reports.into_iter();
    let (answer, _) = play(&rehearsal, None, "How large?", &mut |name, input| match name {
        "Bash" => shell(input["command"].as_str().unwrap()).to_owned(),
        // As 2.1.332 hands a report back: indented, with a frame around it.
        "Agent" => {
            let report = reports.next().unwrap().replace('\n', "\n  ");
            format!("[Subagent hand-back] The report follows:\n  {report}\nagentId: a1")
        }
        _ => numbered(&written),
    })
    .await;
    let state = rehearsal.state();
    assert_eq!((state.violation_count, state.unanswered_count), (0, 0));
    (answer, all)
}

/// As the Read tool shows a file.
fn numbered(text: &str) -> String {
    let lines = text.lines().enumerate().map(|(number, line)| format!("{}\t{line}", number + 1));
    lines.collect::<Vec<_>>().join("\n")
}

/// Holds every text that the coordinator quotes, so that its first pass comes to an end.
const PLACEHOLDER: &str = "files: **0** lines: **0** words: **0** bytes: **0** largest file: **0** its bytes: **0** \
     different words: **0** most frequent word: **0** occurrences: **0** artifact: `0` 文件数：**0** 行数：**0** \
     词数：**0** 字节数：**0** 最大的文件：**0** 其字节：**0** 不同的词：**0** 最常见的词：**0** 次数：**0** 产物：`0`";

#[tokio::test]
async fn the_answer_is_made_of_what_the_tools_returned() {
    for text in [COORDINATOR, COORDINATOR_ZH] {
        let (answer, _) = play_all(text).await;
        for found in [
            "2",
            "71",
            "888",
            "5000",
            "a.txt",
            "4711",
            "345",
            "the",
            "99",
            "/w/产物 dir/artifacts/word-frequencies.md",
        ] {
            assert!(answer.contains(found), "{found} is missing: {answer}");
        }
    }
}

#[tokio::test]
async fn both_languages_make_the_same_calls() {
    let (_, mut english) = play_all(COORDINATOR).await;
    let (_, mut chinese) = play_all(COORDINATOR_ZH).await;
    for calls in [&mut english, &mut chinese] {
        for (_, input) in calls.iter_mut() {
            for text in ["description", "prompt", "content"] {
                if input.get(text).is_some() {
                    input[text] = json!("text");
                }
            }
        }
    }
    assert_eq!(english, chinese);
    let tools: Vec<_> = english.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        tools,
        ["Bash", "Bash", "Agent", "Agent", "Read", "Bash", "Bash", "Bash", "Bash", "Bash", "Bash", "Write"]
    );
}

#[test]
fn both_languages_are_the_same_play() {
    let shape = |text: &str| {
        let scenario = Scenario::parse("s", text).unwrap();
        let threads = scenario.threads.iter();
        threads
            .map(|thread| {
                let steps = thread.steps.iter();
                let steps: Vec<_> = steps
                    .map(|step| {
                        let tools = step.calls.iter().map(|call| call.tool.clone()).collect::<Vec<_>>();
                        (step.text.is_some(), step.thinking.is_some(), step.repeat, tools)
                    })
                    .collect();
                (thread.name.clone(), thread.matches.agent, thread.after_last, steps)
            })
            .collect::<Vec<_>>()
    };
    for built_in in BUILT_IN {
        assert_eq!(shape(&built_in.english()), shape(&built_in.chinese()), "{}", built_in.name);
        let read = |text: &str| Scenario::parse(built_in.name, text).unwrap();
        let (english, chinese) = (read(&built_in.english()), read(&built_in.chinese()));
        assert_eq!((&*english.name, &*chinese.name), (built_in.name, built_in.name));
        assert_eq!((english.window, english.faults.len()), (chinese.window, chinese.faults.len()));
    }
}

#[test]
fn every_scenario_that_comes_with_the_crate_can_be_read() {
    let directory = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
    let mut names: Vec<_> =
        std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    names.sort();
    assert!(names.len() >= 6, "{names:?}");
    for name in names {
        let scenario = Scenario::load(&name).unwrap();
        let threads: Vec<_> = scenario.threads.iter().map(|thread| thread.name.as_str()).collect();
        for fault in &scenario.faults {
            if let flower_rehearsal::fault::At::Thread { name: thread, .. } = &fault.at {
                assert!(threads.contains(&thread.as_str()), "{}: no thread {thread:?}", name.display());
            }
        }
    }
}
