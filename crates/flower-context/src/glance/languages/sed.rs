//! `sed` scripts: addresses and commands, of which those that write files or run commands are refused.

use super::refused;
use crate::glance::options::Call;
use crate::glance::reason::{Construct, Reason};
use crate::glance::value::Arg;

/// Judges the scripts of a call of `sed`: the values of `-e`, else the first operand.
pub(in crate::glance) fn judge(call: &Call<'_>) -> Result<(), Reason> {
    let mut scripts: Vec<&Arg> = call
        .options
        .iter()
        .filter(|(name, _)| matches!(*name, "e" | "expression"))
        .filter_map(|(_, value)| value.as_ref())
        .collect();
    let own = usize::from(scripts.is_empty());
    if scripts.is_empty() {
        scripts.extend(call.operands.first().copied());
    }
    if call.operands.len() <= own && !call.context.fed {
        return Err(call.no_input());
    }
    let mut growth = Growth::default();
    for script in scripts {
        let Some(texts) = script.outlines() else {
            return Err(Reason::Dynamic { program: call.name.clone(), word: script.shown().to_owned() });
        };
        // They are one script with other numbers in it.
        let own = texts.iter().map(|text| Script::new(text).judge()).collect::<Result<Vec<_>, _>>()?;
        growth = growth.and(own.last().copied().unwrap_or_default());
    }
    if growth.doubles() { Err(Reason::Construct(Construct::Doubling)) } else { Ok(()) }
}

/// What makes the buffer that sed holds from line to line grow.
#[derive(Debug, Clone, Copy, Default)]
struct Growth {
    /// `G`, `H`, and substitutions that put what they found twice.
    appends: usize,
    /// `h`, `H`, `x`: something is held.
    holds: bool,
    /// `G`, `g`, `x`: what is held comes back.
    returns: bool,
}

impl Growth {
    fn and(self, other: Self) -> Self {
        Self {
            appends: self.appends + other.appends,
            holds: self.holds || other.holds,
            returns: self.returns || other.returns,
        }
    }

    /// One append a line makes it as long as the input; two may double it with each line.
    fn doubles(self) -> bool {
        self.holds && self.returns && self.appends > 1
    }
}

struct Script<'a> {
    rest: &'a str,
    /// An `N` was seen: the buffer grows until the input ends.
    joins: bool,
    growth: Growth,
    /// No sed takes the script, so none of it runs.
    broken: bool,
}

impl<'a> Script<'a> {
    fn new(text: &'a str) -> Self {
        Self { rest: text, joins: false, growth: Growth::default(), broken: false }
    }

    fn judge(mut self) -> Result<Growth, Reason> {
        loop {
            self.skip(|c| c.is_ascii_whitespace() || c == ';');
            if self.rest.is_empty() {
                return Ok(self.growth);
            }
            if self.rest.starts_with('#') {
                self.skip(|c| c != '\n');
                continue;
            }
            let before = self.rest;
            let addressed = self.addresses()?;
            if self.broken {
                return Ok(Growth::default());
            }
            let at_last = addressed && before.starts_with("$!");
            self.command(at_last)?;
        }
    }

    fn skip(&mut self, skipped: impl Fn(char) -> bool) -> &'a str {
        let left = self.rest.trim_start_matches(skipped);
        let taken = self.rest.get(..self.rest.len() - left.len()).unwrap_or_default();
        self.rest = left;
        taken
    }

    fn take(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let next = chars.next();
        self.rest = chars.as_str();
        next
    }

    fn refused<T>(&self) -> Result<T, Reason> {
        Err(refused("sed", self.rest))
    }

    /// `1`, `$`, `/re/I`, `\cREc`, `first~step`, `addr,+3`, with blanks and `!` behind.
    fn addresses(&mut self) -> Result<bool, Reason> {
        let first = self.address()?;
        self.skip(|c| c == ' ');
        if self.rest.starts_with(',') {
            self.take();
            self.skip(|c| c == ' ' || c == '+' || c == '~');
            // Half a range is an error, and an error stops sed before it reads a line.
            self.broken = !(self.address()? && first);
        }
        self.skip(|c| c == ' ' || c == '!');
        Ok(first)
    }

    fn address(&mut self) -> Result<bool, Reason> {
        match self.rest.chars().next() {
            Some('$') => {
                self.take();
                Ok(true)
            }
            Some(c) if c.is_ascii_digit() => {
                self.skip(|c| c.is_ascii_digit() || c == '~');
                Ok(true)
            }
            Some('/') => {
                self.take();
                self.delimited('/')?;
                self.skip(|c| c == 'I' || c == 'M');
                Ok(true)
            }
            Some('\\') => {
                self.take();
                let Some(delimiter) = self.take().filter(char::is_ascii_punctuation) else {
                    return self.refused();
                };
                self.delimited(delimiter)?;
                self.skip(|c| c == 'I' || c == 'M');
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// A text up to its delimiter. A delimiter inside brackets ends the text for one sed and not for another.
    fn delimited(&mut self, delimiter: char) -> Result<(), Reason> {
        let mut in_brackets = false;
        loop {
            match self.take() {
                Some('\\') => match self.take() {
                    Some(_) => {}
                    None => return self.refused(),
                },
                Some(c) if c == delimiter => return if in_brackets { self.refused() } else { Ok(()) },
                Some('[') => {
                    in_brackets = true;
                    // `[]…]` and `[^]…]` hold the bracket.
                    self.rest = self.rest.strip_prefix('^').unwrap_or(self.rest);
                    self.rest = self.rest.strip_prefix(']').unwrap_or(self.rest);
                }
                Some(']') => in_brackets = false,
                Some('\n') | None => return self.refused(),
                Some(_) => {}
            }
        }
    }

    fn command(&mut self, at_last: bool) -> Result<(), Reason> {
        let here = self.rest;
        let whole = |script: &Self| refused("sed", here.lines().next().unwrap_or(script.rest));
        match self.take() {
            Some('{' | '}') => Ok(()),
            Some(command @ ('=' | 'd' | 'g' | 'G' | 'h' | 'H' | 'n' | 'N' | 'p' | 'P' | 'x' | 'z' | 'F')) => {
                self.joins |= command == 'N';
                self.growth = self.growth.and(Growth {
                    appends: usize::from(matches!(command, 'G' | 'H')),
                    holds: matches!(command, 'h' | 'H' | 'x'),
                    returns: matches!(command, 'g' | 'G' | 'x'),
                });
                self.end()
            }
            // `D` starts over without reading, which may never end; it is left out.
            Some('l' | 'q' | 'Q') => {
                self.skip(|c| c.is_ascii_digit() || c == ' ');
                self.end()
            }
            Some('s') => self.substitution(),
            Some('y') => {
                let Some(delimiter) = self.take().filter(char::is_ascii_punctuation) else {
                    return self.refused();
                };
                self.delimited(delimiter)?;
                self.delimited(delimiter)?;
                self.end()
            }
            // The text reaches to the end of the line; a backslash would carry it on.
            Some('a' | 'i' | 'c') => {
                let text = self.skip(|c| c != '\n');
                if text.contains('\\') { Err(whole(self)) } else { Ok(()) }
            }
            Some(':') => {
                self.skip(|c| c == ' ');
                self.skip(|c| c.is_ascii_alphanumeric());
                self.end()
            }
            // To a label only in the idiom `:a;N;$!ba`, which ends with the input.
            Some('b') => {
                self.skip(|c| c == ' ');
                let label = self.skip(|c| c.is_ascii_alphanumeric());
                if label.is_empty() || (at_last && self.joins) { self.end() } else { Err(whole(self)) }
            }
            Some('t' | 'T') => {
                self.skip(|c| c == ' ');
                if self.skip(|c| c.is_ascii_alphanumeric()).is_empty() {
                    self.end()
                } else {
                    Err(whole(self))
                }
            }
            _ => Err(whole(self)),
        }
    }

    fn substitution(&mut self) -> Result<(), Reason> {
        let Some(delimiter) =
            self.take().filter(|c| c.is_ascii_punctuation() && !matches!(c, '\\' | '[' | ']'))
        else {
            return self.refused();
        };
        self.delimited(delimiter)?;
        let before = self.rest;
        self.replacement(delimiter)?;
        let written = before.strip_suffix(self.rest).unwrap_or(before);
        let references =
            written.split('\\').skip(1).filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        let found = written.matches('&').count() + references.count();
        self.growth.appends += if found > 1 { found } else { 0 };
        self.skip(|c| c.is_ascii_digit() || matches!(c, 'g' | 'p' | 'i' | 'I' | 'm' | 'M'));
        self.end()
    }

    /// The replacement: brackets mean nothing in it.
    fn replacement(&mut self, delimiter: char) -> Result<(), Reason> {
        loop {
            match self.take() {
                Some('\\') => match self.take() {
                    Some(_) => {}
                    None => return self.refused(),
                },
                Some(c) if c == delimiter => return Ok(()),
                Some('\n') | None => return self.refused(),
                Some(_) => {}
            }
        }
    }

    /// What may stand behind a command.
    fn end(&mut self) -> Result<(), Reason> {
        self.skip(|c| c == ' ');
        match self.rest.chars().next() {
            None | Some(';' | '\n' | '}' | '#') => Ok(()),
            Some(_) => self.refused(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(script: &str, passes: bool) {
        let judged = Script::new(script).judge();
        assert_eq!(judged.is_ok_and(|growth| !growth.doubles()), passes, "{script:?}");
    }

    #[test]
    fn scripts_that_print_and_edit_the_stream_pass() {
        for script in [
            "1,5p",
            "10,20p;20q",
            "$p",
            "$=",
            "/foo/p",
            "/a/,/b/p",
            "/a/,+3p",
            "0~4p",
            "2!d",
            "s/a/b/",
            "s/a/b/gp",
            "s|/usr|/opt|2",
            "s/[^,]*,//",
            "s/\\//x/g",
            "/x/{n;p}",
            "/x/{s/a/b/;p;}",
            "1!G;h;$!d",
            "G",
            "G;G",
            "x;p;x",
            "H;$!d;x;s/\\n/,/g",
            "/a/h;/b/{x;p}",
            "s/a/(&) [&]/",
            "y/abc/xyz/",
            "/a/I!p",
            "5q",
            "p;p",
            "1i header",
            "\\,x,p",
            "# note\np",
            ":a;N;$!ba;s/\\n/ /g",
            "s/w/e/",
            "/w file/p",
            "s/[]]/x/",
            "",
            "/^$/d",
            "s/^\\s*//;s/\\s*$//",
        ] {
            check(script, true);
        }
    }

    #[test]
    fn scripts_that_write_run_or_loop_do_not() {
        for script in [
            "w victim",
            "1w victim",
            "/x/w victim",
            "s/a/b/w victim",
            "s/a/b/gw victim",
            "s/a/b/e",
            "s/a/touch victim/e",
            "e touch victim",
            "1e",
            "W victim",
            "r other",
            "R other",
            "p;w victim",
            "{w victim\n}",
            "/x/{p;w victim\n}",
            "1i\\\ntext",
            "a text\\\nw victim",
            ":a;ba",
            "G;D",
            "H;G;h",
            "G;h;G;h",
            "H;x;H",
            "x;s/.*/&&/;x",
            ":a;s/a/a/;ta",
            "s/a/b",
            "s/[/]w x/y/",
            "$!ba",
            "p w x",
            "s,a,b,w victim",
            "y/a/b/w",
            "p\nw victim",
            "p#c\nw victim",
            "1~2w victim",
            "1,/x/w victim",
            "$w victim",
            "!w victim",
            "s\\a\\b\\w",
            "k",
        ] {
            check(script, false);
        }
    }
}
