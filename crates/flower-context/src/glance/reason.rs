//! Why a command line is not a glance, as data and as text in both languages.

use crate::lang::{Lang, fill};

/// What made a command line not a glance: the smallest part that was refused, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The refused part as it stands in the command line: one simple command, one redirect, one construct.
    /// At most [`PART_LIMIT`] characters; a longer part ends in `…`.
    pub part: String,
    /// Why it was refused.
    pub reason: Reason,
}

/// Characters of a part that a refusal quotes: enough to find it again, too few to flood a reader.
pub const PART_LIMIT: usize = 200;

/// Why a part of a command line was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// There is no command at all.
    Empty,
    /// The command line is longer than the rule looks at.
    TooLong {
        /// The limit in bytes.
        limit: usize,
    },
    /// The command line nests deeper, expands wider or assigns more than the rule looks at.
    TooComplex,
    /// A character that terminals and shells disagree about.
    ControlCharacter {
        /// Its code point.
        code: u32,
    },
    /// The shell grammar does not go on here as a glance may.
    Syntax {
        /// The text at which reading stopped.
        near: String,
    },
    /// Shell grammar that is understood and never part of a glance.
    Construct(Construct),
    /// A redirect that writes somewhere else than `/dev/null`.
    WritesFile {
        /// The target as written.
        target: String,
    },
    /// A redirect that reads from what may never end, or may be a network connection.
    ReadsUnknown {
        /// The source as written.
        source: String,
    },
    /// The name of the command is computed by the shell.
    ComputedName,
    /// A program that the tables do not list.
    UnknownProgram {
        /// Its name.
        program: String,
    },
    /// A program that is known not to be a glance.
    Harm {
        /// Its name.
        program: String,
        /// What it does.
        harm: Harm,
    },
    /// A sub-command that is not known to be read-only.
    Subcommand {
        /// The program.
        program: String,
        /// The sub-command, empty when there is none.
        subcommand: String,
    },
    /// An option that is not known to be read-only, cheap and finite.
    Option {
        /// The program, with its sub-command.
        program: String,
        /// The option as written.
        option: String,
    },
    /// An operand that makes the program do more than look.
    Operand {
        /// The program, with its sub-command.
        program: String,
        /// The operand as written.
        operand: String,
    },
    /// A word whose value only the shell knows, where some values would be options that do harm.
    Dynamic {
        /// The program, with its sub-command.
        program: String,
        /// The word as written.
        word: String,
    },
    /// An assignment to a variable that may change what runs.
    Assignment {
        /// The name of the variable.
        name: String,
    },
    /// A script in a small language (sed, awk, find, jq, arithmetic, `[`) that is not known to only look.
    Script {
        /// The language.
        language: &'static str,
        /// The piece that was refused.
        piece: String,
    },
}

/// Shell grammar that is never part of a glance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Construct {
    /// `command &`
    Background,
    /// `name() { … }`, `function name`
    Definition,
    /// `case`, `select`, `coproc`, `until`, `for ((`
    Keyword,
    /// A `while` whose condition does not read from an input that ends.
    EndlessLoop,
    /// `>(command)`
    OutputProcess,
    /// `name=(…)`
    Array,
    /// `@(a|b)` and its kin
    ExtendedGlob,
    /// `${x:=…}`, `${!x}`, `${x@P}`, `$[…]`, `$"…"` and other expansions outside the known forms
    Expansion,
    /// Braces that expand in a way the rule does not follow.
    Braces,
    /// A here-document that cannot be delimited with certainty.
    HereDocument,
    /// A backslash at the end of a line, inside a word or an operator.
    Continuation,
}

/// What a program does that a glance must not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Harm {
    /// Changes files, the system or the state of a service.
    Writes,
    /// Runs code that it is given.
    Interprets,
    /// Runs another command, or changes which commands run.
    RunsOthers,
    /// Talks to the network.
    Network,
    /// Does not end by itself, or waits for a person.
    Endless,
    /// Builds, tests or otherwise works for long.
    Works,
}

impl Reason {
    /// The reason as one sentence without a full stop, for a person or a model.
    pub fn text(&self, lang: Lang) -> String {
        let t = texts(lang);
        match self {
            Self::Empty => t.empty.to_owned(),
            Self::TooLong { limit } => fill(t.too_long, &[("limit", &limit.to_string())]),
            Self::TooComplex => t.too_complex.to_owned(),
            Self::ControlCharacter { code } => {
                fill(t.control_character, &[("code", &format!("U+{code:04X}"))])
            }
            Self::Syntax { near } => fill(t.syntax, &[("near", near)]),
            Self::Construct(construct) => t.construct(*construct).to_owned(),
            Self::WritesFile { target } => fill(t.writes_file, &[("target", target)]),
            Self::ReadsUnknown { source } => fill(t.reads_unknown, &[("source", source)]),
            Self::ComputedName => t.computed_name.to_owned(),
            Self::UnknownProgram { program } => fill(t.unknown_program, &[("program", program)]),
            Self::Harm { program, harm } => fill(t.harm(*harm), &[("program", program)]),
            Self::Subcommand { program, subcommand } if subcommand.is_empty() => {
                fill(t.no_subcommand, &[("program", program)])
            }
            Self::Subcommand { program, subcommand } => {
                fill(t.subcommand, &[("program", program), ("subcommand", subcommand)])
            }
            Self::Option { program, option } => fill(t.option, &[("program", program), ("option", option)]),
            Self::Operand { program, operand } => {
                fill(t.operand, &[("program", program), ("operand", operand)])
            }
            Self::Dynamic { program, word } => fill(t.dynamic, &[("program", program), ("word", word)]),
            Self::Assignment { name } => fill(t.assignment, &[("name", name)]),
            Self::Script { language, piece } => fill(t.script, &[("language", language), ("piece", piece)]),
        }
    }
}

/// The texts of all reasons in one language.
#[derive(Debug)]
struct Texts {
    empty: &'static str,
    too_long: &'static str,
    too_complex: &'static str,
    control_character: &'static str,
    syntax: &'static str,
    writes_file: &'static str,
    reads_unknown: &'static str,
    computed_name: &'static str,
    unknown_program: &'static str,
    no_subcommand: &'static str,
    subcommand: &'static str,
    option: &'static str,
    operand: &'static str,
    dynamic: &'static str,
    assignment: &'static str,
    script: &'static str,
    background: &'static str,
    definition: &'static str,
    keyword: &'static str,
    endless_loop: &'static str,
    output_process: &'static str,
    array: &'static str,
    extended_glob: &'static str,
    expansion: &'static str,
    braces: &'static str,
    here_document: &'static str,
    continuation: &'static str,
    writes: &'static str,
    interprets: &'static str,
    runs_others: &'static str,
    network: &'static str,
    endless: &'static str,
    works: &'static str,
}

impl Texts {
    fn construct(&self, construct: Construct) -> &'static str {
        match construct {
            Construct::Background => self.background,
            Construct::Definition => self.definition,
            Construct::Keyword => self.keyword,
            Construct::EndlessLoop => self.endless_loop,
            Construct::OutputProcess => self.output_process,
            Construct::Array => self.array,
            Construct::ExtendedGlob => self.extended_glob,
            Construct::Expansion => self.expansion,
            Construct::Braces => self.braces,
            Construct::HereDocument => self.here_document,
            Construct::Continuation => self.continuation,
        }
    }

    fn harm(&self, harm: Harm) -> &'static str {
        match harm {
            Harm::Writes => self.writes,
            Harm::Interprets => self.interprets,
            Harm::RunsOthers => self.runs_others,
            Harm::Network => self.network,
            Harm::Endless => self.endless,
            Harm::Works => self.works,
        }
    }
}

fn texts(lang: Lang) -> &'static Texts {
    match lang {
        Lang::En => &EN,
        Lang::Zh => &ZH,
    }
}

static EN: Texts = Texts {
    empty: "there is no command in it",
    too_long: "it is longer than {limit} bytes",
    too_complex: "it nests too deep, expands too wide or assigns too many variables to be judged",
    control_character: "it holds the character {code}, which shells and terminals read differently",
    syntax: "the shell grammar is broken or unusual at `{near}`",
    writes_file: "it writes to `{target}`; only /dev/null and other descriptors are allowed",
    reads_unknown: "it reads from `{source}`, which may never end or may be a network connection",
    computed_name: "the name of the command is computed, so nobody knows what would run",
    unknown_program: "`{program}` is not in the list of read-only programs",
    no_subcommand: "`{program}` needs a read-only sub-command here",
    subcommand: "`{program} {subcommand}` is not a known read-only sub-command",
    option: "option `{option}` of `{program}` is not known to be read-only, cheap and finite",
    operand: "`{operand}` makes `{program}` do more than look, or is not known to be harmless",
    dynamic: "`{word}` is known only to the shell and could become a harmful option of `{program}`; write it out, put `--` or `./` before it",
    assignment: "setting `{name}` may change what runs",
    script: "`{piece}` in the {language} expression is not known to only look",
    background: "a background job outlives the command",
    definition: "a function definition changes what names mean",
    keyword: "this shell keyword is not judged",
    endless_loop: "the loop may never end; only `while read` over an input is allowed",
    output_process: "`>(…)` writes into another command",
    array: "arrays are not judged",
    extended_glob: "extended patterns are not judged",
    expansion: "this kind of expansion may run or change something",
    braces: "this brace expansion is not followed",
    here_document: "this here-document cannot be delimited with certainty",
    continuation: "a backslash at the end of a line may only stand between words",
    writes: "`{program}` changes files or state",
    interprets: "`{program}` runs code that it is given",
    runs_others: "`{program}` runs another command or changes which commands run",
    network: "`{program}` talks to the network",
    endless: "`{program}` does not end by itself or waits for a person",
    works: "`{program}` builds, tests or works for long",
};

static ZH: Texts = Texts {
    empty: "其中没有命令",
    too_long: "超过 {limit} 字节",
    too_complex: "嵌套太深、展开太宽或赋值太多,无法判断",
    control_character: "含有字符 {code},各种 shell 和终端对它的理解不同",
    syntax: "`{near}` 处的 shell 语法有误或不常见",
    writes_file: "它会写入 `{target}`;只允许写到 /dev/null 和其他描述符",
    reads_unknown: "它从 `{source}` 读取,那里可能没有尽头,也可能是网络连接",
    computed_name: "命令名是算出来的,无从知道会运行什么",
    unknown_program: "`{program}` 不在只读程序之列",
    no_subcommand: "`{program}` 在这里需要一个只读的子命令",
    subcommand: "`{program} {subcommand}` 不是已知的只读子命令",
    option: "`{program}` 的选项 `{option}` 不能确定是只读、廉价且会结束的",
    operand: "`{operand}` 使 `{program}` 不只是查看,或不能确定无害",
    dynamic: "`{word}` 的值只有 shell 知道,可能成为 `{program}` 的有害选项;请写出具体的值,或在前面加 `--` 或 `./`",
    assignment: "设置 `{name}` 可能改变运行的内容",
    script: "{language} 表达式中的 `{piece}` 不能确定只是查看",
    background: "后台任务会比命令活得更久",
    definition: "函数定义会改变名字的含义",
    keyword: "不判断这个 shell 关键字",
    endless_loop: "循环可能永远不结束;只允许对一个输入使用 `while read`",
    output_process: "`>(…)` 会写入另一个命令",
    array: "不判断数组",
    extended_glob: "不判断扩展模式",
    expansion: "这种展开可能运行或改变什么",
    braces: "不展开这种花括号",
    here_document: "不能确定这个 here-document 的边界",
    continuation: "行尾的反斜杠只能出现在词与词之间",
    writes: "`{program}` 会改变文件或状态",
    interprets: "`{program}` 会运行交给它的代码",
    runs_others: "`{program}` 会运行别的命令,或改变会运行哪些命令",
    network: "`{program}` 会访问网络",
    endless: "`{program}` 不会自己结束,或要等人操作",
    works: "`{program}` 会构建、测试或长时间工作",
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lang::placeholders;

    #[test]
    fn both_languages_use_the_same_placeholders() {
        // The derived `Debug` form lists the fields in the same order for both, so its lines pair up.
        let (en, zh) = (format!("{EN:#?}"), format!("{ZH:#?}"));
        assert_eq!(en.lines().count(), zh.lines().count());
        for (en, zh) in en.lines().zip(zh.lines()).filter(|(en, _)| en.contains(": ")) {
            assert_eq!(placeholders(en), placeholders(zh), "{en}");
            assert_ne!(en, zh);
        }
    }

    #[test]
    fn a_reason_is_a_sentence_in_both_languages() {
        let reason = Reason::Option { program: "sort".to_owned(), option: "-o".to_owned() };
        assert_eq!(
            reason.text(Lang::En),
            "option `-o` of `sort` is not known to be read-only, cheap and finite"
        );
        assert_eq!(reason.text(Lang::Zh), "`sort` 的选项 `-o` 不能确定是只读、廉价且会结束的");
    }
}
