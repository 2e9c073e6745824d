use super::*;
use crate::scenario::run::{Begin, Moment, Setting};

fn error(text: &str) -> String {
    parse("s.toml", text).unwrap_err().to_string()
}

#[test]
fn errors_name_the_line_and_what_to_write() {
    let thread = "[[thread]]\nname = \"m\"\n[[thread.step]]\n";
    for (text, expected) in [
        (
            "nmae = 1",
            "s.toml:1: unknown field `nmae`, expected one of `name`, `prompt`, `about`, `window`, `run`, `thread`, `fallback`, `fault`",
        ),
        ("", "s.toml:1: there is nothing to answer with; write a [[thread]] with steps, or a [fallback]"),
        (
            "prompt = \"go\"\nwindow = 0\n[fallback]\ntext = \"a\"\n",
            "s.toml:2: window must be 1 or more, in tokens",
        ),
        ("prompt = \"go\"\n", "s.toml:1: there is nothing to answer with"),
        ("\n[[thread]]\nnaem = \"x\"\n", "s.toml:3: unknown field `naem`"),
        ("[[thread]]\n", "s.toml:1: missing field `name`"),
        ("[[thread]]\nname = \"a\"\n[[thread]]\nname = \"a\"\n", "s.toml:4: two threads are called \"a\""),
        (
            "[[thread]]\nname = \"a\"\nmatch = { agent = \"boss\" }\n",
            "s.toml:3: agent cannot be \"boss\"; write \"main\" or",
        ),
        (
            "[[thread]]\nname = \"a\"\nmatch = { prompt = 3 }\n",
            "s.toml:3: invalid type: integer `3`, expected a text or a list of texts",
        ),
        (&format!("{thread}\n"), "s.toml:3: a step needs text"),
        (
            &format!("{thread}text = \"\"\"\n\n{{{{reslt:x}}}}\"\"\"\n"),
            "s.toml:6: {{reslt:x}}: unknown source",
        ),
        (
            &format!("{thread}text = \"{{{{result:x}}}}\"\n"),
            "s.toml:3: no earlier step has a call with id = \"x\"",
        ),
        (
            &format!("{thread}[[thread.step.call]]\ntool = \"a b\"\n"),
            "s.toml:5: no tool can be called \"a b\"; write up to 200 letters",
        ),
        (&format!("{thread}text = \"a\"\nrepeat = 0\n"), "s.toml:5: repeat must be 1 or more"),
        (
            &format!("{thread}text = \"a\"\nstop_reason = \"done\"\n"),
            "s.toml:5: stop_reason cannot be \"done\"; write \"end_turn\" or",
        ),
        (
            &format!("{thread}call = [{{ id = \"1\", tool = \"Bash\" }}]\n"),
            "s.toml:4: id = \"1\" cannot be quoted",
        ),
        (
            &format!("{thread}call = [{{ tool = \"Bash\", input = {{ command = \"{{{{x}}}}\" }} }}]\n"),
            "s.toml:4: {{x}}: unknown source",
        ),
        ("[[fault]]\nstatus = 529\ncut = 1\n", "s.toml:1: a fault does exactly one of"),
        (
            "[[fault]]\nstatus = 529\nthread = \"x\"\n",
            "s.toml:1: no thread is called \"x\"; the file has no threads",
        ),
        ("[[thread]\n", "s.toml:1: "),
        (
            "[run]\nisolate = true\n",
            "s.toml:2: unknown field `isolate`, expected one of `isolated`, `alone`, `spill`, `expire`, `denials`, `trim`, `handoff`, `retries`, `step`",
        ),
        (
            "[run]\nalone = \"solo\"\n[fallback]\ntext = \"x\"\n",
            "s.toml:2: no thread is called \"solo\"; the file has no threads",
        ),
        ("[run]\n\nspill = true\n", "s.toml:3: invalid value: boolean `true`, expected a number, or false"),
        ("[run]\nexpire = -1\n", "s.toml:2: write 0 or more, or false for off"),
        ("[[run.step]]\nstart = \"fresh\"\n", "s.toml:1: missing field `prompt`"),
        (
            "[[run.step]]\nprompt = \"a\"\nstart = \"resume\"\n",
            "s.toml:3: the first step has no session to go on from",
        ),
        (
            "[[run.step]]\nprompt = \"a\"\n[[run.step]]\nprompt = \"b\"\nstart = \"again\"\n",
            "s.toml:5: start cannot be \"again\"; write \"fresh\" or \"resume\" or \"fork\"",
        ),
        (
            "prompt = \"a\"\n[[run.step]]\nprompt = \"b\"\n",
            "s.toml:2: the file has a prompt at its top and steps of a run",
        ),
        (
            "[[run.step]]\nprompt = \"a\"\nkill = { file = \"x\" }\n",
            "s.toml:1: the last step is killed; write one behind it",
        ),
        (
            "[[run.step]]\nprompt = \"a\"\nkill = { file = \"x\", said = \"y\" }\n",
            "s.toml:3: a moment is exactly one of",
        ),
        (
            "[[run.step]]\nprompt = \"a\"\nkill = { file = \"x\" }\n[[run.step.interrupt]]\nwhen = { called = \"Bash\" }\nsay = \"s\"\n",
            "s.toml:3: a step is interrupted or killed, not both",
        ),
        (
            "[[run.step]]\nprompt = \"a\"\n[[run.step.interrupt]]\nwhen = { call = \"Bash\" }\nsay = \"s\"\n",
            "s.toml:4: unknown field `call`, expected one of `file`, `called`, `said`",
        ),
    ] {
        let message = error(text);
        assert!(message.starts_with(expected), "{text}\n{message}");
    }
}

#[test]
fn a_whole_file_is_read() {
    let scenario = parse(
        "s.toml",
        r#"
        name = "all of it"
        about = "Shows all of it."
        window = 60000
        [run]
        isolated = true
        alone = "main"
        spill = 1000
        expire = false
        trim = 2
        [[run.step]]
        prompt = "first"
        [[run.step]]
        prompt = "second"
        idle_seconds = 301
        kill = { file = "begun" }
        [[run.step]]
        prompt = "third"
        start = "fork"
        [[run.step.interrupt]]
        when = { called = "Bash" }
        say = "Stop."
        [[run.step.interrupt]]
        when = { said = "Stopped" }
        say = "Go on."
        [[thread]]
        name = "main"
        match = { agent = "main", prompt = ["a", "b"], last = "c", system = "d", model = "opus" }
        after_last = "repeat"
        [[thread.step]]
        thinking = "hm"
        text = "go"
        output_tokens = 5
        delay_ms = 10
        pace_ms = 2
        repeat = 3
        [[thread.step.call]]
        id = "one"
        tool = "Bash"
        input = { command = "ls", timeout = 1000, run_in_background = false }
        [[thread.step.call]]
        tool = "Read"
        input.file_path = "/a"
        [[thread.step]]
        redacted_thinking = true
        text = "{{result:one}}"
        stop_reason = "max_tokens"
        [fallback]
        text = "hello"
        [[fault]]
        thread = "main"
        step = 2
        status = 529
        retry_after = 1
        "#,
    )
    .unwrap();
    let thread = &scenario.threads[0];
    assert_eq!(scenario.name, "all of it");
    assert_eq!(scenario.window, Some(60_000));
    assert_eq!(thread.len(), 4);
    assert_eq!(thread.matches.prompt, ["a", "b"]);
    assert_eq!(thread.step_at(2), thread.steps.first());
    assert_eq!(thread.step_at(99), thread.steps.last(), "after_last = repeat");
    assert_eq!(thread.steps[0].calls[1].tool, "Read");
    assert_eq!(thread.steps[1].thinking, Some(Thought::Redacted));
    assert_eq!(scenario.faults.len(), 1);
    let run = &scenario.run;
    assert!(run.isolated);
    assert_eq!(run.alone.as_deref(), Some("main"));
    assert_eq!(
        [run.spill, run.expire, run.denials, run.trim],
        [Setting::At(1000), Setting::Off, Setting::Usual, Setting::At(2)]
    );
    let starts: Vec<_> = run.steps.iter().map(|step| (step.start, step.idle.as_secs())).collect();
    assert_eq!(starts, [(Begin::Fresh, 0), (Begin::Resume, 301), (Begin::Fork, 0)]);
    assert_eq!(run.steps[1].kill, Some(Moment::File("begun".into())));
    let [first, second] = run.steps[2].interrupts.as_slice() else { panic!("{:?}", run.steps[2]) };
    assert_eq!((&first.when, first.say.as_str()), (&Moment::Called("Bash".into()), "Stop."));
    assert_eq!(second.when, Moment::Said("Stopped".into()));
    assert_eq!(parse("s.toml", &scenario.to_toml()).unwrap(), scenario, "written and read again");
}

#[test]
fn endless_repeats_have_an_end_that_can_be_counted() {
    let step = format!("[[thread.step]]\ntext = \"a\"\nrepeat = {}\n", i64::MAX);
    let scenario = parse("s.toml", &format!("[[thread]]\nname = \"m\"\n{}", step.repeat(3))).unwrap();
    assert_eq!(scenario.threads[0].len(), usize::MAX);
}
