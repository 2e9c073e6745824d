//! The shapes of outputs that are known. The harness refuses a replacement of any other shape and keeps the original in
//! silence, or turns the call into an error: what is not known is left alone.

use serde_json::Value;

/// Whether a replacement can be made of an output: it has what the tool's own formatter asks for.
pub(super) fn is_known(tool: &str, output: &Value) -> bool {
    let string = |name: &str| output.get(name).is_some_and(Value::is_string);
    let list = |name: &str| output.get(name).is_some_and(Value::is_array);
    match tool {
        "Bash" => {
            string("stdout") && string("stderr") && output.get("interrupted").is_some_and(Value::is_boolean)
        }
        "Read" => match output.get("type").and_then(Value::as_str) {
            Some("text") => output.pointer("/file/content").is_some_and(Value::is_string),
            Some("notebook") => output.pointer("/file/cells").is_some_and(Value::is_array),
            _ => false,
        },
        "Grep" => string("mode") && (string("content") || list("filenames")),
        "Glob" => list("filenames"),
        "WebFetch" => string("result"),
        "WebSearch" => list("results"),
        "Agent" => output.get("content").is_some_and(is_blocks),
        // 2.1.197 makes an error of a call whose output is replaced by an object.
        _ if tool.starts_with("mcp__") => output.is_string() || is_blocks(output),
        _ => false,
    }
}

fn is_blocks(value: &Value) -> bool {
    value
        .as_array()
        .is_some_and(|blocks| blocks.iter().all(|block| block.get("type").is_some_and(Value::is_string)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(tool: &str, output: &Value, known: bool) {
        assert_eq!(is_known(tool, output), known, "{tool} {output}");
    }

    #[test]
    fn outputs_that_a_replacement_can_be_made_of() {
        check("Bash", &json!({"stdout": "", "stderr": "", "interrupted": false}), true);
        check("Read", &json!({"type": "text", "file": {"filePath": "/x", "content": ""}}), true);
        check("Read", &json!({"type": "notebook", "file": {"cells": []}}), true);
        check("Grep", &json!({"mode": "content", "content": "", "filenames": []}), true);
        check("Grep", &json!({"mode": "files_with_matches", "filenames": []}), true);
        check("Glob", &json!({"filenames": []}), true);
        check("WebFetch", &json!({"result": ""}), true);
        check("WebSearch", &json!({"results": []}), true);
        check("Agent", &json!({"content": [{"type": "text", "text": ""}]}), true);
        check("mcp__a__b", &json!([{"type": "text", "text": ""}]), true);
        check("mcp__a__b", &json!("structured"), true);
    }

    #[test]
    fn all_others_are_left_alone() {
        for (tool, output) in [
            ("Bash", json!("text")),
            ("Bash", json!(["text"])),
            ("Bash", json!({"stdout": ""})),
            ("Bash", json!({"stdout": [""], "stderr": "", "interrupted": false})),
            ("Bash", Value::Null),
            ("Read", json!({"type": "image", "file": {"base64": ""}})),
            ("Read", json!({"type": "pdf", "file": {"base64": ""}})),
            ("Read", json!({"type": "file_unchanged", "file": {"filePath": "/x"}})),
            ("Read", json!({"type": "parts", "file": {"content": ""}})),
            ("Read", json!({"content": ""})),
            ("Grep", json!({"content": ""})),
            ("Agent", json!({"isAsync": true, "prompt": ""})),
            ("mcp__a__b", json!({"text": ""})),
            ("mcp__a__b", json!(["text"])),
            ("Monitor", json!({"stdout": ""})),
        ] {
            check(tool, &output, false);
        }
    }
}
