//! A long run as a scenario: a coordinator with many workers, or one agent that makes all the calls itself.

use std::fmt::Write as _;

/// How long it is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Length {
    /// Tasks, one worker each.
    pub(crate) tasks: usize,
    /// Calls that a task takes.
    pub(crate) calls: usize,
    /// Prompts that the run is divided into: each but the first takes the session up again.
    pub(crate) prompts: usize,
}

/// Who makes the calls of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Labour {
    /// A worker: the main thread sees a report.
    Divided,
    /// The main thread.
    Undivided,
}

/// Files that the calls look at, by name.
pub(crate) fn files() -> impl Iterator<Item = (String, String)> {
    (0..20).map(|number| {
        let text = format!("part {number} holds lines like this one\n").repeat(40);
        (format!("part-{number}.txt"), text)
    })
}

/// The scenario. The same calls are made in both ways of labour.
pub(crate) fn scenario(length: Length, labour: Labour) -> String {
    let mut text = "[[thread]]\nname = \"lead\"\nmatch = { agent = \"main\" }\n".to_owned();
    for task in 0..length.tasks {
        match labour {
            Labour::Divided => call(
                &mut text,
                "Agent",
                &format!(
                    "subagent_type = \"analyst\", description = \"Task {task}\", prompt = \"Task {task}: look through data/ and report.\""
                ),
            ),
            Labour::Undivided => work(&mut text, length.calls),
        }
        bash(&mut text, &format!("cat data/part-{}.txt", task % 20));
        bash(&mut text, "wc -l data/*.txt | tail -1");
        bash(&mut text, "ls -la data");
        if task % 5 == 4 {
            bash(&mut text, &format!("touch not-mine-{task}"));
        }
        if ends_a_prompt(task, length) {
            text.push_str("[[thread.step]]\ntext = \"So far, so good.\"\n");
        }
    }
    if labour == Labour::Divided {
        text.push_str("[[thread]]\nname = \"analyst\"\nmatch = { agent = \"subagent\" }\n");
        work(&mut text, length.calls);
        text.push_str(
            "[[thread.step]]\ntext = \"Conclusion: data/ is as it was. Evidence: every file was read.\"\n",
        );
    }
    text
}

fn ends_a_prompt(task: usize, length: Length) -> bool {
    let done = task + 1;
    (1..=length.prompts).any(|prompt| done == length.tasks * prompt / length.prompts)
}

/// The calls of one task: searches, long outputs, short ones, deeds, failures.
fn work(text: &mut String, calls: usize) {
    for number in 0..calls {
        match number % 8 {
            0 => bash(text, "grep -rn part data | head -60"),
            1 => bash(text, "seq 1 1500"),
            2 | 7 => call(
                text,
                "Read",
                &format!("file_path = \"{{{{var:workspace}}}}/data/part-{}.txt\"", number % 20),
            ),
            3 => bash(text, "wc -l data/*.txt"),
            4 => bash(text, &format!("mkdir -p made && echo done > made/{number}.txt")),
            5 => bash(text, "find data -name '*.txt' | sort"),
            _ => bash(text, "test -f data/missing.txt"),
        }
    }
}

fn bash(text: &mut String, command: &str) {
    call(text, "Bash", &format!("command = {command:?}, description = \"d\""));
}

fn call(text: &mut String, tool: &str, input: &str) {
    let _ = write!(text, "[[thread.step]]\n[[thread.step.call]]\ntool = \"{tool}\"\ninput = {{ {input} }}\n");
}
