//! The request log: one JSON line for each request, readable by its owner only.

use serde_json::Value;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

#[derive(Debug)]
pub(super) struct Log(File);

impl Log {
    /// Opens a log for appending; a new file has mode 0600.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.create(true).append(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(path).map(Self)
    }

    /// Appends a line in one write.
    pub(super) fn write(&mut self, line: &Value) -> io::Result<()> {
        self.0.write_all(format!("{line}\n").as_bytes())
    }
}
