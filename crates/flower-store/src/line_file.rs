//! A file of lines that several processes add to.
//!
//! Each line is one write under a lock, behind the end of the file. A process that died in the middle of its write
//! leaves a torn line; the next one starts on a fresh line, so that a torn line costs itself alone.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use crate::private;

/// Adds one line (which must hold no line break) and returns when it is on the disk.
pub(crate) fn append(path: &Path, line: &[u8]) -> io::Result<()> {
    let mut file = private::open_to_append(path)?;
    lock(&file)?;
    append_locked(&mut file, line)
}

/// Adds one line to a file that the caller has locked.
pub(crate) fn append_locked(file: &mut File, line: &[u8]) -> io::Result<()> {
    let mut whole = Vec::with_capacity(line.len() + 2);
    if !ends_with_newline(file)? {
        whole.push(b'\n');
    }
    whole.extend_from_slice(line);
    whole.push(b'\n');
    file.write_all(&whole)?;
    file.sync_data()
}

/// Waits for the lock of the file. Where the file system knows no locks, a single appending write has to do.
pub(crate) fn lock(file: &File) -> io::Result<()> {
    match file.lock() {
        Err(error) if error.kind() == io::ErrorKind::Unsupported => Ok(()),
        result => result,
    }
}

/// The whole file, as it is between two writes; `None` when there is none.
pub(crate) fn read(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    match file.lock_shared() {
        Err(error) if error.kind() != io::ErrorKind::Unsupported => return Err(error),
        _ => {}
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

/// An empty file needs no fresh line.
fn ends_with_newline(file: &mut File) -> io::Result<bool> {
    if file.seek(SeekFrom::End(0))? == 0 {
        return Ok(true);
    }
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}
