//! The guard with its edge: what it puts on disk, and what it says of a spilled file that is read back.

use serde_json::json;

use super::*;

struct Desk {
    dir: tempfile::TempDir,
    guard: SpillGuard,
}

impl Desk {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("spill")).unwrap();
        std::os::unix::fs::symlink(dir.path().join("spill"), dir.path().join("link")).unwrap();
        std::fs::write(dir.path().join("other.txt"), listing(2500)).unwrap();
        let guard = SpillGuard::new(SpillPolicy::default(), dir.path().join("spill"), Lang::En);
        Self { dir, guard }
    }

    fn after(&self, tool: &str, input: &Value, output: &Value) -> Option<Value> {
        self.guard.after_call(&Returned {
            call: "toolu_1",
            tool,
            worker: None,
            cwd: self.dir.path(),
            input: &input.to_string(),
            output: &output.to_string(),
        })
    }

    fn bash(&self, command: &str, stdout: &str) -> Option<String> {
        let output = self.after("Bash", &json!({"command": command}), &bash(stdout))?;
        Some(output["stdout"].as_str().unwrap().to_owned())
    }

    fn spilled(&self) -> Vec<String> {
        let names = std::fs::read_dir(self.dir.path().join("spill")).unwrap();
        names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    fn only_spilled(&self) -> String {
        let [name] = &*self.spilled() else { panic!("{:?}", self.spilled()) };
        name.clone()
    }
}

fn bash(stdout: &str) -> Value {
    json!({"stdout": stdout, "stderr": "", "interrupted": false, "isImage": false, "noOutputExpected": false})
}

fn listing(lines: usize) -> String {
    (0..lines).map(|line| format!("{line:06} some line of the result\n")).collect::<Vec<_>>().concat()
}

#[test]
fn a_spilled_file_holds_what_the_pointer_says() {
    let desk = Desk::new();
    let text = format!("head\0\0\u{1}{}TAIL-MARK", "binary \0\u{1}\n".repeat(3000));
    let shown = desk.bash("cat blob.bin", &text).unwrap();
    let name = desk.only_spilled();
    let path = desk.dir.path().canonicalize().unwrap().join("spill").join(&name);
    assert!(
        shown.starts_with(&format!("[spilled to {}: {} characters, ", path.display(), text.chars().count())),
        "{shown}"
    );
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    assert!(shown.ends_with("TAIL-MARK") && !shown.contains('\0'));
    // Once more: the same file.
    assert_eq!(desk.bash("cat blob.bin", &text), Some(shown));
    assert_eq!(desk.spilled(), [name]);
}

#[test]
fn reading_a_spilled_file_back_is_never_a_spill() {
    let desk = Desk::new();
    let text = listing(900);
    desk.bash("make listing", &text).unwrap();
    let name = desk.only_spilled();
    let file = desk.dir.path().join("spill").join(&name);
    let (file, dir) = (file.display(), desk.dir.path().display());
    for command in [
        format!("cat {file}"),
        format!("cat \"{file}\" | head -n 2300"),
        format!("sed -n 1,2300p {file}"),
        format!("cd {dir}/spill && cat {name}"),
        format!("cat spill/{name}"),
        format!("cat {dir}/link/{name}"),
        format!("f='{file}'; head -800 $f | tail -500"),
        "cat spill/*.txt".to_owned(),
    ] {
        assert_eq!(desk.bash(&command, &text), None, "{command}");
    }
    for (tool, input, output) in [
        ("Read", json!({"file_path": file.to_string()}), json!({"type": "text", "file": {"content": text}})),
        (
            "Read",
            json!({"file_path": format!("{dir}/link/{name}")}),
            json!({"type": "text", "file": {"content": text}}),
        ),
        (
            "Grep",
            json!({"pattern": "some", "path": file.to_string()}),
            json!({"mode": "content", "content": &text[..19_000]}),
        ),
    ] {
        assert_eq!(desk.after(tool, &input, &output), None, "{tool} {input}");
    }
    assert_eq!(desk.spilled(), [name]);
}

#[test]
fn a_path_that_is_only_mentioned_exempts_nothing() {
    let desk = Desk::new();
    desk.bash("make listing", &listing(900)).unwrap();
    let file = desk.dir.path().join("spill").join(desk.only_spilled());
    let file = file.display();
    for (index, command) in [
        format!("cargo test # {file}"),
        format!("cat {file}; cargo test"),
        format!("cat other.txt {file}"),
        format!("python3 check.py {file}"),
        format!("echo {file}; cat other.txt"),
    ]
    .iter()
    .enumerate()
    {
        let shown = desk.bash(command, &listing(1000 + index)).unwrap_or_else(|| panic!("{command}"));
        assert!(shown.starts_with("[spilled to "), "{command}");
    }
}

#[test]
fn what_the_harness_would_cut_comes_in_pages_of_real_text() {
    let desk = Desk::new();
    let text = listing(2500);
    desk.bash("make listing", &text).unwrap();
    let file = desk.dir.path().join("spill").join(desk.only_spilled());
    let (mut got, mut command, mut rest) = (String::new(), format!("cat {}", file.display()), text.as_str());
    for _ in 0..5 {
        let Some(page) = desk.bash(&command, rest) else {
            got.push_str(rest);
            break;
        };
        let (lines, go_on) = page.rsplit_once('\n').unwrap();
        got.push_str(lines);
        got.push('\n');
        command = go_on.split('`').nth(1).unwrap().to_owned();
        let next: usize = command.split(['\'', ',']).nth(1).unwrap().parse().unwrap();
        let (before, _) = text.match_indices('\n').nth(next - 2).unwrap();
        rest = &text[before + 1..];
    }
    assert_eq!(got, text);
    assert_eq!(desk.spilled().len(), 1);
}

#[test]
fn long_output_comes_whole_from_the_file_of_the_harness() {
    let desk = Desk::new();
    let whole = listing(5000);
    let kept = desk.dir.path().join("b1.txt");
    std::fs::write(&kept, &whole).unwrap();
    let output = |path: &Path| {
        let mut output = bash(&whole[..30_000]);
        output["persistedOutputPath"] = path.display().to_string().into();
        output["persistedOutputSize"] = whole.len().into();
        output
    };
    let input = json!({"command": "make listing"});
    let replaced = desk.after("Bash", &input, &output(&kept)).unwrap();
    assert_eq!(replaced.as_object().unwrap().keys().filter(|name| name.starts_with("persisted")).count(), 0);
    let file = desk.dir.path().join("spill").join(desk.only_spilled());
    assert_eq!(std::fs::read_to_string(&file).unwrap(), whole);
    assert!(replaced["stdout"].as_str().unwrap().ends_with("004999 some line of the result"));

    // Read back, it is the first page of the file itself.
    let back =
        desk.after("Bash", &json!({"command": format!("cat {}", file.display())}), &output(&kept)).unwrap();
    assert!(back["stdout"].as_str().unwrap().starts_with("000000 some line"));
    assert!(back.get("persistedOutputPath").is_none());

    // The file is gone: the harness's own preview stays, and somebody is told.
    assert_eq!(desk.after("Bash", &input, &output(&desk.dir.path().join("gone"))), None);
    assert!(matches!(&*desk.guard.failures(), [Fate::Failed { why, .. }] if why.contains("gone")));
}

#[test]
fn when_the_disk_refuses_the_result_stays_as_it_was() {
    let desk = Desk::new();
    let text = listing(900);
    let name = SpillFile::of(text.clone()).name;
    std::fs::create_dir(desk.dir.path().join("spill").join(&name)).unwrap();
    assert_eq!(desk.bash("make listing", &text), None);
    assert!(matches!(&*desk.guard.failures(), [Fate::Failed { why, .. }] if why.contains(&name)));
    assert_eq!(desk.guard.failures(), [], "told once");

    let nowhere = SpillGuard::new(SpillPolicy::default(), desk.dir.path().join("no/where"), Lang::En);
    let desk = Desk { guard: nowhere, ..desk };
    assert_eq!(desk.bash("make listing", &text), None);
    assert_eq!(desk.guard.failures().len(), 1);
}

#[test]
fn whatever_reads_a_spilled_file_gets_its_text() {
    let desk = Desk::new();
    let text = listing(900);
    desk.bash("make listing", &text).unwrap();
    let name = desk.only_spilled();
    let file = desk.dir.path().join("spill").join(&name).display().to_string();
    for command in [
        format!("python3 -c \"print(open('{file}').read())\""),
        format!("while read -r line; do echo \"$line\"; done < {file}"),
        format!("for f in {file}; do cat $f; done"),
        format!("echo {file} | xargs cat"),
    ] {
        assert_eq!(desk.bash(&command, &text), None, "{command}");
        assert_eq!(desk.bash(&command, &text[310..20_000]), None, "{command}");
        assert!(desk.bash(&command, &listing(901)).is_some(), "something else than the file: {command}");
    }
    let numbered = text.lines().take(600).enumerate().map(|(at, line)| format!("{:6}\t{line}", at + 1));
    let numbered = numbered.collect::<Vec<_>>().join("\n");
    assert_eq!(desk.bash(&format!("python3 number.py {file}"), &numbered), None);
    assert!(desk.bash(&format!("make listing # {file}"), &text).is_some(), "a comment reads nothing");

    let guard =
        SpillGuard::new(SpillPolicy::default().also([Also::Mcp]), desk.dir.path().join("spill"), Lang::En);
    let desk = Desk { guard, ..desk };
    let blocks = json!([{"type": "text", "text": text}]);
    assert_eq!(desk.after("mcp__fs__read_file", &json!({"path": file}), &blocks), None);
    assert!(desk.after("mcp__fs__read_file", &json!({"path": "/etc/hosts"}), &blocks).is_some());
}

impl Desk {
    fn missed(&self, tool: &str, input: &Value, error: Option<&str>) -> Option<String> {
        let returned = Returned {
            call: "c",
            tool,
            worker: None,
            cwd: self.dir.path(),
            input: &input.to_string(),
            output: "",
        };
        self.guard.missed(&returned, error)
    }
}

#[test]
fn a_file_that_is_no_longer_kept_is_said_to_be_gone() {
    let desk = Desk::new();
    let gone = |tool, input: Value, error| {
        desk.missed(tool, &input, error).as_deref() == Some(texts(Lang::En).spill_gone)
    };
    let name = "0123456789abcdef.txt";
    let no_such = format!("cat: {name}: No such file or directory");
    assert!(gone("Read", json!({"file_path": format!("spill/{name}")}), Some("File does not exist.")));
    assert!(gone("Bash", json!({"command": format!("cat link/{name}")}), Some(&no_such)));
    assert!(gone("Bash", json!({"command": format!("cd spill && cat {name}")}), Some(&no_such)));
    // Not every call fails that finds nothing.
    assert!(gone("Bash", json!({"command": format!("cat spill/{name} 2>/dev/null || echo none")}), None));
    assert!(gone(
        "Bash",
        json!({"command": format!("test -f spill/{name} && cat spill/{name}; true")}),
        None
    ));
    assert!(gone("Bash", json!({"command": format!("python3 -c \"open('spill/{name}')\"")}), Some(&no_such)));
    for (tool, input, error) in [
        ("Read", json!({"file_path": "spill/no-such-name.txt"}), Some("File does not exist.")),
        ("Read", json!({"file_path": format!("elsewhere/{name}")}), Some("File does not exist.")),
        ("Bash", json!({"command": "false"}), Some("")),
        ("Bash", json!({"command": format!("make # spill/{name}")}), Some("error: 1")),
        ("Write", json!({"file_path": "notes/a.md", "content": format!("spill/{name}")}), None),
    ] {
        assert_eq!(desk.missed(tool, &input, error), None, "{tool} {input}");
    }
}

#[test]
fn a_file_that_is_there_is_not_missed() {
    let desk = Desk::new();
    desk.bash("make listing", &listing(900)).unwrap();
    let name = desk.only_spilled();
    for (command, error) in [
        (format!("cat spill/{name} | head -3"), None),
        (format!("cd spill && head -3 {name}"), None),
        (format!("head -3 spill/{name}; false"), Some("000000 some line of the result")),
        (format!("cat spill/{name} other"), Some("cat: other: No such file or directory")),
    ] {
        assert_eq!(desk.missed("Bash", &json!({"command": command}), error), None, "{command}");
    }
    // The workspace was somewhere else when the pointer was written.
    let moved = desk.missed(
        "Read",
        &json!({"file_path": format!("/old/place/.flower/spill/{name}")}),
        Some("File does not exist."),
    );
    let path = desk.dir.path().canonicalize().unwrap().join("spill").join(&name);
    assert_eq!(moved, Some(format!("That spilled file lies at {}.", path.display())));
}

#[test]
fn tools_that_do_not_see_the_directory_get_the_text_and_nothing_more_is_moved() {
    let desk = Desk::new();
    let text = listing(900);
    desk.bash("make listing", &text).unwrap();
    let name = desk.only_spilled();
    let error = format!("Exit code 1\ncat: spill/{name}: No such file or directory");
    let told = desk.missed("Bash", &json!({"command": format!("cat spill/{name}")}), Some(&error)).unwrap();
    assert!(told.contains("000000 some line") && !told.contains("000890 some line"), "{told}");
    assert_eq!(desk.bash("make more", &listing(800)), None, "what would be moved could not be read");
    assert!(
        matches!(&*desk.guard.failures(), [Fate::Failed { why, .. }] if why.contains(&name)),
        "told once"
    );
}

#[test]
fn a_threshold_of_nothing_is_no_guard() {
    assert_eq!(SpillPolicy::over(None), None);
    assert_eq!(SpillPolicy::over(Some(0)), None);
    assert_eq!(SpillPolicy::over(Some(THRESHOLD)), Some(SpillPolicy::default()));
}

#[test]
fn other_tools_are_looked_at_on_request() {
    let policy = SpillPolicy::default();
    assert_eq!(policy.matcher(), "Bash|Read|Grep|Glob|WebFetch|WebSearch");
    assert!(!policy.looks_at("Agent") && !policy.looks_at("mcp__a__b") && !policy.looks_at("Write"));
    let policy = policy.also([Also::Mcp, Also::Reports]);
    assert_eq!(policy.matcher(), "Bash|Read|Grep|Glob|WebFetch|WebSearch|mcp__.*|Agent");
    assert!(policy.looks_at("Agent") && policy.looks_at("mcp__a__b") && !policy.looks_at("Write"));
}
