//! What lies where the database should be, and what opening makes of it.

use std::fs;
use std::path::{Path, PathBuf};

use flower_store::{OpenNote, OpenOptions, SessionStore, SqliteStore, StoreError};
use rusqlite::Connection;

use crate::support::{entry, key, open, store, texts};

fn refusal(path: &Path) -> StoreError {
    SqliteStore::open(path, &OpenOptions::default()).unwrap_err()
}

fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// A database with one entry, closed, and its bytes.
fn database(dir: &Path) -> (PathBuf, Vec<u8>) {
    let path = dir.join("sessions.db");
    let mut store = store(&path);
    store.append(&key(), &[&entry("a")]).unwrap();
    store.close().unwrap();
    let bytes = fs::read(&path).unwrap();
    (path, bytes)
}

fn set_aside(path: &Path) -> PathBuf {
    let mut opened = open(path);
    let [OpenNote::SetAside { moved_to, .. }] = opened.notes.as_slice() else { panic!("{:?}", opened.notes) };
    assert_eq!(texts(&opened.store, &key()), [""; 0]);
    opened.store.append(&key(), &[&entry("b")]).unwrap();
    opened.store.check().unwrap();
    moved_to.clone()
}

#[test]
fn a_zeroed_header_is_set_aside_and_kept() {
    let dir = tempfile::tempdir().unwrap();
    let (path, mut bytes) = database(dir.path());
    bytes[..100].fill(0);
    fs::write(&path, &bytes).unwrap();
    let moved_to = set_aside(&path);
    assert_eq!(moved_to, dir.path().join("sessions.db.corrupt-1"));
    assert_eq!(fs::read(&moved_to).unwrap(), bytes);

    fs::write(&path, "not a database, but somebody's text").unwrap();
    fs::write(dir.path().join("sessions.db-wal"), "side file").unwrap();
    let moved_to = set_aside(&path);
    assert_eq!(fs::read_to_string(&moved_to).unwrap(), "not a database, but somebody's text");
    assert_eq!(moved_to, dir.path().join("sessions.db.corrupt-2"));
    assert_eq!(fs::read_to_string(dir.path().join("sessions.db.corrupt-2-wal")).unwrap(), "side file");
    assert_eq!(fs::read(dir.path().join("sessions.db.corrupt-1")).unwrap(), bytes);
}

#[test]
fn a_damaged_schema_is_set_aside() {
    let dir = tempfile::tempdir().unwrap();
    let (path, mut bytes) = database(dir.path());
    bytes[100..4096].fill(0xa5);
    fs::write(&path, &bytes).unwrap();
    assert_eq!(fs::read(set_aside(&path)).unwrap(), bytes);
}

#[test]
fn damage_behind_the_schema_is_found_by_a_check() {
    let dir = tempfile::tempdir().unwrap();
    let (path, mut bytes) = database(dir.path());
    let at = bytes.windows(40).position(|window| window == [b'x'; 40]).unwrap();
    let page = at / 4096 * 4096;
    bytes[page..page + 8].fill(0xff);
    fs::write(&path, &bytes).unwrap();
    let opened = open(&path);
    assert!(matches!(opened.store.check(), Err(StoreError::Corrupt { .. })));
}

#[test]
fn a_newer_schema_is_refused_and_not_touched() {
    let dir = tempfile::tempdir().unwrap();
    let (path, _) = database(dir.path());
    Connection::open(&path).unwrap().pragma_update(None, "user_version", 99).unwrap();
    let before = fs::read(&path).unwrap();
    assert!(matches!(refusal(&path), StoreError::NewerSchema { found: 99, known: 1, .. }));
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn the_database_of_another_program_is_refused_and_not_touched() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("sessions.db");
    Connection::open(&path).unwrap().execute_batch("CREATE TABLE theirs (x)").unwrap();
    let before = fs::read(&path).unwrap();
    assert!(matches!(refusal(&path), StoreError::Foreign { .. }));
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn a_directory_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    assert!(matches!(refusal(dir.path()), StoreError::IsDirectory { .. }));
    assert_eq!(names(dir.path()), [""; 0]);
}

#[test]
fn a_file_in_the_way_of_the_directory_is_an_error_that_names_it() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("runs"), "").unwrap();
    let error = refusal(&dir.path().join("runs/sessions.db"));
    assert!(matches!(error, StoreError::Io { .. }));
    assert!(error.to_string().contains("runs/sessions.db"), "{error}");
}

/// Permission bits do not stop a superuser, but nobody can make a directory in `/sys`.
#[cfg(target_os = "linux")]
#[test]
fn a_place_that_cannot_be_written_is_read_only() {
    assert!(matches!(refusal(Path::new("/sys/flower/sessions.db")), StoreError::ReadOnly { .. }));
}

/// Permission bits bind most users; for those whom they do not bind, the store simply opens.
#[cfg(unix)]
#[test]
fn a_file_or_directory_without_the_right_to_write_is_read_only() {
    use std::os::unix::fs::PermissionsExt;
    let protect = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    for (dir_mode, file_mode) in [(0o500, 0o600), (0o700, 0o400), (0o500, 0o400)] {
        let dir = tempfile::tempdir().unwrap();
        let (path, _) = database(dir.path());
        protect(&path, file_mode);
        protect(dir.path(), dir_mode);
        let is_bound = fs::write(dir.path().join("probe"), "").is_err()
            || fs::OpenOptions::new().write(true).open(&path).is_err();
        let opened = SqliteStore::open(&path, &OpenOptions::default());
        protect(dir.path(), 0o700);
        match opened {
            Err(StoreError::ReadOnly { .. }) => assert!(is_bound),
            other => assert!(!is_bound && other.is_ok(), "{dir_mode:o} {file_mode:o} {other:?}"),
        }
    }
}

#[cfg(unix)]
#[test]
fn every_file_is_private_from_the_start() {
    use std::os::unix::fs::PermissionsExt;
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("runs/sessions.db");
    let mut opened = store(&path);
    opened.append(&key(), &["{}"]).unwrap();
    assert_eq!(mode(path.parent().unwrap()), 0o700);
    let files = names(path.parent().unwrap());
    assert_eq!(files, ["sessions.db", "sessions.db-shm", "sessions.db-wal"]);
    for file in files {
        assert_eq!(mode(&path.with_file_name(&file)), 0o600, "{file}");
    }
    opened.close().unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    drop(store(&path));
    assert_eq!(mode(&path), 0o600);
}

/// Behind a sound header: nothing is looked for unless that is wanted, and then what lies on the other pages is kept.
#[test]
fn what_can_still_be_read_of_a_damaged_store_is_kept() {
    let mend = OpenOptions { mend: true, ..OpenOptions::default() };
    let texts: Vec<String> = (0..300).map(|n| entry(&n.to_string())).collect();
    let whole = tempfile::tempdir().unwrap();
    let path = whole.path().join("sessions.db");
    let mut store = store(&path);
    for text in &texts {
        store.append(&key(), &[text]).unwrap();
    }
    store.close().unwrap();
    let bytes = fs::read(&path).unwrap();
    let pages = bytes.len() / 4096;
    assert!(pages > 10, "{pages}");

    let zeroed = |page: usize| {
        let mut torn = bytes.clone();
        torn[page * 4096..(page + 1) * 4096].fill(0);
        torn
    };
    let mut cases: Vec<(String, Vec<u8>)> =
        (1..pages).map(|page| (format!("page {page}"), zeroed(page))).collect();
    cases.push(("the second half".to_owned(), bytes[..bytes.len() / 2].to_vec()));
    for (case, torn) in cases {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("sessions.db");
        fs::write(&path, &torn).unwrap();
        let opened = SqliteStore::open(&path, &mend).unwrap();
        let found: Vec<String> =
            opened.store.load(&key()).unwrap().into_iter().map(|entry| entry.text).collect();
        let mut rest = texts.iter();
        assert!(found.iter().all(|text| rest.any(|known| known == text)), "{case}: in their order");
        match opened.notes.as_slice() {
            // A free page, or one that nothing depends on.
            [] => assert_eq!(found.len(), texts.len(), "{case}"),
            [OpenNote::SetAside { moved_to, saved, .. }] => {
                assert_eq!(fs::read(moved_to).unwrap(), torn, "{case}: it lies there as it was");
                assert_eq!(found.len() as u64, *saved, "{case}");
            }
            other => panic!("{case}: {other:?}"),
        }
        // The root of the entries alone hides all of them.
        let hidden = found.is_empty();
        assert!(
            case == "page 3" || !hidden && (found.len() > 200 || case.starts_with("the")),
            "{case}: {}",
            found.len()
        );
        opened.store.check().unwrap();
        let left: Vec<String> =
            names(dir.path()).into_iter().filter(|name| name.contains("salvaged")).collect();
        assert_eq!(left, [""; 0], "{case}");
    }
}
