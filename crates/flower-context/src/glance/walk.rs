//! The judge of a parsed command line: every command in it must be known, whatever happens to run before it.

use super::growth;
use super::languages::{arithmetic, bc, test};
use super::loops::{self, rounds};
use super::origin::{self, Origin};
use super::output;
use super::paths::is_standard_input;
use super::programs;
use super::reason::{Construct, Reason};
use super::redirect;
use super::scope::{Scope, may_be_set};
use super::syntax::{
    Arithmetic, Assignment, Body, Command, Fault, List, Piece, Pipeline, Redirect, RedirectKind, Script,
    Span, Subscript, Word, is_name,
};
use super::value::{Arg, Class};
use super::word;
use super::wrap;

/// Loops inside loops that still end soon.
const LOOP_LIMIT: usize = 2;

/// Refuses the first part of `script` that is not known to be harmless.
pub(super) fn judge(source: &str, script: &Script) -> Result<(), Fault> {
    let scope = Scope::of(source, script)?;
    if growth::is_fast(script) {
        return refuse(Span { start: 0, end: source.len() }, Reason::Construct(Construct::Doubling));
    }
    let judge = Judge {
        scope: &scope,
        loops: 0,
        rounds: 1,
        fed: false,
        piped: false,
        origin: Origin::NONE,
        source: None,
    };
    judge.list(&script.list, Class::Unknown)?;
    script.bodies.iter().try_for_each(|body| judge.nested(body))
}

#[derive(Clone, Copy)]
struct Judge<'s> {
    scope: &'s Scope<'s>,
    loops: usize,
    /// How often they go round altogether, as far as the line says it.
    rounds: u64,
    /// A pipe or a redirect gives what is judged its standard input.
    fed: bool,
    /// A pipe takes what is judged prints.
    piped: bool,
    /// What its standard input may come of.
    origin: Origin,
    /// The first stage of a pipeline, for the second one.
    source: Option<&'s Command>,
}

fn refuse<T>(span: Span, reason: Reason) -> Result<T, Fault> {
    Err(Fault { span, reason })
}

impl<'s> Judge<'s> {
    /// Judges a list whose commands read `input`.
    fn list(&self, list: &'s List, input: Class) -> Result<(), Fault> {
        list.pipelines.iter().try_for_each(|pipeline| self.pipeline(pipeline, input))
    }

    fn pipeline(&self, pipeline: &'s Pipeline, input: Class) -> Result<(), Fault> {
        let mut input = input;
        let mut origin = self.origin;
        for (index, command) in pipeline.commands.iter().enumerate() {
            let source = if index == 1 { pipeline.commands.first() } else { None };
            let passes_on = index + 1 < pipeline.commands.len();
            let (fed, piped) = (self.fed || index > 0, self.piped || passes_on);
            Self { fed, piped, origin, source, ..*self }.command(command, input)?;
            if passes_on {
                input = output::of_command(command, input, self.scope);
                origin = origin.or(origin::of_command(command, self.scope));
            }
        }
        Ok(())
    }

    fn command(&self, command: &'s Command, input: Class) -> Result<(), Fault> {
        let mut input = input;
        let mut inner = *self;
        for redirect in &command.redirects {
            redirect::judge(redirect, self.scope)?;
            input = Class::Unknown;
            match &redirect.kind {
                RedirectKind::Read(word) | RedirectKind::HereString(word) => {
                    self.nested(word)?;
                    let same = matches!(redirect.kind, RedirectKind::Read(_))
                        && word.bare().is_some_and(is_standard_input);
                    inner.fed |= !same;
                    inner.origin = origin::of_word(word, self.scope);
                }
                RedirectKind::Write(word) => self.nested(word)?,
                RedirectKind::Descriptor => {}
                RedirectKind::HereDocument => {
                    inner.fed = true;
                    inner.origin = self.scope.origin();
                }
            }
        }
        match &command.body {
            Body::Simple { assignments, words } => inner.simple(command, assignments, words, input),
            Body::Group(list) => inner.list(list, input),
            Body::If(lists) => lists.iter().try_for_each(|list| inner.list(list, input)),
            Body::For { name, words, body } => {
                settable(command.span, name)?;
                words.iter().try_for_each(|word| self.nested(word))?;
                inner.looped(command.span, rounds::of_words(words))?.list(body, Class::Unknown)
            }
            Body::Count { parts, body } => {
                parts.iter().try_for_each(|part| self.arithmetic(part))?;
                let rounds = loops::judge_count(command.span, parts, body, self.scope)?;
                inner.looped(command.span, rounds)?.list(body, Class::Unknown)
            }
            Body::Case { word, patterns, branches } => {
                self.nested(word)?;
                patterns.iter().try_for_each(|pattern| self.nested(pattern))?;
                branches.iter().try_for_each(|list| inner.list(list, input))
            }
            Body::While { condition, until, body } => {
                let rounds = loops::judge_while(command.span, condition, *until, body, self.scope)?;
                let inner = inner.looped(command.span, rounds)?;
                inner.list(condition, Class::Unknown)?;
                inner.list(body, Class::Unknown)
            }
            Body::Condition(primaries) => {
                for primary in primaries {
                    test::words(primary).into_iter().try_for_each(|word| self.nested(word))?;
                    test::judge_primary(primary, self.scope)?;
                }
                Ok(())
            }
            Body::Arithmetic(arithmetic) => self.arithmetic(arithmetic),
        }
    }

    fn arithmetic(&self, arithmetic: &'s Arithmetic) -> Result<(), Fault> {
        arithmetic.sets.iter().try_for_each(|name| settable(arithmetic.span, name))?;
        self.pieces(&arithmetic.pieces)?;
        arithmetic::judge(arithmetic, self.scope)
    }

    /// The judge inside one more loop, which goes round so often.
    fn looped(self, span: Span, rounds: u64) -> Result<Self, Fault> {
        if self.loops >= LOOP_LIMIT {
            return refuse(span, Reason::TooComplex);
        }
        let rounds = self.rounds.saturating_mul(rounds);
        if !rounds::are_few(rounds) {
            return refuse(span, Reason::Construct(Construct::LongLoop));
        }
        Ok(Self { loops: self.loops + 1, rounds, ..self })
    }

    fn simple(
        &self,
        command: &'s Command,
        assignments: &'s [Assignment],
        words: &'s [Word],
        input: Class,
    ) -> Result<(), Fault> {
        let Some((first, rest)) = words.split_first() else {
            if assignments.is_empty() {
                // `< file` alone runs a pager in zsh, `> file` alone empties the file.
                return refuse(
                    command.span,
                    Reason::Syntax { near: self.scope.text(command.span).to_owned() },
                );
            }
            return assignments.iter().try_for_each(|assignment| {
                settable(assignment.span, &assignment.name)?;
                if self.loops > 0 && growth::doubles(assignment) {
                    return refuse(assignment.span, Reason::Construct(Construct::Doubling));
                }
                assignment.value.words().iter().try_for_each(|word| self.nested(word))
            });
        };
        let name = word::literal_name(first, self.scope)?;
        for assignment in assignments {
            wrap::judge_prefix(assignment, first.bare(), self.scope)?;
        }
        rest.iter().try_for_each(|word| self.nested(word))?;
        let mut args = Vec::with_capacity(words.len());
        for word in rest {
            args.append(&mut word::expand(word, self.scope)?);
        }
        // Only this spelling: variables that `read` sets are collected by it.
        if first.bare() == Some("read") {
            return if self.fed {
                Self::read(command.span, rest, &args)
            } else {
                refuse(command.span, Reason::NoInput { program: "read".to_owned() })
            };
        }
        if name == "bc" {
            let sum = self.written_input(command)?;
            return bc::judge(&args, sum.as_deref()).map_err(|reason| Fault { span: command.span, reason });
        }
        let context = programs::Context {
            input,
            depth: 0,
            fed: self.fed,
            origin: self.origin,
            loops: self.loops,
            rounds: self.rounds,
            piped: self.piped,
            at_root: self.scope.is_at_root(),
        };
        programs::judge(&name, &args, context).map_err(|reason| Fault { span: command.span, reason })
    }

    /// What a command reads, if the command line writes it out: `echo "1 + 2" | bc`, `bc <<< "1 + 2"`.
    fn written_input(&self, command: &Command) -> Result<Option<Vec<Arg>>, Fault> {
        let words = match (command.redirects.as_slice(), self.source.map(|source| &source.body)) {
            ([Redirect { kind: RedirectKind::HereString(word), .. }], _) => std::slice::from_ref(word),
            ([], Some(Body::Simple { assignments, words })) if assignments.is_empty() => {
                match words.split_first() {
                    Some((program, words)) if program.bare() == Some("echo") => words,
                    _ => return Ok(None),
                }
            }
            _ => return Ok(None),
        };
        let mut written = Vec::new();
        for word in words {
            written.append(&mut word::expand(word, self.scope)?);
        }
        Ok(Some(written))
    }

    /// `read -r NAME …`
    fn read(span: Span, words: &[Word], args: &[Arg]) -> Result<(), Fault> {
        let refused = |arg: &Arg| {
            refuse(span, Reason::Option { program: "read".to_owned(), option: arg.shown().to_owned() })
        };
        let mut index = 0;
        while let Some(arg) = args.get(index) {
            match arg.exact() {
                Some("-r") => index += 1,
                Some("-d" | "-rd") if args.get(index + 1).is_some_and(|value| value.exact().is_some()) => {
                    index += 2;
                }
                Some(text) if !text.starts_with('-') => break,
                _ => return refused(arg),
            }
        }
        if words.len() != args.len() {
            return args.first().map_or(Ok(()), refused);
        }
        words.iter().skip(index).try_for_each(|word| match word.bare() {
            Some(name) if is_name(name) => settable(span, name),
            _ => refuse(word.span, Reason::ComputedName),
        })
    }

    /// Judges what a word runs while it is expanded.
    fn nested(&self, word: &'s Word) -> Result<(), Fault> {
        self.pieces(&word.pieces)
    }

    fn pieces(&self, pieces: &'s [Piece]) -> Result<(), Fault> {
        pieces.iter().try_for_each(|piece| match piece {
            Piece::Text { .. } => Ok(()),
            Piece::Parameter { subscript, operands, .. } => {
                if let Some(Subscript::At(index)) = subscript {
                    self.arithmetic(index)?;
                }
                operands.iter().try_for_each(|word| self.nested(word))
            }
            Piece::Output { list, .. } if reads_a_file(list) => {
                let redirects = list
                    .pipelines
                    .iter()
                    .flat_map(|pipeline| &pipeline.commands)
                    .flat_map(|command| &command.redirects);
                redirects.into_iter().try_for_each(|redirect| {
                    if let RedirectKind::Read(word) = &redirect.kind {
                        self.nested(word)?;
                    }
                    redirect::judge(redirect, self.scope)
                })
            }
            Piece::Output { list, .. } | Piece::Process(list) => self.list(list, Class::Unknown),
            Piece::Arithmetic(arithmetic) => self.arithmetic(arithmetic),
        })
    }
}

/// `$(< file)`
fn reads_a_file(list: &List) -> bool {
    match list.pipelines.as_slice() {
        [Pipeline { commands, negated: false, .. }] => match commands.as_slice() {
            [Command { body: Body::Simple { assignments, words }, redirects, .. }] => {
                assignments.is_empty()
                    && words.is_empty()
                    && matches!(redirects.as_slice(), [Redirect { kind: RedirectKind::Read(_), .. }])
            }
            _ => false,
        },
        _ => false,
    }
}

fn settable(span: Span, name: &str) -> Result<(), Fault> {
    if may_be_set(name) { Ok(()) } else { refuse(span, Reason::Assignment { name: name.to_owned() }) }
}
