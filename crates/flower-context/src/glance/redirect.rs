//! Redirects: what a glance may read from and write to.

use super::paths::{is_device, is_pipe};
use super::reason::Reason;
use super::scope::Scope;
use super::syntax::{Fault, Redirect, RedirectKind};
use super::value::{Arg, Class};
use super::word;

/// Refuses a redirect that writes anywhere but `/dev/null`, or reads from what may be no file.
pub(super) fn judge(redirect: &Redirect, scope: &Scope<'_>) -> Result<(), Fault> {
    let refused = |reason: Reason| Err(Fault { span: redirect.span, reason });
    match &redirect.kind {
        RedirectKind::Descriptor | RedirectKind::HereDocument | RedirectKind::HereString(_) => Ok(()),
        RedirectKind::Write(target) => {
            // Only the bare word: `$X` may be anything by the time it is opened.
            if target.bare() == Some("/dev/null") {
                return Ok(());
            }
            refused(Reason::WritesFile { target: scope.text(target.span).to_owned() })
        }
        RedirectKind::Read(source) => {
            let is_file = match word::expand_one(source, scope)? {
                Some(Arg::Exact(path)) => path == "/dev/null" || !(is_device(&path) || is_pipe(&path)),
                // `/dev/tcp/host/port` is a connection to bash, which looks at the word after expansion; a
                // name out of a listing is relative to a directory that the line names.
                Some(ref source @ Arg::Open(ref open)) => {
                    !open.many && open.start <= Class::Name && !source.may_be_device()
                }
                None => false,
            };
            if is_file {
                Ok(())
            } else {
                refused(Reason::ReadsUnknown { source: scope.text(source.span).to_owned() })
            }
        }
    }
}
