//! Rewrites with consequences: proved before they are used, and what they moved out is on disk before they are read.

use std::collections::HashSet;
use std::path::Path;
use std::{fs, io};

use flower_context::rewrite::{Policy, Rewritten, rewrite};
use flower_context::verify::{compare, verify};

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
pub fn proved(bytes: &[u8], policy: &Policy<'_>, spill: &Path) -> Result<Rewritten, RewriteError> {
    let made = rewrite(bytes, policy);
    prove(bytes, made.text.as_bytes()).map_err(|problem| RewriteError::Invalid { problem })?;
    save(&made, spill)
        .map_err(|source| RewriteError::Spill { directory: spill.display().to_string(), source })?;
    Ok(made)
}

/// The new history may keep problems of the old one (nobody asked for their repair); it may not have any of its own.
fn prove(old: &[u8], new: &[u8]) -> Result<(), String> {
    let known: HashSet<String> = verify(old).into_iter().map(|problem| problem.message).collect();
    let mut problems = verify(new).into_iter().chain(compare(old, new));
    problems
        .find(|problem| !known.contains(&problem.message))
        .map_or(Ok(()), |problem| Err(problem.to_string()))
}

/// Named by content: a file that is there already holds the same text.
fn save(made: &Rewritten, spill: &Path) -> io::Result<()> {
    for spilled in &made.spilled {
        fs::create_dir_all(spill)?;
        let path = spill.join(&spilled.name);
        if !path.exists() {
            whole_file::write(&path, spilled.text.as_bytes())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_history_may_keep_its_problems_and_get_no_new_ones() {
        let sound = "{\"type\":\"user\",\"uuid\":\"1\",\"parentUuid\":null,\"message\":{\"role\":\"user\",\"content\":\"hi\"}}\n";
        let broken = sound.replace("\"hi\"", "\"\"");
        assert_eq!(prove(sound.as_bytes(), sound.as_bytes()), Ok(()));
        assert_eq!(prove(broken.as_bytes(), broken.as_bytes()), Ok(()));
        assert!(prove(sound.as_bytes(), broken.as_bytes()).is_err());
    }
}
