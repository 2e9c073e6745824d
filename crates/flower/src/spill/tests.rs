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

    let nowhere = SpillGuard::new(SpillPolicy::default(), desk.dir.path().join("nowhere"), Lang::En);
    let desk = Desk { guard: nowhere, ..desk };
    assert_eq!(desk.bash("make listing", &text), None);
    assert_eq!(desk.guard.failures().len(), 1);
}

#[test]
fn a_file_that_is_no_longer_kept_is_said_to_be_gone() {
    let desk = Desk::new();
    let failed = |tool, input: &Value| {
        let input = input.to_string();
        desk.guard.after_failure(&Returned {
            call: "c",
            tool,
            worker: None,
            cwd: desk.dir.path(),
            input: &input,
            output: "",
        })
    };
    assert!(failed("Read", &json!({"file_path": "spill/0123456789abcdef.txt"})).is_some());
    assert!(failed("Bash", &json!({"command": "cat link/0123456789abcdef.txt"})).is_some());
    assert!(failed("Read", &json!({"file_path": "spill/no-such-name.txt"})).is_none());
    assert!(failed("Bash", &json!({"command": "false"})).is_none());
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
