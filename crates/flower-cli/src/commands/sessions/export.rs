//! `flower sessions export`.

use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use flower::sessions::{Home, SessionsError, Target, export, write_main};
use flower_context::fill;

use super::Failure;
use crate::console::Console;

/// Options of `flower sessions export`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// A session id, or its first 8 characters or more.
    session: String,

    /// Where it goes [default: the main thread, to standard output]. A file gets the main thread; a directory (that is
    /// there, or ends in /) gets everything in Claude Code's own layout, ready to be resumed from `projects/…/`.
    #[arg(short, long, value_name = "FILE|DIR")]
    output: Option<PathBuf>,

    /// Replace files that are there.
    #[arg(long, requires = "output")]
    force: bool,
}

pub(super) fn run(args: &Args, home: &Home, console: &Console) -> Result<ExitCode, Failure> {
    let Some(output) = args.output.as_deref().filter(|path| *path != Path::new("-")) else {
        let mut out = BufWriter::new(console.output());
        let written = write_main(home, &args.session, &mut out).and_then(|_| {
            out.flush().map_err(|source| SessionsError::Disk { doing: "write", path: "-".into(), source })
        });
        return match written {
            // A reader who has gone (`flower … | head`) has seen enough.
            Err(SessionsError::Disk { source, .. }) if source.kind() == io::ErrorKind::BrokenPipe => {
                Ok(ExitCode::SUCCESS)
            }
            written => Ok(written.map(|()| ExitCode::SUCCESS)?),
        };
    };
    let is_directory = output.is_dir() || output.as_os_str().as_encoded_bytes().ends_with(b"/");
    let target =
        if is_directory { Target::Directory(output.to_owned()) } else { Target::File(output.to_owned()) };
    let exported = export(home, &args.session, &target, args.force)?;
    let (files, entries) = (exported.files.len().to_string(), exported.entries.to_string());
    let first = exported.files.first().map(|path| path.display().to_string()).unwrap_or_default();
    console.say(&fill(
        console.texts().sessions_exported,
        &[("id", &exported.id), ("entries", &entries), ("files", &files), ("path", &first)],
    ));
    Ok(ExitCode::SUCCESS)
}
