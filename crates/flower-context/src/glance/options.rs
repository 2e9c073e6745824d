//! Arguments against a program's entry: which are options, which values, which operands.
//!
//! Options are taken as programs take them: in clusters, glued to their value, behind operands, up to `--`.
//! What an entry does not list is refused, abbreviations of long options too. A value that stands alone and
//! begins with a dash is refused where an option could do harm, so an entry that is wrong about a value
//! cannot hide an option.

use super::paths::{is_device, is_kernel_tree, is_pipe, is_root, is_standard_input};
use super::programs::{Context, Operands, Program};
use super::reason::Reason;
use super::value::{Arg, Class, NUMBER};

/// The arguments of one call, sorted.
#[derive(Debug)]
pub(super) struct Call<'a> {
    /// The program with its sub-commands: `git stash list`.
    pub(super) name: String,
    /// Options in order, short ones as one letter, long ones without dashes.
    pub(super) options: Vec<(&'a str, Option<Arg>)>,
    pub(super) operands: Vec<&'a Arg>,
    /// What is known where the program is called.
    pub(super) context: Context,
}

impl Call<'_> {
    /// Whether one of these options is given.
    pub(super) fn has(&self, names: &[&str]) -> bool {
        self.options.iter().any(|(name, _)| names.contains(name))
    }

    /// Whether a place to look at is where devices are, or holds that: nothing below it is read.
    pub(super) fn leads_to_devices(&self, place: &Arg) -> bool {
        let relative = |path: &str| self.context.at_root && !path.starts_with(['/', '~']);
        match place {
            Arg::Exact(path) => {
                let path = if relative(path) { format!("/{path}") } else { path.clone() };
                path != "/dev/null" && (is_root(&path) || is_kernel_tree(&path))
            }
            Arg::Open(open) => (self.context.at_root && open.head.is_empty()) || open.leads_up(),
        }
    }

    /// Whether an option tells the program to read its standard input.
    pub(super) fn names_input(&self) -> bool {
        self.options.iter().any(|(name, value)| match value.as_ref().map(Arg::exact) {
            Some(value) => value.is_some_and(|value| {
                is_standard_input(value) && (FILE_OPTIONS.contains(name) || value != "-")
            }),
            None => *name == "stdin",
        })
    }

    /// The refusal of a program that reads its standard input, which nothing gives it.
    pub(super) fn no_input(&self) -> Reason {
        Reason::NoInput { program: self.name.clone() }
    }

    /// The refusal of an option.
    pub(super) fn option(&self, option: &str) -> Reason {
        Reason::Option { program: self.name.clone(), option: option.to_owned() }
    }

    /// The refusal of a call that only looks with an option.
    pub(super) fn needs(&self, option: &'static str) -> Reason {
        Reason::Needs { program: self.name.clone(), option }
    }

    /// The refusal of an operand.
    pub(super) fn operand(&self, operand: &Arg) -> Reason {
        Reason::Operand { program: self.name.clone(), operand: operand.shown().to_owned() }
    }
}

/// Options that give a pattern: then the first operand is a file.
pub(super) const PATTERN_OPTIONS: &[&str] = &["e", "f", "regexp", "file"];

/// Options whose value names a file to read.
const FILE_OPTIONS: &[&str] =
    &["f", "file", "files-from", "files0-from", "from-file", "to-file", "X", "exclude-from"];

/// How an option takes its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Takes {
    Nothing,
    /// Glued or the next argument.
    Value,
    /// Only glued.
    Glued,
    /// The next two arguments.
    Two,
}

/// Sorts arguments by an entry. `outer` are the entries whose options are accepted as well.
pub(super) fn sort<'a>(
    program: &'a Program,
    outer: &[&'a Program],
    name: &str,
    args: &'a [Arg],
    context: Context,
) -> Result<Call<'a>, Reason> {
    let call = Call { name: name.to_owned(), options: Vec::new(), operands: Vec::new(), context };
    let mut sorter = Sorter { program, outer, args: args.iter(), call, only_operands: false };
    while let Some(arg) = sorter.args.next() {
        sorter.take(arg)?;
    }
    sorter.finish()
}

/// The options before the first operand, for programs whose first operand is a sub-command: what is left
/// behind them.
pub(super) fn skip_options<'a>(
    program: &'a Program,
    name: &str,
    args: &'a [Arg],
    context: Context,
) -> Result<&'a [Arg], Reason> {
    let call = Call { name: name.to_owned(), options: Vec::new(), operands: Vec::new(), context };
    let mut sorter = Sorter { program, outer: &[], args: args.iter(), call, only_operands: false };
    loop {
        let left = sorter.args.as_slice();
        match sorter.args.next() {
            Some(arg) => sorter.take(arg)?,
            None => return Ok(left),
        }
        if !context.fed && sorter.call.names_input() {
            return Err(sorter.call.no_input());
        }
        if !sorter.call.operands.is_empty() {
            return Ok(left);
        }
    }
}

struct Sorter<'a, 'o> {
    program: &'a Program,
    outer: &'o [&'a Program],
    args: std::slice::Iter<'a, Arg>,
    call: Call<'a>,
    only_operands: bool,
}

impl<'a> Sorter<'a, '_> {
    fn take(&mut self, arg: &'a Arg) -> Result<(), Reason> {
        if self.only_operands {
            return self.operand(arg);
        }
        match arg {
            Arg::Exact(text) if text == "--" => {
                self.only_operands = true;
                Ok(())
            }
            Arg::Exact(text) if text == "-" || !text.starts_with('-') => self.operand(arg),
            Arg::Exact(text) => match text.strip_prefix("--") {
                Some(long) => self.long(arg, long),
                None => self.short(arg, text.get(1..).unwrap_or_default()),
            },
            Arg::Open(open) if open.head.starts_with('-') => self.computed_option(arg, &open.head),
            Arg::Open(open) => {
                if open.start <= self.program.wildest {
                    self.operand(arg)
                } else {
                    Err(self.dynamic(arg))
                }
            }
        }
    }

    fn long(&mut self, arg: &'a Arg, long: &'a str) -> Result<(), Reason> {
        let (name, value) = match long.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (long, None),
        };
        match (self.long_takes(name), value) {
            (Some(Takes::Nothing | Takes::Glued), None) => self.push(name, None),
            (Some(Takes::Value | Takes::Glued), Some(value)) => {
                let value = Arg::Exact(value.to_owned());
                self.no_device(&value)?;
                self.push(name, Some(value))
            }
            (Some(Takes::Value), None) => {
                let value = self.value(arg)?;
                self.push(name, Some(value))
            }
            (Some(Takes::Two), None) => {
                self.value(arg)?;
                let value = self.value(arg)?;
                self.push(name, Some(value))
            }
            _ => Err(self.call.option(arg.shown())),
        }
    }

    fn short(&mut self, arg: &'a Arg, cluster: &'a str) -> Result<(), Reason> {
        let digits = cluster.bytes().all(|byte| byte.is_ascii_digit());
        if self
            .all()
            .any(|program| listed(program.words, arg.shown()).is_some() || (program.numeric && digits))
        {
            return self.push(cluster, None);
        }
        let mut rest = cluster;
        while let Some(letter) = rest.chars().next() {
            let (name, after) = rest.split_at_checked(letter.len_utf8()).unwrap_or((rest, ""));
            match self.short_takes(letter) {
                Some(Takes::Nothing) => self.push(name, None)?,
                Some(Takes::Value) if after.is_empty() => {
                    let value = self.value(arg)?;
                    return self.push(name, Some(value));
                }
                Some(Takes::Value | Takes::Glued) => {
                    return self.push(name, Some(Arg::Exact(after.to_owned())));
                }
                Some(Takes::Two) | None => return Err(self.call.option(arg.shown())),
            }
            rest = after;
        }
        Ok(())
    }

    /// An option of which only the head is written: `--max-count="$n"`, `-n$n`, `-$n`.
    fn computed_option(&mut self, arg: &'a Arg, head: &'a str) -> Result<(), Reason> {
        let Arg::Open(open) = arg else { return Err(self.call.option(arg.shown())) };
        let one = !open.many && open.start <= Class::Path;
        if self.program.wildest != Class::Unknown && !one {
            return Err(self.dynamic(arg));
        }
        let value = |from: usize| {
            let mut open = open.clone();
            open.head = open.head.get(from..).unwrap_or_default().to_owned();
            open.outline = open.outline.and_then(|outline| outline.get(from..).map(str::to_owned));
            Some(Arg::Open(open))
        };
        if let Some(long) = head.strip_prefix("--") {
            return match long.split_once('=') {
                Some((name, _)) if matches!(self.long_takes(name), Some(Takes::Value | Takes::Glued)) => {
                    self.push(name, value("--=".len() + name.len()))
                }
                _ => Err(self.dynamic(arg)),
            };
        }
        let cluster = head.get(1..).unwrap_or_default();
        let number = open
            .outline
            .as_ref()
            .is_some_and(|text| text.chars().skip(1).all(|c| c == NUMBER || c.is_ascii_digit()));
        if cluster.is_empty() && number && self.all().any(|program| program.numeric) {
            return self.push(cluster, None);
        }
        for (at, letter) in cluster.char_indices() {
            let name = cluster.get(at..at + letter.len_utf8()).unwrap_or_default();
            match self.short_takes(letter) {
                Some(Takes::Nothing) => self.push(name, None)?,
                Some(Takes::Value | Takes::Glued) => {
                    return self.push(name, value(at + 1 + letter.len_utf8()));
                }
                _ => return Err(self.call.option(arg.shown())),
            }
        }
        Err(self.dynamic(arg))
    }

    /// The next argument as the value of an option.
    fn value(&mut self, option: &Arg) -> Result<Arg, Reason> {
        let Some(value) = self.args.next() else { return Err(self.call.option(option.shown())) };
        let certain = match value {
            Arg::Exact(text) => {
                !text.starts_with('-')
                    || text == "-"
                    || text.bytes().skip(1).all(|byte| byte.is_ascii_digit())
            }
            Arg::Open(open) => {
                !open.many || (self.program.wildest >= Class::Name && open.start <= Class::Name)
            }
        };
        if !certain && self.program.wildest != Class::Unknown {
            return Err(self.dynamic(value));
        }
        self.no_device(value)?;
        Ok(value.clone())
    }

    fn operand(&mut self, arg: &'a Arg) -> Result<(), Reason> {
        if !self.program.pattern || !self.call.operands.is_empty() || self.call.has(PATTERN_OPTIONS) {
            self.no_device(arg)?;
            self.no_pipe(arg)?;
        }
        self.call.operands.push(arg);
        self.only_operands |= self.program.stops;
        Ok(())
    }

    /// Devices and kernel streams may never end, and a program that reads them does not either.
    fn no_device(&self, arg: &Arg) -> Result<(), Reason> {
        // Below `/` a relative name is whole but for a slash.
        let below =
            self.call.context.at_root && arg.exact().is_some_and(|path| is_device(&format!("/{path}")));
        let device = below || arg.may_be_device();
        if device && !self.program.devices { Err(self.call.operand(arg)) } else { Ok(()) }
    }

    /// What reads files waits at a pipe for whoever writes to it.
    fn no_pipe(&self, arg: &Arg) -> Result<(), Reason> {
        let reads = self.program.pattern || (1..usize::MAX).contains(&self.program.reads);
        if reads && arg.exact().is_some_and(is_pipe) { Err(self.call.operand(arg)) } else { Ok(()) }
    }

    #[expect(clippy::unnecessary_wraps, reason = "every arm that takes an option ends with it")]
    fn push(&mut self, name: &'a str, value: Option<Arg>) -> Result<(), Reason> {
        self.call.options.push((name, value));
        Ok(())
    }

    fn dynamic(&self, arg: &Arg) -> Reason {
        match arg {
            Arg::Exact(_) => self.call.option(arg.shown()),
            Arg::Open(_) => Reason::Dynamic { program: self.call.name.clone(), word: arg.shown().to_owned() },
        }
    }

    fn all(&self) -> impl Iterator<Item = &'a Program> {
        std::iter::once(self.program).chain(self.outer.iter().copied())
    }

    fn short_takes(&self, letter: char) -> Option<Takes> {
        self.all().find_map(|program| {
            let lists = [
                (program.flags, Takes::Nothing),
                (program.valued, Takes::Value),
                (program.glued, Takes::Glued),
            ];
            lists.into_iter().find(|(letters, _)| letters.contains(letter)).map(|(_, takes)| takes)
        })
    }

    fn long_takes(&self, name: &str) -> Option<Takes> {
        let suffix = self.all().find_map(|program| listed(program.long, name))?;
        match suffix {
            "" => Some(Takes::Nothing),
            "=" => Some(Takes::Value),
            "=?" => Some(Takes::Glued),
            "==" => Some(Takes::Two),
            _ => None,
        }
    }

    fn finish(self) -> Result<Call<'a>, Reason> {
        // The option may stand behind what was taken for the pattern.
        if self.program.pattern && self.call.has(PATTERN_OPTIONS) {
            self.call.operands.iter().try_for_each(|arg| self.no_device(arg))?;
        }
        let Self { program, call, .. } = self;
        let limit = match program.operands {
            Operands::Any => return Ok(call),
            Operands::AtMost(limit) => limit,
        };
        // What may become several operands may become one too many.
        if let Some(arg) = call.operands.get(limit).or_else(|| call.operands.iter().find(|arg| !arg.is_one()))
        {
            return Err(call.operand(arg));
        }
        Ok(call)
    }
}

/// Looks a name up in a list of names separated by blanks; returns what its entry has behind the name.
fn listed<'l>(list: &'l str, name: &str) -> Option<&'l str> {
    list.split_ascii_whitespace().find_map(|entry| {
        let suffix = entry.strip_prefix(name)?;
        matches!(suffix, "" | "=" | "=?" | "==").then_some(suffix)
    })
}
