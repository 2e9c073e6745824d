//! A long run as a scenario: a coordinator with many workers, and beside it one agent that makes the same calls alone.
//!
//! Each task is a task brief, a worker that reads, searches, counts, writes a script and runs it, fails now and then, and
//! reports; behind it the coordinator takes a look or two of its own, and every sixth time tries to lend a hand. The run has
//! several prompts: each but the first takes the session up again.

use std::fmt::Write as _;

/// How long it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Length {
    /// Tasks, one worker each.
    pub(super) tasks: usize,
    /// Calls that a task takes.
    pub(super) calls: usize,
    /// Prompts that the run is divided into.
    pub(super) prompts: usize,
}

/// What is said, in one language. `{task}` is the number of a task.
pub(super) struct Words {
    about: &'static str,
    about_small: &'static str,
    prompt: &'static str,
    decision: &'static str,
    brief: &'static str,
    looks: [&'static str; 3],
    own_hands: &'static str,
    so_far: &'static str,
    working: [&'static str; 5],
    report: &'static str,
}

pub(super) static ENGLISH: Words = Words {
    about: "Thirty workers, a thousand calls, three prompts: what stays out of the main thread. Takes some minutes.",
    about_small: "The same play as `long` with four workers, in less than a minute.",
    prompt: "Go on with the parts of data/ that are still open, and say where we are.",
    decision: "Part {task} comes next. It is counted before it is compared, because the earlier parts showed that lines are no measure of size: the longest file has few of them. What is found goes to artifacts, so that a later part can be held against it.",
    brief: "[part {task}] Goal: know part {task} of data/: how many lines, which words stand out, what is missing. Acceptance: every number comes from a command, and a second look confirms it. Write the check that you will run again as a script on the workbench, and long output to the artifacts. Reply with conclusion, evidence, paths and what you did not verify.",
    looks: ["A look at the beginning.", "The sizes now.", "And whether a file has come or gone."],
    own_hands: "I put a mark there myself.",
    so_far: "Up to part {task} all is counted: the texts have {{result:sizes-{task} | last_line | field 1}} bytes.",
    working: [
        "I look for the word that stands out.",
        "That is more than I thought; I read on.",
        "This is to be checked a second time.",
        "Now the numbers.",
        "One more comparison, then I report.",
    ],
    report: "Conclusion: part {task} holds {{result:lines-{task} | last_line | field 1}} lines, and no file is missing. Evidence: counted twice, once by lines and once by the script. Output: {{var:artifacts}}/lines-{task}.txt, .flower/scripts/words-{task}.sh. Unverified: whether the texts are complete.",
};

pub(super) static CHINESE: Words = Words {
    about: "三十个执行者、上千次调用、三次提问:什么没有进主线程。要演几分钟。",
    about_small: "和 `long` 是同一出戏,只有四个执行者,不到一分钟。",
    prompt: "接着做 data/ 里还没做完的部分,说说进展到哪里了。",
    decision: "接下来是第 {task} 部分。先数后比,因为前面几部分表明行数量不出大小:最长的文件行数并不多。查到的写进 artifacts,以后的部分可以拿来对照。",
    brief: "[part {task}] 目标:摸清 data/ 的第 {task} 部分:有多少行、哪些词突出、缺了什么。验收:每个数字都出自命令,并再看一遍确认。会再跑的检查写成工作台上的脚本,长输出写进 artifacts。回话只给结论、证据、路径和没有验证的。",
    looks: ["看一眼开头。", "再看大小。", "看看有没有文件多了或少了。"],
    own_hands: "我自己做个记号。",
    so_far: "到第 {task} 部分都数完了:文本共 {{result:sizes-{task} | last_line | field 1}} 字节。",
    working: [
        "找那个突出的词。",
        "比想的多,接着读。",
        "这个要再查一遍。",
        "现在数数字。",
        "再比一次就汇报。",
    ],
    report: "结论:第 {task} 部分有 {{result:lines-{task} | last_line | field 1}} 行,没有缺文件。证据:数了两遍,一遍按行,一遍用脚本。输出:{{var:artifacts}}/lines-{task}.txt、.flower/scripts/words-{task}.sh。未验证:文本是否完整。",
};

/// A worker reads its number off its task brief: all workers play one thread.
const OWN_TASK: &str = r#"{{prompt | between "[part " "]"}}"#;

/// Words that a script counts, one a run.
const COUNTED: [&str; 5] = ["river", "stone", "harbour", "copper", "thread"];

/// The scenario as a file.
pub(super) fn scenario(name: &str, length: Length, words: &Words) -> String {
    let about = if length.tasks > 10 { words.about } else { words.about_small };
    let mut play =
        Play { text: format!("name = {name:?}\nabout = {about:?}\n\n[run]\nalone = \"alone\"\n"), words };
    for _ in 0..length.prompts {
        let _ = write!(play.text, "\n[[run.step]]\nprompt = {:?}\n", words.prompt);
    }
    play.thread("lead", "main");
    for task in 1..=length.tasks {
        let brief = numbered(words.brief, task);
        let input = format!("subagent_type = \"analyst\", description = \"Part {task}\", prompt = {brief:?}");
        play.call(Some(&numbered(words.decision, task)), None, "Agent", &input);
        play.looks(task, length);
    }
    play.thread("analyst", "subagent");
    play.work(OWN_TASK, "own", length.calls);
    let report = words.report.replace("lines-{task} |", "lines-own |").replace("{task}", OWN_TASK);
    play.say(&report);
    play.thread("alone", "main");
    for task in 1..=length.tasks {
        play.work(&task.to_string(), &task.to_string(), length.calls);
        play.looks(task, length);
    }
    play.text
}

fn numbered(text: &str, task: usize) -> String {
    text.replace("{task}", &task.to_string())
}

/// A file in the making.
struct Play<'w> {
    text: String,
    words: &'w Words,
}

impl Play<'_> {
    fn thread(&mut self, name: &str, agent: &str) {
        let _ = write!(self.text, "\n[[thread]]\nname = {name:?}\nmatch = {{ agent = {agent:?} }}\n");
    }

    fn say(&mut self, text: &str) {
        let _ = write!(self.text, "\n[[thread.step]]\ntext = {}\n", toml::Value::from(text));
    }

    fn call(&mut self, text: Option<&str>, id: Option<&str>, tool: &str, input: &str) {
        self.text.push_str("\n[[thread.step]]\n");
        if let Some(text) = text {
            let _ = writeln!(self.text, "text = {}", toml::Value::from(text));
        }
        self.text.push_str("[[thread.step.call]]\n");
        if let Some(id) = id {
            let _ = writeln!(self.text, "id = {id:?}");
        }
        let _ = writeln!(self.text, "tool = {tool:?}\ninput = {{ {input} }}");
    }

    fn bash(&mut self, text: Option<&str>, id: Option<&str>, command: &str) {
        let input =
            format!("command = {}, description = \"Part of a long play\"", toml::Value::from(command));
        self.call(text, id, "Bash", &input);
    }

    /// What the main thread does itself behind a task, and what it says where a prompt ends.
    fn looks(&mut self, task: usize, Length { tasks, prompts, .. }: Length) {
        let [beginning, sizes, files] = self.words.looks;
        if task.is_multiple_of(2) {
            self.bash(Some(beginning), None, "head -n 60 data/chapter-1.txt");
        }
        self.bash(Some(sizes), Some(&format!("sizes-{task}")), "wc -c data/*.txt");
        if task.is_multiple_of(3) {
            self.bash(Some(files), None, "ls -la data");
        }
        if task % 6 == 2 {
            self.bash(Some(self.words.own_hands), None, &format!("touch seen-{task}"));
        }
        if (1..=prompts).any(|prompt| task == tasks * prompt / prompts) {
            self.say(&numbered(self.words.so_far, task));
        }
    }

    /// The calls of one task. `task` is its number or what reads it, `name` what its calls are quoted by.
    fn work(&mut self, task: &str, name: &str, calls: usize) {
        let script = format!(".flower/scripts/words-{task}.sh");
        for number in 0..calls {
            let said = self.words.working.get(number / 2 % 5).copied().filter(|_| number.is_multiple_of(2));
            let round = number / 10;
            let run = |word: usize| format!("sh {script} {}", COUNTED.get(word % 5).unwrap_or(&"river"));
            match number % 10 {
                0 => self.bash(said, None, "grep -rn river data | head -n 60"),
                1 => self.bash(
                    said,
                    None,
                    &format!("cat -n data/*.txt | tail -n +{} | head -n 100", round * 100 + 1),
                ),
                2 => {
                    let path = "{{var:workspace}}/data/chapter-2.txt";
                    let input = format!("file_path = \"{path}\", offset = {}, limit = 20", round * 5 + 1);
                    self.call(said, None, "Read", &input);
                }
                3 => {
                    let id = (round == 0).then(|| format!("lines-{name}"));
                    self.bash(said, id.as_deref(), "wc -l data/*.txt");
                }
                4 if round == 0 => {
                    let content = "#!/bin/sh\n# desc: counts how often a word stands in data/\ngrep -ow \"$1\" data/*.txt | wc -l\n";
                    let path = toml::Value::from(format!("{{{{var:workspace}}}}/{script}"));
                    self.call(said, None, "Write", &format!("file_path = {path}, content = {content:?}"));
                }
                4 => self.bash(said, None, &run(round)),
                5 => self.bash(said, None, "find data -name '*.txt' | sort"),
                6 => self.bash(said, None, "test -f data/missing.txt"),
                7 => {
                    let (directory, file) = ("{{var:artifacts}}", format!("lines-{task}.txt"));
                    let command = format!(
                        "mkdir -p '{directory}' && sort data/*.txt | uniq -c > '{directory}/{file}' && wc -l < '{directory}/{file}'"
                    );
                    self.bash(said, None, &command);
                }
                8 => self.bash(said, None, &run(round + 1)),
                _ => {
                    let input = "pattern = \"garden\", path = \"{{var:workspace}}/data\", output_mode = \"content\", head_limit = 60";
                    self.call(said, None, "Grep", input);
                }
            }
        }
    }
}
