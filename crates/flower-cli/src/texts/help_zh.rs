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
    of(
        "rehearse",
        "without",
        "不用这些层来排练,以逗号分隔:由此看出它们有什么用 [labour(分工,连同工作台)、spill、expire、denials、trim、handoff;all 是全部]",
    ),
    of("rehearse", "part", "演另一个进程交来的一步"),
    of("rehearse", "list", "列出内置剧本"),
    of("rehearse", "json", "以 JSON 行打印事件,最后一行是收据"),
    of("rehearse", "keep", "保留临时工作区"),
    of("rehearse", "serve", "只提供脚本化的 API,并打印它的 URL"),
    of("once", "", "用一个智能体处理一条提示词,打印它的回答。"),
    of("once", "prompt", "要做什么;`-` 表示从标准输入读取"),
    of(
        "once",
        "tools",
        "智能体可用的工具,以逗号分隔;也可以是 \"Bash(git *)\" 这样的规则 [默认:续跑会话原来的工具,否则 Read、Glob 和 Grep]",
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
    of("verify", "", "按续跑所依赖的规则检查一份会话记录。"),
    of("verify", "file", "会话记录文件,`-` 表示标准输入,或一个会话 ID"),
    of("verify", "json", "以 JSON 行打印问题"),
    of("verify", "workspace", "指的是哪个目录的会话 [默认:当前目录]"),
    of("rewrite", "", "把会话记录改写成续跑时应当发送的历史。"),
    of("rewrite", "input", "会话记录文件,`-` 表示标准输入,或一个会话 ID"),
    of("rewrite", "output", "改写后的历史写到哪里 [默认:标准输出]"),
    of("rewrite", "in_place", "替换文件本身;原文件留在旁边作备份。有运行框架在用这个会话时拒绝"),
    of("rewrite", "keep_glances", "保留最近多少次“看一眼”的结果"),
    of("rewrite", "no_expire", "不动“看一眼”的过期结果"),
    of("rewrite", "trim", "把旧的大结果移到文件里"),
    of("rewrite", "arguments", "与 --trim 一起:Write 和 Edit 的旧输入在文件还在磁盘上时也缩短"),
    of("rewrite", "keep_trimmed", "与 --trim 一起:保留最近多少个大结果"),
    of("rewrite", "min_chars", "与 --trim 一起:多少个字符以上的结果算大"),
    of("rewrite", "spill_dir", "与 --trim 一起:移出的内容放在哪个目录 [默认:工作区的 .flower/spill]"),
    of("rewrite", "keep_denials", "保留最近多少次被拒的调用"),
    of("rewrite", "no_prune", "不动被拒的调用"),
    of("rewrite", "denied_ids", "文件,每行一个被拦截的调用的 ID:2.1.332 之前的版本不留拒绝标记"),
    of("rewrite", "keep_debris", "不动失败的请求和中断留下的内容"),
    of("rewrite", "drop_thinking", "去掉所有思考块:用于因签名被 API 拒绝的历史"),
    of("rewrite", "no_gate", "划不划算都做节省性的修改"),
    of("rewrite", "cold", "缓存反正是冷的:节省性的修改没有代价"),
    of("rewrite", "heal_only", "只修复"),
    of("rewrite", "report", "标准错误上的报告用什么形式"),
    of("rewrite", "workspace", "指的是哪个目录的会话 [默认:当前目录]"),
    of("sessions", "", "列出、查看、导出、导入和删除存储里的会话。"),
    of("sessions", "workspace", "指的是哪个目录的会话 [默认:当前目录]"),
    of("sessions", "home", "工作台在哪里,存储在它的 runs/ 中 [默认:工作区的 .flower]"),
    of("sessions", "all", "也列出共用这个存储的其他目录和子智能体的会话"),
    of("sessions", "json", "每个会话打印一个 JSON 对象"),
    of("sessions list", "", "列出存储里的会话,最新的在前。只写 `flower sessions` 也是这样。"),
    of("sessions list", "all", "也列出共用这个存储的其他目录和子智能体的会话"),
    of("sessions list", "json", "每个会话打印一个 JSON 对象"),
    of("sessions show", "", "显示关于一个会话所知的一切。"),
    of("sessions show", "session", "会话 ID,或至少前 8 个字符"),
    of("sessions show", "json", "打印一个 JSON 对象"),
    of("sessions export", "", "按 Claude Code 写下的样子逐字节写出一个会话。"),
    of("sessions export", "session", "会话 ID,或至少前 8 个字符"),
    of(
        "sessions export",
        "output",
        "写到哪里 [默认:主线程写到标准输出]。文件得到主线程;目录(已存在,或以 / 结尾)按 Claude Code 自己的布局得到全部内容,可从 `projects/…/` 续跑",
    ),
    of("sessions export", "force", "替换已有的文件"),
    of("sessions import", "", "把 Claude Code 的会话或会话记录文件收入存储。"),
    of("sessions import", "what", "Claude Code 的会话 ID(或前 8 个字符)、会话记录文件,或存放会话记录的目录"),
    of("sessions import", "all", "Claude Code 在这个目录的所有会话"),
    of("sessions delete", "", "从存储里删除会话。不动 Claude Code 自己的文件。"),
    of("sessions delete", "sessions", "会话 ID,或至少前 8 个字符"),
    of("sessions delete", "yes", "不询问"),
    of("xray", "", "显示一个会话的上下文和花费都去了哪里。"),
    of("xray", "what", "会话 ID 或其开头、会话记录文件,或目录 [默认:这个目录里最新的会话]"),
    of("xray", "json", "打印一个 JSON 对象"),
    of("xray", "html", "写出一个自带图表的独立网页"),
    of("xray", "what_if", "再显示重写和外存本可省下多少(按模型推算)"),
];
