use proptest::prelude::*;

use super::*;

/// The parts found in a text, as `Doing=…`.
fn read(text: &str) -> String {
    match Document::parse(text) {
        Ok(document) => {
            let parts = Part::ALL.into_iter().filter(|part| !document.part(*part).is_empty());
            parts.map(|part| format!("{part:?}={}", document.part(part))).collect::<Vec<_>>().join("|")
        }
        Err(missing) => missing.to_string(),
    }
}

fn check(text: &str, expected: &str) {
    assert_eq!(read(text), expected, "{text}");
}

#[test]
fn the_five_parts_are_read_in_both_languages() {
    let expected = "Doing=a|Decided=b|DeadEnds=c|Next=d|Scene=e";
    check("## Doing\na\n## Decided\nb\n## Dead ends\nc\n## Next\nd\n## Scene\ne\n", expected);
    check("# 在做什么\r\na\r\n\r\n# 已决定\r\nb\r\n# 死路\r\nc\r\n# 下一步\r\nd\r\n# 现场\r\ne", expected);
    check(
        "**1. Doing**\na\n**2. Decided (with reasons)**\nb\n**3. Dead ends**\nc\n**4. Next**\nd\n**5. Scene**\ne",
        expected,
    );
    check(
        "Here it is:\n\n### Next: d\n### Scene\ne\n#### 已决定\u{ff1a}\nb\n# Dead ends — c\n1. Doing\na\n",
        expected,
    );
    check("Doing: a\nDecided: b\nDead ends: c\nNext: d\nScene: e", expected);
}

#[test]
fn what_is_written_stays() {
    check("## Doing\n\n- a\n  - b\n\n    code\n\n\n## Next\nd  \n", "Doing=- a\n  - b\n\n    code|Next=d");
    check("## Doing\n### Notes\na\n## Next\nd\n## Other\nx", "Doing=### Notes\na|Next=d\n## Other\nx");
    check("## Doing\na\n## Next\nd\n## Doing\nb", "Doing=a\n\nb|Next=d");
    check("\u{feff}## Doing\na\u{1b}[31mb\0\n## Next\nd", "Doing=a[31mb|Next=d");
}

#[test]
fn headings_in_fenced_code_are_code() {
    check(
        "## Doing\n```md\n## Next\nnot this\n```\n## Next\nd",
        "Doing=```md\n## Next\nnot this\n```|Next=d",
    );
    check("~~~\n## Doing\nx\n~~~\n## Doing\na\n## Next\nd", "Doing=a|Next=d");
    // The whole answer in a fence, or a fence that was never closed: the document counts.
    check("Here:\n```markdown\n## Doing\na\n## Next\nd\n```", "Doing=a|Next=d");
    check("````\n## Doing\n```\n# Scene\n```\n## Next\nd\n````", "Doing=```\n# Scene\n```|Next=d");
    check("## Doing\n```\na\n## Next\nd", "Doing=```\na\n```|Next=d");
}

#[test]
fn what_is_missing_is_named() {
    check("", r#"the document says nothing under "Doing" and "Next""#);
    check("## Doing\na", r#"the document says nothing under "Next""#);
    check("## Doing\n\n## Next\nd", r#"the document says nothing under "Doing""#);
    check("I cannot do this.", r#"the document says nothing under "Doing" and "Next""#);
}

#[test]
fn what_is_there_of_an_incomplete_document_is_salvaged() {
    for (text, part, expected) in [
        ("## Decided\nSQLite.\n## Next\nTests.", Part::Decided, "SQLite."),
        ("```\n## Decided\nSQLite.\n```", Part::Decided, "SQLite.\n```\n```"),
        ("Next: run the tests", Part::Next, "run the tests"),
        ("I cannot do this.", Part::Doing, ""),
        ("", Part::Doing, ""),
    ] {
        assert_eq!(Document::salvage(text).part(part), expected, "{text}");
    }
}

#[test]
fn headings_that_a_part_holds_stay_in_it() {
    for inside in [
        "## Next\nx",
        "\\## Next",
        "\\\\# 下一步\u{ff1a}x",
        "4. Next",
        "Next:",
        "  **Next:** x",
        "```\n# Next",
        "~~~\n## Next\n~~~",
    ] {
        let document = Document::new([(Part::Doing, inside), (Part::Next, "d")]);
        for lang in [Lang::En, Lang::Zh] {
            assert_eq!(Document::parse(&document.render(lang)), Ok(document.clone()), "{inside}");
        }
    }
}

#[test]
fn a_rendered_document_is_readable() {
    let document = Document::new([(Part::Next, "Run the tests."), (Part::Doing, "Porting the reader.")]);
    assert_eq!(document.render(Lang::En), "## Doing\n\nPorting the reader.\n\n## Next\n\nRun the tests.\n");
    assert_eq!(
        document.render(Lang::Zh),
        "## 在做什么\n\nPorting the reader.\n\n## 下一步\n\nRun the tests.\n"
    );
}

#[test]
fn a_long_document_is_cut_part_by_part() {
    let document = Document::new([
        (Part::Doing, "short".to_owned()),
        (Part::Decided, format!("first {} last", "数".repeat(10_000))),
        (Part::Next, format!("```\n{}\n```", "x\n".repeat(5_000))),
    ]);
    assert_eq!(document.shortened(100_000, Lang::En, "n.md"), document);
    for lang in [Lang::En, Lang::Zh] {
        let short = document.shortened(2_000, lang, "notes/handoff-1-abc.md");
        assert_eq!(short.part(Part::Doing), "short");
        let decided = short.part(Part::Decided);
        assert!(decided.starts_with("first ") && decided.ends_with(" last"), "{decided}");
        for part in [Part::Decided, Part::Next] {
            assert!(short.part(part).contains("notes/handoff-1-abc.md"), "{}", short.part(part));
        }
        let rendered = short.render(lang);
        assert!(rendered.chars().count() < 2_600, "{}", rendered.chars().count());
        assert_eq!(Document::parse(&rendered), Ok(short));
    }
}

/// Texts that are full of what matters here.
fn texts_with_headings() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("## Doing".to_owned()),
        Just("# 下一步\u{ff1a}".to_owned()),
        Just("**Next:** x".to_owned()),
        Just("\\## Next".to_owned()),
        Just("Scene:".to_owned()),
        Just("Decided: x".to_owned()),
        Just("4. Next".to_owned()),
        Just("```".to_owned()),
        Just("~~~".to_owned()),
        Just("````sh".to_owned()),
        Just("\r".to_owned()),
        Just("\\".to_owned()),
        Just("  ".to_owned()),
        Just(String::new()),
        "[ -~]{0,12}",
        any::<String>(),
    ];
    proptest::collection::vec((piece, prop_oneof![Just("\n"), Just(""), Just("\r\n")]), 0..12)
        .prop_map(|pieces| pieces.into_iter().flat_map(|(piece, end)| [piece, end.to_owned()]).collect())
}

proptest! {
    #[test]
    fn a_rendered_document_is_read_as_it_was(
        parts in proptest::collection::vec(texts_with_headings(), 5),
        zh: bool,
    ) {
        let document = Document::new(Part::ALL.into_iter().zip(&parts));
        prop_assume!(document.check().is_ok());
        let lang = if zh { Lang::Zh } else { Lang::En };
        prop_assert_eq!(Document::parse(&document.render(lang)), Ok(document));
    }

    #[test]
    fn a_text_of_any_kind_is_read_without_panic_and_once(text in texts_with_headings()) {
        if let Ok(document) = Document::parse(&text) {
            prop_assert!(document.check().is_ok());
            prop_assert_eq!(Document::parse(&document.render(Lang::En)), Ok(document));
        }
    }

    #[test]
    fn a_shortened_document_keeps_its_required_parts(
        parts in proptest::collection::vec(texts_with_headings(), 5),
        most in 60_usize..400,
    ) {
        let document = Document::new(Part::ALL.into_iter().zip(&parts));
        prop_assume!(document.check().is_ok());
        prop_assert!(document.shortened(most, Lang::Zh, "x.md").check().is_ok());
    }
}
