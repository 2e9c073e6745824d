//! Rewrites with consequences: proved before they are used, and what they moved out is on disk before they are read.

use std::path::Path;
use std::{fs, io};

use flower_context::rewrite::{Policy, Rewritten, rewrite_read};
use flower_context::transcript::Transcript;
use flower_context::verify::prove;

use crate::whole_file;

/// Why a rewrite must not be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RewriteError {
    /// It has a problem that the original does not have.
    #[error("the rewritten history would not be valid: {problem}")]
    Invalid {
        /// The first such problem.
        problem: String,
    },
    /// A text that moved out of it could not be written.
    #[error("cannot write what moved out of the history to {directory}: {source}")]
    Spill {
        /// The spill directory.
        directory: String,
        /// The system's reason.
        source: io::Error,
    },
}

/// Rewrites a transcript, proves the result, and writes what moved out of it to `spill`.
///
/// # Errors
/// When the result must not be used; the original is the history then.
pub fn proved<'a>(bytes: &'a [u8], policy: &Policy<'_>, spill: &Path) -> Result<Rewritten<'a>, RewriteError> {
    let original = Transcript::read(bytes);
    let made = rewrite_read(&original, policy);
    if let Some(problem) = prove(&original, &made.read_beside(&original)).first() {
        return Err(RewriteError::Invalid { problem: problem.to_string() });
    }
    save(&made, spill)
        .map_err(|source| RewriteError::Spill { directory: spill.display().to_string(), source })?;
    Ok(made)
}

/// Named by content: a file that is there already holds the same text.
fn save(made: &Rewritten<'_>, spill: &Path) -> io::Result<()> {
    for spilled in &made.spilled {
        fs::create_dir_all(spill)?;
        let path = spill.join(&spilled.name);
        if !path.exists() {
            whole_file::write(&path, spilled.text.as_bytes())?;
        }
    }
    Ok(())
}
