//! Help in the language that was asked for. English help stands with the arguments it describes; Chinese help is a
//! table by the same names, and a test holds that neither has more than the other.

use clap::{Arg, ArgAction, Command, CommandFactory as _};
use flower_context::Lang;

use crate::args::Args;
use crate::texts::{HELP_ZH, HelpText};

/// The command line with help texts in `lang`.
pub(crate) fn command(lang: Lang) -> Command {
    match lang {
        Lang::En => Args::command(),
        Lang::Zh => chinese(Args::command(), ""),
    }
}

/// The language of a command line that is not parsed yet: `--lang`, else `FLOWER_LANG`, else English.
pub(crate) fn lang_of(arguments: impl IntoIterator<Item = String>, from_environment: Option<&str>) -> Lang {
    let mut arguments = arguments.into_iter();
    let mut asked = None;
    while let Some(argument) = arguments.next() {
        match argument.strip_prefix("--lang") {
            Some("") => asked = arguments.next(),
            Some(value) => asked = value.strip_prefix('=').map(str::to_owned),
            None => continue,
        }
        break;
    }
    asked.as_deref().or(from_environment).and_then(|tag| tag.parse().ok()).unwrap_or_default()
}

/// `path` names the subcommand from the top, where it is empty: `sessions export`.
fn chinese(command: Command, path: &str) -> Command {
    let text = |name: &str| HELP_ZH.iter().find(|entry| entry.command == path && entry.argument == name);
    let mut command = command
        .disable_help_flag(true)
        .disable_version_flag(true)
        .disable_help_subcommand(true)
        .subcommand_help_heading("命令")
        .subcommand_value_name("命令")
        .help_template("{about-with-newline}\n用法:{usage}\n\n{all-args}{after-help}");
    if let Some(HelpText { text, .. }) = text("") {
        command = command.about(*text);
    }
    if let Some(HelpText { text, .. }) = text("after") {
        command = command.after_help(*text);
    }
    command = command.mut_args(|argument| {
        let heading = if argument.is_positional() { "参数" } else { "选项" };
        match text(argument.get_id().as_str()) {
            Some(HelpText { text, .. }) => argument.help(*text).help_heading(heading),
            None => argument.help_heading(heading),
        }
    });
    let flag = |id: &'static str, short, action, help| {
        Arg::new(id).long(id).short(short).action(action).help(help).help_heading("选项")
    };
    command = command.arg(flag("help", 'h', ArgAction::Help, "显示帮助"));
    if path.is_empty() {
        command = command.arg(flag("version", 'V', ArgAction::Version, "显示版本"));
    }
    let names: Vec<String> = command.get_subcommands().map(|sub| sub.get_name().to_owned()).collect();
    for name in names {
        command = command.mut_subcommand(&name, |sub| chinese(sub, &below(path, &name)));
    }
    command
}

fn below(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path} {name}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What has English help, as (command, argument).
    fn english() -> Vec<(String, String)> {
        fn collect(command: &Command, path: &str, all: &mut Vec<(String, String)>) {
            all.push((path.to_owned(), String::new()));
            let arguments = command.get_arguments().map(|argument| argument.get_id().to_string());
            all.extend(arguments.map(|argument| (path.to_owned(), argument)));
            for sub in command.get_subcommands() {
                collect(sub, &below(path, sub.get_name()), all);
            }
        }
        let mut all = Vec::new();
        collect(&Args::command(), "", &mut all);
        all
    }

    #[test]
    fn chinese_help_is_complete_and_has_nothing_stale() {
        let chinese: Vec<(String, String)> = HELP_ZH
            .iter()
            .map(|entry| (entry.command.to_owned(), entry.argument.to_owned()))
            .filter(|(_, argument)| argument != "after")
            .collect();
        for entry in english() {
            assert!(chinese.contains(&entry), "no Chinese help for {entry:?}");
        }
        for entry in &chinese {
            assert!(english().contains(entry), "Chinese help for what is not there: {entry:?}");
        }
    }

    #[test]
    fn the_command_line_is_consistent_in_both_languages() {
        for lang in [Lang::En, Lang::Zh] {
            command(lang).debug_assert();
        }
    }

    #[test]
    fn the_language_is_known_before_anything_is_parsed() {
        let lang = |line: &str, environment| lang_of(line.split(' ').map(str::to_owned), environment);
        assert_eq!(lang("--lang zh-CN once x", None), Lang::Zh);
        assert_eq!(lang("once --lang=zh x", None), Lang::Zh);
        assert_eq!(lang("once x", Some("zh_CN.UTF-8")), Lang::Zh);
        assert_eq!(lang("--lang en once x", Some("zh")), Lang::En);
        assert_eq!(lang("--language zh", None), Lang::En);
        assert_eq!(lang("--lang", None), Lang::En);
    }
}
