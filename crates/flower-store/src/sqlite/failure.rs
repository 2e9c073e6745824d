//! What an SQLite error means to the caller of a store.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Error, ErrorCode, ffi};

use crate::StoreError;

/// For `map_err` on a call that waited up to `patience`.
pub(super) fn failure(
    doing: &'static str,
    path: &Path,
    patience: Duration,
) -> impl FnOnce(Error) -> StoreError {
    move |error| {
        let path = path.to_owned();
        match error.sqlite_error_code() {
            _ if is_locked(&error) => StoreError::Busy { path, waited: patience },
            Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
                StoreError::Corrupt { path, source: error.into() }
            }
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied)
                if extended(&error) != Some(ffi::SQLITE_READONLY_DBMOVED) =>
            {
                StoreError::ReadOnly { path }
            }
            _ => StoreError::Sqlite { doing, path, source: error.into() },
        }
    }
}

/// Somebody else is at work; the same call may succeed a moment later.
pub(super) fn is_locked(error: &Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::FileLockingProtocolFailed)
    )
}

/// The shared memory that a write-ahead log needs cannot be had in this place.
pub(super) fn is_without_shared_memory(error: &Error) -> bool {
    matches!(
        extended(error),
        Some(
            ffi::SQLITE_IOERR_SHMMAP
                | ffi::SQLITE_IOERR_SHMOPEN
                | ffi::SQLITE_IOERR_SHMSIZE
                | ffi::SQLITE_IOERR_SHMLOCK
                | ffi::SQLITE_PROTOCOL
        )
    ) || error.sqlite_error_code() == Some(ErrorCode::CannotOpen)
}

fn extended(error: &Error) -> Option<i32> {
    error.sqlite_error().map(|error| error.extended_code)
}
