//! `fd -x COMMAND`: runs a command for what it finds, so the command must be a glance whatever the name is.

use super::find::replaced;
use crate::glance::origin::Origin;
use crate::glance::paths::{is_kernel_tree, is_root};
use crate::glance::programs::{self, Context};
use crate::glance::reason::Reason;
use crate::glance::value::{Arg, Class, Open};

/// What stands for a name in the command.
const PLACEHOLDERS: &[&str] = &["{}", "{/}", "{//}", "{.}", "{/.}"];

/// The arguments of `fd` itself, and the command behind `-x` or `-X` if there is one.
pub(in crate::glance) fn split(args: &[Arg]) -> (&[Arg], Option<&[Arg]>) {
    let runs = |arg: &Arg| matches!(arg.exact(), Some("-x" | "-X" | "--exec" | "--exec-batch"));
    match args.iter().position(runs).and_then(|at| args.split_at_checked(at)) {
        Some((own, command)) => (own, command.get(1..)),
        None => (args, None),
    }
}

/// Whether a call may find devices and streams of the kernel.
pub(in crate::glance) fn finds_devices(args: &[Arg], at_root: bool) -> bool {
    at_root || args.iter().filter_map(Arg::exact).any(|arg| is_root(arg) || is_kernel_tree(arg))
}

/// Judges the command of `fd -x`, which reaches to the end. Old versions put no `./` before a name.
pub(in crate::glance) fn judge_command(own: &[Arg], command: &[Arg], context: Context) -> Result<(), Reason> {
    let Some((name, words)) = command.split_first() else {
        return Err(Reason::Subcommand { program: "fd -x".to_owned(), subcommand: String::new() });
    };
    let name = name.exact().filter(|name| !name.contains('{')).ok_or(Reason::ComputedName)?;
    // `;` ends the command, and options of fd follow.
    if let Some(end) = words.iter().find(|word| word.exact() == Some(";")) {
        return Err(Reason::Operand { program: "fd -x".to_owned(), operand: end.shown().to_owned() });
    }
    let origin = Origin::of_device(finds_devices(own, context.at_root));
    let mut found = false;
    let mut filled: Vec<Arg> = Vec::with_capacity(words.len() + 1);
    for word in words {
        let placeholder = PLACEHOLDERS.iter().find(|placeholder| word.shown().contains(*placeholder));
        found |= placeholder.is_some();
        filled.push(placeholder.map_or_else(
            || word.clone(),
            |placeholder| replaced(word, placeholder, Class::Name, origin, true),
        ));
    }
    if !found {
        let (head, tail, end) = (String::new(), String::new(), String::new());
        let shown = "names that fd finds".to_owned();
        filled.push(Arg::Open(Open {
            head,
            start: Class::Name,
            inside: Class::Name,
            many: true,
            tail,
            end,
            outline: None,
            origin,
            shown,
        }));
    }
    programs::judge(name, &filled, context.for_each()?)
}
