//! Installs a private copy of Claude Code with npm, once, however many processes ask at the same time.
//!
//! A copy is unpacked in a directory beside its place, asked for its version, and moved into its place by one rename. So
//! a directory named like a version is a whole copy, whoever was killed on the way. A lock that ends with its holder lets
//! one process install while the others wait; what a killed one left unpacked is removed by the next.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use uuid::Uuid;

use super::command::{self, End, Group, Keep};
use super::error::HarnessError;
use super::find::{Search, on_path};
use super::npm::{self, Complaint};
use super::private::{self, Libc};
use super::probe::{Reading, probe};
use super::version::Version;

/// How long npm may take, all in all: up to 200 MB over a slow line.
const NPM_TIME_LIMIT: Duration = Duration::from_secs(30 * 60);

/// How much of npm's output is kept, in bytes.
const NPM_OUTPUT_LIMIT: usize = 64 * 1024;

/// Whether a missing private copy may be installed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Install {
    /// Install it: set-up, rehearsals, tests.
    Allowed,
    /// Fail and say how to install it: a run that somebody pays for does not begin with a download.
    Refused,
}

/// What an installation is doing. Each is worth one line to the user.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Progress {
    /// Another process installs this version; we wait for it.
    Waiting {
        /// The version.
        version: Version,
    },
    /// npm is about to download it, up to 200 MB.
    Installing {
        /// The version.
        version: Version,
        /// The directory that it will be in.
        directory: PathBuf,
    },
    /// It is in place.
    Installed {
        /// The version.
        version: Version,
        /// The program.
        path: PathBuf,
        /// How long it took.
        took: Duration,
    },
}

/// The program of the private copy of one version, installed if it is missing and that is allowed.
///
/// Several processes and threads may ask at the same time: one installs, the others wait.
///
/// # Errors
///
/// If the copy is missing and cannot be, or must not be, installed.
pub fn private_copy(
    search: &Search,
    version: Version,
    install: Install,
    progress: &mut dyn FnMut(&Progress),
) -> Result<PathBuf, HarnessError> {
    let directory = search.private.as_deref().ok_or(HarnessError::NoHome)?;
    if let Some(program) = private::installed(directory, version) {
        return Ok(program);
    }
    if install == Install::Refused {
        return Err(HarnessError::CopyMissing { version, directory: directory.to_path_buf() });
    }
    let (os, arch) = (std::env::consts::OS, std::env::consts::ARCH);
    let package = private::package(os, arch, Libc::of_this_machine())
        .ok_or(HarnessError::UnsupportedPlatform { os, arch })?;
    let npm = on_path("npm", search.path.as_deref()).ok_or(HarnessError::NpmMissing { version })?;

    create_directory(directory)?;
    let _lock = lock(directory, version, progress)?;
    // Whoever held the lock before may have installed it.
    if let Some(program) = private::installed(directory, version) {
        return Ok(program);
    }
    remove_unfinished(directory, version)?;

    let started = Instant::now();
    progress(&Progress::Installing { version, directory: directory.join(version.to_string()) });
    let unpacked = Unpacked::new(directory, version)?;
    run_npm(&npm, search, &unpacked.0, &package, version)?;
    let program = put_in_place(&unpacked.0.join("node_modules").join(&package), directory, version)?;
    progress(&Progress::Installed { version, path: program.clone(), took: started.elapsed() });
    Ok(program)
}

/// Runs npm. It ends with us, however we end.
fn run_npm(
    npm: &Path,
    search: &Search,
    prefix: &Path,
    package: &str,
    version: Version,
) -> Result<(), HarnessError> {
    let mut command = npm::install_command(npm, prefix, package, version);
    if let Some(path) = &search.path {
        command.env("PATH", path);
    }
    let failed = |how: String, said: String| HarnessError::NpmFailed { version, how, said };
    let finished = command::run(command, Group::Watched, NPM_TIME_LIMIT, Keep::Last(NPM_OUTPUT_LIMIT))
        .map_err(|error| failed(format!("{} could not be run", npm.display()), error.to_string()))?;
    let stderr = String::from_utf8_lossy(&finished.stderr);
    let said = npm::excerpt(&stderr);
    let how = match finished.end {
        End::Exited(status) if status.success() => return Ok(()),
        End::Exited(status) => status.to_string(),
        End::TimedOut => format!("not done after {} minutes", NPM_TIME_LIMIT.as_secs() / 60),
    };
    Err(match npm::classify(&stderr) {
        Complaint::OutOfReach => HarnessError::RegistryOutOfReach { version, said },
        Complaint::DiskFull => {
            HarnessError::DiskFull { version, directory: prefix.parent().unwrap_or(prefix).to_path_buf() }
        }
        Complaint::Other => failed(how, said),
    })
}

/// Moves an unpacked package to its place, once its program has shown that it is the version asked for.
fn put_in_place(package: &Path, directory: &Path, version: Version) -> Result<PathBuf, HarnessError> {
    let program = package.join("claude");
    let found = match probe(&program) {
        Ok(Reading::Version(found)) if found == version => None,
        Ok(other) => Some(other.to_string()),
        Err(error) => Some(error.to_string()),
    };
    if let Some(found) = found {
        return Err(HarnessError::NotWhatWasAsked { asked: version, found });
    }
    // The rename must not reach the disk before the content does.
    File::open(&program).and_then(|file| file.sync_all()).map_err(trouble("save", &program))?;
    let place = directory.join(version.to_string());
    // Only something that is no whole copy can be in the way here: the lock is ours, and we looked.
    remove_directory(&place)?;
    fs::rename(package, &place).map_err(trouble("create", &place))?;
    Ok(private::program(directory, version))
}

/// A directory to unpack into. Removed when dropped, together with what was not moved out.
struct Unpacked(PathBuf);

impl Unpacked {
    /// Its name is new every time: an orphaned npm of a killed process may still be writing into an older one.
    fn new(directory: &Path, version: Version) -> Result<Self, HarnessError> {
        let path = directory.join(format!("{}{}", unfinished_prefix(version), Uuid::new_v4().simple()));
        create_directory(&path)?;
        Ok(Self(path))
    }
}

impl Drop for Unpacked {
    fn drop(&mut self) {
        // What stays is removed before the next installation.
        drop(fs::remove_dir_all(&self.0));
    }
}

fn unfinished_prefix(version: Version) -> String {
    format!(".unpacking-{version}-")
}

/// Removes what killed processes left. Call it with the lock held: then nobody alive is unpacking this version.
fn remove_unfinished(directory: &Path, version: Version) -> Result<(), HarnessError> {
    let prefix = unfinished_prefix(version);
    for entry in fs::read_dir(directory).map_err(trouble("read", directory))?.flatten() {
        if entry.file_name().to_string_lossy().starts_with(&prefix) {
            // An orphaned npm may put files back while we remove them; the next installation tries again.
            drop(fs::remove_dir_all(entry.path()));
        }
    }
    Ok(())
}

/// Waits until nobody else installs this version. The lock ends with the file, however this process ends.
fn lock(
    directory: &Path,
    version: Version,
    progress: &mut dyn FnMut(&Progress),
) -> Result<File, HarnessError> {
    let path = directory.join(format!(".lock-{version}"));
    let file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .mode(0o600)
        .open(&path)
        .map_err(trouble("open", &path))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            progress(&Progress::Waiting { version });
            file.lock().map_err(trouble("lock", &path))?;
        }
        Err(TryLockError::Error(error)) => return Err(trouble("lock", &path)(error)),
    }
    Ok(file)
}

/// Creates a directory that is nobody else's business, with all above it.
fn create_directory(path: &Path) -> Result<(), HarnessError> {
    DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(trouble("create", path))
}

fn remove_directory(path: &Path) -> Result<(), HarnessError> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(trouble("remove", path)(error)),
        _ => Ok(()),
    }
}

fn trouble(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> HarnessError {
    move |source| HarnessError::Directory { action, path: path.to_path_buf(), source }
}
