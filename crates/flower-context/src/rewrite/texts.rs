//! Every text that a rewrite writes into a history, in both languages.
//!
//! A text that is missing in one language does not compile. A rewrite must know its own texts again, in
//! either language, or a second rewrite would change the history once more.

use crate::lang::{Lang, fill};

/// The texts of one language.
#[derive(Debug)]
pub(super) struct Texts {
    /// In place of a stale result: `{command}`, `{age}` in turns.
    pub(super) expired: &'static str,
    /// In place of a text that moved to disk: `{path}`, `{characters}`, `{lines}`.
    pub(super) spilled: &'static str,
    /// In place of the line that says so, when the file is gone: `{path}`.
    pub(super) lost: &'static str,
    /// In place of an argument whose file is on disk: `{path}`, `{characters}`.
    pub(super) argument: &'static str,
    /// The result of a call that an interrupt cut off.
    pub(super) interrupted: &'static str,
    /// The result of a call that never got one.
    pub(super) unanswered: &'static str,
    /// In place of a result without any text.
    pub(super) no_output: &'static str,
    /// In a message that has to stay although nothing of it is left.
    pub(super) nothing_left: &'static str,
    /// In front of a history whose beginning is gone.
    pub(super) beginning_missing: &'static str,
}

static EN: Texts = Texts {
    expired: "[the result of `{command}` has expired (it is {age} turns old); things may have changed since. \
              Run it again if you need it]",
    spilled: "[spilled to {path}: {characters} characters, {lines} lines; read that file for the whole text]",
    lost: "[no longer kept: {path}, which held the whole text. Make the call again if you need it]",
    argument: "[left out: {characters} characters; what they came to is in {path}]",
    interrupted: "[This call was cut off while it ran. Whether it took effect is unknown: check before you rely on \
                  it or run it again.]",
    unanswered: "[No result of this call was recorded: the session was cut off first. Whether it took effect is \
                 unknown: check before you rely on it or run it again.]",
    no_output: "(no output)",
    nothing_left: "(nothing is left of this message)",
    beginning_missing: "[The beginning of this conversation is missing.]",
};

static ZH: Texts = Texts {
    expired: "[`{command}` 的结果已过期(第 {age} 轮前),当前状态可能已变。需要请重新执行]",
    spilled: "[已外存到 {path}:{characters} 个字符,{lines} 行;需要全文请读取该文件]",
    lost: "[已不再保留:{path},全文原在其中。需要请重新执行该调用]",
    argument: "[已省略 {characters} 个字符;其结果见 {path}]",
    interrupted: "[此调用在执行中被中断,是否生效未知:在依赖其结果或重新执行之前,请先核实。]",
    unanswered: "[此调用没有留下结果:会话在此之前中断,是否生效未知:在依赖其结果或重新执行之前,请先核实。]",
    no_output: "(无输出)",
    nothing_left: "(此消息已无内容)",
    beginning_missing: "[此对话的开头已缺失。]",
};

/// The texts of `lang`.
pub(super) fn texts(lang: Lang) -> &'static Texts {
    match lang {
        Lang::En => &EN,
        Lang::Zh => &ZH,
    }
}

/// Characters of a command that its expiry text repeats.
const COMMAND_LENGTH: usize = 200;

/// The expiry text of a command. The command is put on one line, and cut where it is long.
pub(super) fn expired(lang: Lang, command: &str, age: usize) -> String {
    let mut command = command.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some((end, _)) = command.char_indices().nth(COMMAND_LENGTH) {
        command.truncate(end);
        command.push('…');
    }
    fill(texts(lang).expired, &[("command", &command), ("age", &age.to_string())])
}

/// Whether a rewrite in either language wrote this text in place of a result or an argument.
pub(super) fn is_ours(text: &str) -> bool {
    [&EN, &ZH].into_iter().any(|texts| {
        [texts.expired, texts.spilled, texts.lost, texts.argument]
            .into_iter()
            .any(|template| starts_like(text, template))
            || [texts.interrupted, texts.unanswered, texts.no_output].contains(&text)
    })
}

/// Whether the text says that something moved to disk.
pub(super) fn is_pointer(text: &str) -> bool {
    [&EN, &ZH].into_iter().any(|texts| starts_like(text, texts.spilled))
}

/// Of a text that says so in either language the path that something moved to, as it is written there.
pub(super) fn pointed_to(text: &str) -> Option<&str> {
    [&EN, &ZH].into_iter().find_map(|texts| {
        let (before, behind) = texts.spilled.split_once("{path}")?;
        let (behind, _) = behind.split_once('{')?;
        let rest = text.strip_prefix(before).filter(|_| starts_like(text, texts.spilled))?;
        // A path may hold what stands behind it; the name of a file ends it.
        let end = [".txt", ".txt'"]
            .into_iter()
            .find_map(|end| Some(rest.find(&format!("{end}{behind}"))? + end.len()));
        rest.get(..end?)
    })
}

/// Whether the fixed pieces of a template stand in the text in their order, the first one at the beginning.
fn starts_like(text: &str, template: &str) -> bool {
    let mut pieces = template.split('{').map(|piece| piece.split_once('}').map_or(piece, |(_, fixed)| fixed));
    let Some(mut rest) = pieces.next().and_then(|first| text.strip_prefix(first)) else {
        return false;
    };
    pieces.all(|piece| {
        let found = rest.split_once(piece);
        rest = found.map_or("", |(_, after)| after);
        found.is_some()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lang::placeholders;

    /// Destructured, so that a new field cannot be forgotten here.
    fn all(texts: &Texts) -> [&'static str; 9] {
        let Texts {
            expired,
            spilled,
            lost,
            argument,
            interrupted,
            unanswered,
            no_output,
            nothing_left,
            beginning_missing,
        } = *texts;
        [
            expired,
            spilled,
            lost,
            argument,
            interrupted,
            unanswered,
            no_output,
            nothing_left,
            beginning_missing,
        ]
    }

    #[test]
    fn both_languages_fill_in_the_same() {
        for (en, zh) in all(&EN).into_iter().zip(all(&ZH)) {
            assert_eq!(placeholders(en), placeholders(zh), "{en} / {zh}");
        }
    }

    #[test]
    fn an_expired_result_reads_as_a_sentence() {
        assert_eq!(
            expired(Lang::Zh, "git status -s", 7),
            "[`git status -s` 的结果已过期(第 7 轮前),当前状态可能已变。需要请重新执行]"
        );
        assert_eq!(
            expired(Lang::En, "git status -s", 7),
            "[the result of `git status -s` has expired (it is 7 turns old); things may have changed since. \
             Run it again if you need it]"
        );
    }

    #[test]
    fn our_own_texts_are_known_again() {
        for lang in [Lang::En, Lang::Zh] {
            for command in ["ls", "cat `x` {age} (第 3 轮前)", &"long ".repeat(100)] {
                assert!(is_ours(&expired(lang, command, 12)), "{command}");
                assert!(!is_pointer(&expired(lang, command, 12)), "{command}");
            }
            let Texts { spilled, lost, argument, interrupted, unanswered, no_output, .. } = *texts(lang);
            for text in [spilled, lost, argument, interrupted, unanswered, no_output] {
                assert!(is_ours(text), "{text}");
            }
            assert!(is_pointer(texts(lang).spilled) && !is_pointer(lost));
        }
        for text in ["", "[", "[`ls` 的结果", "total 0", "[spilled milk]", " (no output)"] {
            assert!(!is_ours(text), "{text}");
        }
    }
}
