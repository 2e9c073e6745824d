use super::*;
use crate::testing::request;
use serde_json::json;

fn conversation() -> Conversation {
    Conversation::of(&request(&json!({"model":"m","max_tokens":1,"messages":[
        {"role":"user","content":[
            {"type":"text","text":"<system-reminder>\nx\n</system-reminder>"},
            {"type":"text","text":"Count, please."}]},
        {"role":"assistant","content":[
            {"type":"tool_use","id":"t1","name":"Bash","input":{}},
            {"type":"tool_use","id":"t2","name":"Bash","input":{}}]},
        {"role":"user","content":[
            {"type":"tool_result","tool_use_id":"t2","content":"{\"a\":[{\"b\":\"deep\"},7]}"},
            {"type":"tool_result","tool_use_id":"t1","content":"  12 a.txt\n  30 b.txt\n  42 total\n\n"}]}]})))
}

fn fill(text: &str) -> Result<String, String> {
    let conversation = conversation();
    let sources = Sources {
        conversation: &conversation,
        variables: &BTreeMap::from([("artifacts".to_owned(), "/w/artifacts".to_owned())]),
        named: &BTreeMap::from([("counts".to_owned(), conversation.outcomes[1].text.clone())]),
    };
    Template::parse(text)
        .map_err(|error| error.to_string())?
        .fill(&sources)
        .map_err(|error| error.to_string())
}

#[test]
fn quotations_are_filled() {
    for (text, expected) in [
        ("plain } {x} text", "plain } {x} text"),
        ("{{prompt}}", "Count, please."),
        ("in {{var:artifacts}}/x", "in /w/artifacts/x"),
        ("{{ result:counts | line_with \"total\" | field 1 }} lines", "42 lines"),
        ("{{result:counts | first_line | trim}}", "12 a.txt"),
        ("{{result:counts | last_line | number}}", "42"),
        ("{{result:counts | line 2 | field 2}}", "b.txt"),
        ("{{result:counts | number 2}}", "30"),
        ("{{result:1 | json \"/a/0/b\"}}", "deep"),
        ("{{result:-2 | json \"/a/1\"}}", "7"),
        ("{{result:-1 | after \"b.txt\" | before \"total\" | trim}}", "42"),
        ("{{result:counts | between \"12 \" \"\\n\"}}", "a.txt"),
        ("{{last | number}}", "7"),
        ("{{filler:12}}", "1. This line"),
        ("{{filler:200 | line 2 | number}}", "2"),
        ("{{\"{{\"}}a}} {{\"}}\"}}", "{{a}} }}"),
    ] {
        assert_eq!(fill(text).as_deref(), Ok(expected), "{text}");
    }
}

#[test]
fn what_cannot_be_filled_is_an_error() {
    for (text, expected) in [
        ("{{result:other}}", r#"cannot fill {{result:other}}: the call "other" has no result yet"#),
        ("{{result:3}}", "cannot fill {{result:3}}: there are only 2 tool results"),
        ("{{var:nothing}}", r#"cannot fill {{var:nothing}}: the host gave no variable "nothing""#),
        ("{{prompt | number}}", r#"cannot fill {{prompt | number}}: no number 1 in "Count, please.""#),
        ("{{prompt | line 2}}", r#"cannot fill {{prompt | line 2}}: no line 2 in "Count, please.""#),
    ] {
        assert_eq!(fill(text).unwrap_err(), expected);
    }
    assert!(fill("{{prompt | json \"/a\"}}").unwrap_err().contains("not JSON"));
    assert!(fill("{{result:1 | json \"/zz\"}}").unwrap_err().contains("nothing at"));
}

#[test]
fn a_wrong_quotation_says_what_to_write() {
    for (text, expected) in [
        ("{{result:x", "is not closed"),
        ("{{}}", "is empty; write result:ID"),
        ("{{reslt:x}}", "unknown source \"reslt:x\"; write result:ID"),
        ("{{result:}}", "needs the id of a call or a number"),
        ("{{result:0}}", "counted from 1"),
        ("{{prompt | upper}}", "unknown filter \"upper\"; known are first_line"),
        ("{{prompt | line}}", "line needs a number"),
        ("{{prompt | line x}}", "line needs a number from 1 on"),
        ("{{prompt | between \"a\"}}", "between needs two texts"),
        ("{{prompt | json /a}}", "json needs one text in double quotes"),
        ("{{prompt |}}", "a filter is expected after |"),
        ("{{filler:x}}", "a number of characters from 1"),
        ("{{filler:0}}", "a number of characters from 1"),
        ("{{prompt last}}", "one source is expected"),
    ] {
        let error = fill(text).unwrap_err();
        assert!(error.contains(expected), "{text}: {error}");
    }
}

#[test]
fn a_filler_has_the_length_it_says() {
    for length in [1, 12, 79, 40_000] {
        assert_eq!(fill(&format!("{{{{filler:{length}}}}}")).unwrap().len(), length);
    }
}

#[test]
fn numbers_keep_signs_and_separators() {
    let all = |text| numbers(text).collect::<Vec<_>>();
    assert_eq!(all("a 1,234.5 b -7, 3. x-9 2.1.197"), ["1,234.5", "-7", "3", "9", "2.1.197"]);
    assert_eq!(all("共 57 行"), ["57"]);
    assert!(all("none").is_empty());
}

#[test]
fn inputs_are_filled_in_depth_and_can_hold_json() {
    let input = json!({"path":"{{var:artifacts}}/a","limit":"{{result:counts | number | as_json}}",
        "list":["{{prompt}}", 3, {"deep":"{{result:counts | last_line | number}}"}],"flag":true});
    let template = InputTemplate::parse(input.as_object().unwrap()).unwrap();
    let conversation = conversation();
    let filled = template
        .fill(&Sources {
            conversation: &conversation,
            variables: &BTreeMap::from([("artifacts".to_owned(), "/w".to_owned())]),
            named: &BTreeMap::from([("counts".to_owned(), conversation.outcomes[1].text.clone())]),
        })
        .unwrap();
    assert_eq!(
        Value::Object(filled),
        json!({"path":"/w/a","limit":12,"list":["Count, please.",3,{"deep":"42"}],"flag":true})
    );
}

#[test]
fn a_literal_is_written_so_that_it_reads_back() {
    for text in ["", "plain", "{{x}}", "a {{{{ b }} {", "{{\"q\"}}", "{{{"] {
        let literal = Template::literal(text);
        assert_eq!(Template::parse(&literal.written()), Ok(literal), "{text}");
    }
}
