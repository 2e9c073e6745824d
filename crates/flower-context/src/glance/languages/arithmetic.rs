//! Shell arithmetic: an expression may use nothing but numbers.
//!
//! The shell evaluates the value of a name as an expression again, and runs commands in the subscripts of
//! it: with `n='a[$(rm x)]'`, `$((n))` removes a file. So every name and every expansion in it must be
//! known to be a number.

use super::refused;
use crate::glance::output;
use crate::glance::scope::Scope;
use crate::glance::syntax::{Arithmetic, Fault, Piece};
use crate::glance::value::Class;

/// Refuses an expression that evaluates something else than numbers.
pub(in crate::glance) fn judge(arithmetic: &Arithmetic, scope: &Scope<'_>) -> Result<(), Fault> {
    let fault = |piece: &str| Err(Fault { span: arithmetic.span, reason: refused("arithmetic", piece) });
    if let Some(name) = arithmetic.reads.iter().find(|name| !scope.is_number(name)) {
        return fault(name);
    }
    for piece in &arithmetic.pieces {
        let class = match piece {
            Piece::Parameter { name, subscript, form, .. } => {
                scope.parameter(name, subscript.as_ref(), *form).class()
            }
            Piece::Output { list, .. } => output::of_list(list, scope),
            Piece::Arithmetic(_) => Class::Number,
            Piece::Text { .. } | Piece::Process(_) => Class::Unknown,
        };
        if class != Class::Number {
            return fault(scope.text(arithmetic.span));
        }
    }
    Ok(())
}
