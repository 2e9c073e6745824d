use serde_json::json;

use super::*;

const DIRECTORY: &str = "/w/.flower/spill";

fn terms() -> Terms<'static> {
    Terms { threshold: 4000, directory: Path::new(DIRECTORY), lang: Lang::En }
}

fn big(mark: &str) -> String {
    format!("{mark} 行\n").repeat(1500)
}

/// Everything but texts: the shape that the harness checks.
fn shape(value: &Value) -> Value {
    match value {
        Value::String(_) => "".into(),
        Value::Array(list) => list.iter().map(shape).collect(),
        Value::Object(fields) => {
            fields.iter().map(|(name, value)| (name.clone(), shape(value))).collect::<Map<_, _>>().into()
        }
        other => other.clone(),
    }
}

/// The output is replaced in its own shape; every file is named once, and what remains is short.
fn check(tool: &str, output: &Value, files: usize) -> Value {
    let replaced =
        replace(tool, output.clone(), terms()).unwrap_or_else(|| panic!("{tool}: nothing replaced"));
    assert_eq!(shape(&replaced.output), shape(output), "{tool}");
    assert_eq!(replaced.files.len(), files, "{tool}");
    let text = replaced.output.to_string();
    for file in &replaced.files {
        assert_eq!(text.matches(&format!("{DIRECTORY}/{}: ", file.name)).count(), 1, "{tool}: {text}");
    }
    assert!(
        replaced.before > 4000 && replaced.after < 2000,
        "{tool}: {} {}",
        replaced.before,
        replaced.after
    );
    replaced.output
}

fn left_alone(tool: &str, output: &Value) {
    assert_eq!(replace(tool, output.clone(), terms()), None, "{tool} {output}");
}

#[test]
fn every_tool_keeps_the_shape_of_its_output() {
    let bash = json!({"stdout": big("o"), "stderr": "E", "interrupted": true, "isImage": false,
        "noOutputExpected": false, "returnCodeInterpretation": "No matches found"});
    let replaced = check("Bash", &bash, 1);
    assert_eq!(replaced["stderr"], "E");
    assert_eq!(replaced["interrupted"], true);
    check(
        "Bash",
        &json!({"stdout": big("o"), "stderr": big("e"), "interrupted": false, "isImage": false, "noOutputExpected": false}),
        2,
    );
    check(
        "Grep",
        &json!({"mode": "content", "numFiles": 0, "filenames": [], "content": big("m"), "numLines": 1500}),
        1,
    );
    check(
        "WebFetch",
        &json!({"bytes": 9, "code": 200, "codeText": "OK", "result": big("w"), "durationMs": 1, "url": "https://x"}),
        1,
    );
    check(
        "WebSearch",
        &json!({"query": "q", "results": [{"tool_use_id": "t", "content": [{"title": "a", "url": "b"}]}, big("s")],
            "durationSeconds": 1, "searchCount": 1}),
        1,
    );
    check(
        "mcp__db__query",
        &json!([{"type": "text", "text": big("a")}, {"type": "text", "text": big("b")}]),
        2,
    );
    check("mcp__db__query", &json!(big("structured")), 1);
    check(
        "Agent",
        &json!({"status": "completed", "prompt": big("p"), "agentId": "a1", "content": [{"type": "text", "text": big("r")}]}),
        1,
    );
}

#[test]
fn a_file_says_how_many_lines_are_left_of_it() {
    let read = |content: &str| {
        json!({"type": "text", "file": {"filePath": "/w/big.txt", "content": content, "numLines": 1500,
            "startLine": 11, "totalLines": 3000}})
    };
    let replaced = replace("Read", read(&big("l")), terms()).unwrap().output;
    let file = &replaced["file"];
    let content = file["content"].as_str().unwrap();
    assert_eq!(file["numLines"], content.lines().count());
    assert_eq!(file["startLine"], 11);
    assert_eq!(file["totalLines"], 3000);
    assert!(content.starts_with("l 行\nl 行\n"), "the numbers of the first lines stay true: {content}");
    left_alone("Read", &read("short\n"));
}

#[test]
fn cells_of_a_notebook_are_texts_like_others() {
    let notebook = json!({"type": "notebook", "file": {"filePath": "n.ipynb", "cells": [
        {"cellType": "code", "source": big("c"), "outputs": [{"image": {"image_data": "A".repeat(9000), "media_type": "image/png"}}]}]}});
    let replaced = check("Read", &notebook, 1);
    let image = &replaced["file"]["cells"][0]["outputs"][0]["image"]["image_data"];
    assert_eq!(image.as_str().unwrap().len(), 9000);
}

#[test]
fn lists_of_names_are_shortened_in_place() {
    let names: Vec<String> = (0..1000).map(|name| format!("src/module_{name}/file.rs")).collect();
    for (tool, output) in [
        ("Glob", json!({"filenames": names, "durationMs": 3, "numFiles": 1000, "truncated": false})),
        ("Grep", json!({"mode": "files_with_matches", "filenames": names, "numFiles": 1000})),
    ] {
        let replaced = replace(tool, output, terms()).unwrap();
        let list = replaced.output["filenames"].as_array().unwrap();
        let (pointer, kept) = list.split_last().unwrap();
        assert!(kept.iter().zip(&names).all(|(kept, name)| kept == name) && !kept.is_empty());
        let more = format!("and {} more: [spilled to {DIRECTORY}/", 1000 - kept.len());
        assert!(pointer.as_str().unwrap().starts_with(&more), "{pointer}");
        assert_eq!(replaced.output["numFiles"], 1000, "what was found is found");
        assert_eq!(replaced.files[0].text.lines().count(), 1000);
    }
    left_alone("Glob", &json!({"filenames": ["a", "b"], "numFiles": 2}));
}

#[test]
fn images_short_texts_and_strange_shapes_are_left_alone() {
    let base64 = "A".repeat(9000);
    left_alone("Bash", &json!({"stdout": &base64, "stderr": "", "interrupted": false, "isImage": true}));
    left_alone(
        "Read",
        &json!({"type": "image", "file": {"base64": &base64, "type": "image/png", "originalSize": 1}}),
    );
    left_alone(
        "mcp__x__y",
        &json!([{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": &base64}}]),
    );
    left_alone("mcp__x__y", &json!([{"type": "image", "data": &base64, "mimeType": "image/png"}]));
    left_alone("Bash", &json!({"stdout": "x".repeat(4000), "stderr": ""}));
    left_alone("Bash", &json!({"stdout": "行".repeat(4000), "stderr": ""}));
    left_alone("Bash", &json!("x".repeat(9000)));
    left_alone("Read", &json!(["x".repeat(9000)]));
    left_alone("Grep", &Value::Null);
}

#[test]
fn progress_is_read_as_on_a_terminal_before_its_size_counts() {
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/spill");
    let raw = std::fs::read_to_string(format!("{fixtures}/progress.bin")).unwrap();
    assert!(raw.chars().count() > 4000);
    let output =
        |stdout: &str| json!({"stdout": stdout, "stderr": "", "interrupted": false, "isImage": false});
    let replaced = replace("Bash", output(&raw), terms()).unwrap();
    assert_eq!(replaced.files, [], "a hundred characters are no spill");
    assert!(
        replaced.output["stdout"]
            .as_str()
            .unwrap()
            .starts_with("start\nDownloading [####################] 100%\n")
    );

    let long = raw + &big("and more");
    let replaced = replace("Bash", output(&long), terms()).unwrap();
    assert_eq!(replaced.files[0].text, long, "the file keeps what was printed");
    assert!(!replaced.output.to_string().contains("\\u001b"));
}
