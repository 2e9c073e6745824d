//! The judge of a parsed command line: every command in it must be known, whatever happens to run before it.

use super::languages::{arithmetic, test};
use super::output;
use super::programs;
use super::reason::{Construct, Reason};
use super::redirect;
use super::scope::{Scope, may_be_set};
use super::syntax::{
    Assignment, Body, Command, Fault, Joint, List, Piece, Pipeline, Redirect, RedirectKind, Script, Span,
    Word, is_name,
};
use super::value::{Arg, Class};
use super::word;
use super::wrap;

/// Loops inside loops that still end soon.
const LOOP_LIMIT: usize = 2;

/// Refuses the first part of `script` that is not known to be harmless.
pub(super) fn judge(source: &str, script: &Script) -> Result<(), Fault> {
    let scope = Scope::of(source, script)?;
    let judge = Judge { scope: &scope, loops: 0, fed: false };
    judge.list(&script.list, Class::Unknown)?;
    script.bodies.iter().try_for_each(|body| judge.nested(body))
}

#[derive(Clone, Copy)]
struct Judge<'s> {
    scope: &'s Scope<'s>,
    loops: usize,
    /// A pipe or a redirect gives what is judged its standard input.
    fed: bool,
}

fn refuse<T>(span: Span, reason: Reason) -> Result<T, Fault> {
    Err(Fault { span, reason })
}

impl Judge<'_> {
    /// Judges a list whose commands read `input`.
    fn list(&self, list: &List, input: Class) -> Result<(), Fault> {
        list.pipelines.iter().try_for_each(|pipeline| self.pipeline(pipeline, input))
    }

    fn pipeline(&self, pipeline: &Pipeline, input: Class) -> Result<(), Fault> {
        let mut input = input;
        for (index, command) in pipeline.commands.iter().enumerate() {
            Self { fed: self.fed || index > 0, ..*self }.command(command, input)?;
            if index + 1 < pipeline.commands.len() {
                input = output::of_command(command, input, self.scope);
            }
        }
        Ok(())
    }

    fn command(&self, command: &Command, input: Class) -> Result<(), Fault> {
        let mut input = input;
        let mut inner = *self;
        for redirect in &command.redirects {
            redirect::judge(redirect, self.scope)?;
            input = Class::Unknown;
            match &redirect.kind {
                RedirectKind::Read(word) | RedirectKind::HereString(word) => {
                    self.nested(word)?;
                    inner.fed = true;
                }
                RedirectKind::Write(word) => self.nested(word)?,
                RedirectKind::Descriptor => {}
                RedirectKind::HereDocument => inner.fed = true,
            }
        }
        match &command.body {
            Body::Simple { assignments, words } => inner.simple(command, assignments, words, input),
            Body::Group(list) => inner.list(list, input),
            Body::If(lists) => lists.iter().try_for_each(|list| inner.list(list, input)),
            Body::For { name, words, body } => {
                settable(command.span, name)?;
                words.iter().try_for_each(|word| self.nested(word))?;
                inner.looped(command.span)?.list(body, Class::Unknown)
            }
            Body::While { condition, body } => {
                ends(command.span, condition)?;
                let inner = inner.looped(command.span)?;
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
            Body::Arithmetic(arithmetic) => {
                arithmetic.sets.iter().try_for_each(|name| settable(command.span, name))?;
                self.pieces(&arithmetic.pieces)?;
                arithmetic::judge(arithmetic, self.scope)
            }
        }
    }

    /// The judge inside one more loop.
    fn looped(self, span: Span) -> Result<Self, Fault> {
        if self.loops >= LOOP_LIMIT {
            return refuse(span, Reason::TooComplex);
        }
        Ok(Self { loops: self.loops + 1, ..self })
    }

    fn simple(
        &self,
        command: &Command,
        assignments: &[Assignment],
        words: &[Word],
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
                self.nested(&assignment.value)
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
        let context = programs::Context { input, depth: 0, fed: self.fed, loops: self.loops };
        programs::judge(&name, &args, context).map_err(|reason| Fault { span: command.span, reason })
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
    fn nested(&self, word: &Word) -> Result<(), Fault> {
        self.pieces(&word.pieces)
    }

    fn pieces(&self, pieces: &[Piece]) -> Result<(), Fault> {
        pieces.iter().try_for_each(|piece| match piece {
            Piece::Text { .. } => Ok(()),
            Piece::Parameter { operands, .. } => operands.iter().try_for_each(|word| self.nested(word)),
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
            Piece::Arithmetic(arithmetic) => {
                self.pieces(&arithmetic.pieces)?;
                match arithmetic.sets.first() {
                    // Only a command of its own is followed as a setting of a variable.
                    Some(name) => refuse(arithmetic.span, Reason::Assignment { name: name.clone() }),
                    None => arithmetic::judge(arithmetic, self.scope),
                }
            }
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

/// A `while` ends when each round begins with a `read` that fails at the end of the input.
fn ends(span: Span, condition: &List) -> Result<(), Fault> {
    let endless = || refuse(span, Reason::Construct(Construct::EndlessLoop));
    let Some((first, rest)) = condition.pipelines.split_first() else { return endless() };
    let [Command { body: Body::Simple { words, .. }, redirects, .. }] = first.commands.as_slice() else {
        return endless();
    };
    let reads = words.first().and_then(Word::bare) == Some("read");
    // A redirect would open its file again in each round.
    let reopens =
        redirects.iter().any(|redirect: &Redirect| !matches!(redirect.kind, RedirectKind::Descriptor));
    if !reads || reopens || first.negated {
        return endless();
    }
    for pipeline in rest {
        let goes_on = match pipeline.joint {
            Joint::And => true,
            // `|| [ -n "$line" ]`: at the end of the input `read` leaves the line empty.
            Joint::Or => test::asks_whether_set(pipeline, words),
            Joint::Then => false,
        };
        if !goes_on {
            return endless();
        }
    }
    Ok(())
}
