//! The texts of reasons, in English and Chinese.

use super::{Construct, Harm};
use crate::lang::Lang;

/// The texts of all reasons in one language.
#[derive(Debug)]
pub(super) struct Texts {
    pub(super) empty: &'static str,
    pub(super) too_long: &'static str,
    pub(super) too_complex: &'static str,
    pub(super) control_character: &'static str,
    pub(super) syntax: &'static str,
    pub(super) writes_file: &'static str,
    pub(super) reads_unknown: &'static str,
    pub(super) no_input: &'static str,
    pub(super) computed_name: &'static str,
    pub(super) unknown_program: &'static str,
    pub(super) no_subcommand: &'static str,
    pub(super) subcommand: &'static str,
    pub(super) option: &'static str,
    pub(super) needs: &'static str,
    pub(super) operand: &'static str,
    pub(super) dynamic: &'static str,
    pub(super) assignment: &'static str,
    pub(super) script: &'static str,
    pub(super) background: &'static str,
    pub(super) definition: &'static str,
    pub(super) keyword: &'static str,
    pub(super) endless_loop: &'static str,
    pub(super) long_loop: &'static str,
    pub(super) doubling: &'static str,
    pub(super) output_process: &'static str,
    pub(super) array: &'static str,
    pub(super) extended_glob: &'static str,
    pub(super) expansion: &'static str,
    pub(super) braces: &'static str,
    pub(super) here_document: &'static str,
    pub(super) continuation: &'static str,
    pub(super) writes: &'static str,
    pub(super) interprets: &'static str,
    pub(super) runs_others: &'static str,
    pub(super) network: &'static str,
    pub(super) endless: &'static str,
    pub(super) works: &'static str,
}

impl Texts {
    pub(super) fn construct(&self, construct: Construct) -> &'static str {
        match construct {
            Construct::Background => self.background,
            Construct::Definition => self.definition,
            Construct::Keyword => self.keyword,
            Construct::EndlessLoop => self.endless_loop,
            Construct::LongLoop => self.long_loop,
            Construct::Doubling => self.doubling,
            Construct::OutputProcess => self.output_process,
            Construct::Array => self.array,
            Construct::ExtendedGlob => self.extended_glob,
            Construct::Expansion => self.expansion,
            Construct::Braces => self.braces,
            Construct::HereDocument => self.here_document,
            Construct::Continuation => self.continuation,
        }
    }

    pub(super) fn harm(&self, harm: Harm) -> &'static str {
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

pub(super) fn texts(lang: Lang) -> &'static Texts {
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
    no_input: "`{program}` would wait for input that nothing gives it; name a file",
    computed_name: "the name of the command is computed, so nobody knows what would run",
    unknown_program: "`{program}` is not in the list of read-only programs",
    no_subcommand: "`{program}` needs a read-only sub-command here",
    subcommand: "`{program} {subcommand}` is not a known read-only sub-command",
    option: "option `{option}` of `{program}` is not known to be read-only, cheap and finite",
    needs: "`{program}` only looks when it is told so: add `{option}`",
    operand: "`{operand}` makes `{program}` do more than look, or is not known to be harmless",
    dynamic: "`{word}` is known only to the shell and could become a harmful option of `{program}`; write it out, put `--` or `./` before it",
    assignment: "setting `{name}` may change what runs",
    script: "`{piece}` in the {language} expression is not known to only look",
    background: "a background job outlives the command",
    definition: "a function definition changes what names mean",
    keyword: "this shell keyword is not judged",
    endless_loop: "the loop may never end; it may read an input with `while read`, or count to a known bound",
    long_loop: "the loops go round too often; 10000 times altogether are cheap",
    doubling: "a variable that is made of itself twice, again and again, fills the memory",
    output_process: "`>(…)` writes into another command",
    array: "this form of an array is not judged",
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
    no_input: "`{program}` 会等待输入,而没有什么提供输入;请写出文件",
    computed_name: "命令名是算出来的,无从知道会运行什么",
    unknown_program: "`{program}` 不在只读程序之列",
    no_subcommand: "`{program}` 在这里需要一个只读的子命令",
    subcommand: "`{program} {subcommand}` 不是已知的只读子命令",
    option: "`{program}` 的选项 `{option}` 不能确定是只读、廉价且会结束的",
    needs: "`{program}` 只有在明确要求时才只是查看:请加上 `{option}`",
    operand: "`{operand}` 使 `{program}` 不只是查看,或不能确定无害",
    dynamic: "`{word}` 的值只有 shell 知道,可能成为 `{program}` 的有害选项;请写出具体的值,或在前面加 `--` 或 `./`",
    assignment: "设置 `{name}` 可能改变运行的内容",
    script: "{language} 表达式中的 `{piece}` 不能确定只是查看",
    background: "后台任务会比命令活得更久",
    definition: "函数定义会改变名字的含义",
    keyword: "不判断这个 shell 关键字",
    endless_loop: "循环可能永远不结束;可以用 `while read` 读取输入,或计数到一个已知的界限",
    long_loop: "循环次数太多;总共不超过 10000 次才算廉价",
    doubling: "反复用自身两次来构成一个变量,会占满内存",
    output_process: "`>(…)` 会写入另一个命令",
    array: "不判断这种数组写法",
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
}
