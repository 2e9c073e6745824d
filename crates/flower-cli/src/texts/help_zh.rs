//! Help of the command line in Simplified Chinese.

/// The help of a command (`argument` is empty), of one of its arguments, or the text below it (`after`).
#[derive(Debug)]
pub(crate) struct HelpText {
    /// Empty for `flower` itself.
    pub(crate) command: &'static str,
    pub(crate) argument: &'static str,
    pub(crate) text: &'static str,
}

const fn of(command: &'static str, argument: &'static str, text: &'static str) -> HelpText {
    HelpText { command, argument, text }
}

pub(crate) static HELP_ZH: &[HelpText] = &[
    of("", "", "让长时间运行的智能体不被自己的上下文淹没。"),
    of("", "lang", "人和模型所读文字的语言:en 或 zh-CN [环境变量:FLOWER_LANG] [默认:en]"),
    of(
        "",
        "after",
        "\
退出码:
  0    成功(glance:是;doctor:可以开始运行)
  1    没有成功(一步失败;glance:不是;doctor:还不能开始运行)
  2    用法错误
  3    无法开始:没有运行框架、没有工作区、剧本有误
  129、130、143  被 SIGHUP、SIGINT、SIGTERM 结束",
    ),
    of("rehearse", "", "离线演练一次完整的运行:框架、工具、文件和存储都是真的,只有模型照剧本来。"),
    of("rehearse", "scenario", "剧本:内置剧本的名字,或一个文件 [默认:coordinator]"),
    of("rehearse", "workspace", "在哪个目录里排练;会在其中建立 data/ [默认:临时目录]"),
    of("rehearse", "claude", "要用的 Claude Code 程序 [默认:FLOWER_CLAUDE、PATH 上的 claude 或私有副本]"),
    of("rehearse", "json", "以 JSON 行打印事件,最后一行是收据"),
    of("rehearse", "keep", "保留临时工作区"),
    of("rehearse", "serve", "只提供脚本化的 API,并打印它的 URL"),
    of("once", "", "用一个智能体处理一条提示词,打印它的回答。"),
    of("once", "prompt", "要做什么;`-` 表示从标准输入读取"),
    of(
        "once",
        "tools",
        "智能体可用的工具,以逗号分隔;也可以是 \"Bash(git *)\" 这样的规则 [默认:Read、Glob 和 Grep]",
    ),
    of("once", "model", "模型 [默认:由框架选择]"),
    of("once", "budget", "花费达到这么多美元时结束这一步"),
    of("once", "resume", "接着一个旧会话继续"),
    of("once", "fork", "与 --resume 一起用:在副本上继续,旧会话保持原样"),
    of("once", "workspace", "在哪个目录里工作 [默认:当前目录]"),
    of("once", "claude", "要用的 Claude Code 程序"),
    of("once", "json", "以 JSON 行打印事件"),
    of("doctor", "", "显示运行所需的东西哪些在、哪些缺。"),
    of("doctor", "workspace", "运行会在哪个目录里进行 [默认:当前目录]"),
    of("doctor", "claude", "运行会用的 Claude Code 程序"),
    of("doctor", "json", "打印一个 JSON 对象"),
    of("setup", "", "把测试过的运行框架安装到 flower 自己的目录里。"),
    of("glance", "", "判断一条 shell 命令是不是“看一眼”:只读、便宜、会结束。"),
    of("glance", "command", "命令行,作为一个参数给出;只判断,绝不执行"),
    of("glance", "lines", "从标准输入每行判断一条命令;\\n、\\t 和 \\\\ 表示换行、制表符和反斜杠"),
    of("glance", "json", "打印 JSON 行"),
];
