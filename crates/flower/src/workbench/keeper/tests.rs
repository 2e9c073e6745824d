//! The index on disk, and what sessions are told of it.

use std::time::{Duration, SystemTime};

use super::*;

fn keeper() -> (tempfile::TempDir, Workbench, Keeper) {
    let dir = tempfile::tempdir().unwrap();
    let bench = Workbench::open(&dir.path().join(".flower")).unwrap();
    let keeper = Keeper::new(bench.clone(), Lang::En);
    (dir, bench, keeper)
}

fn index(bench: &Workbench) -> String {
    fs::read_to_string(bench.index()).unwrap()
}

fn head(block: &str) -> String {
    format!("rules\n{block}")
}

#[test]
fn the_index_follows_what_is_there() {
    let (_dir, bench, keeper) = keeper();
    keeper.refresh().unwrap();
    assert!(index(&bench).starts_with(index::MARK));
    fs::write(bench.scripts().join("count.py"), "#!/usr/bin/env python3\n# desc: counts words\n").unwrap();
    fs::create_dir_all(bench.artifacts().join("run/1")).unwrap();
    fs::write(bench.artifacts().join("run/1/log.txt"), "x".repeat(1500)).unwrap();
    fs::write(bench.artifacts().join("picture.bin"), "\0# desc: binary").unwrap();
    fs::create_dir_all(bench.notes().join("archive")).unwrap();
    fs::write(bench.notes().join("archive/old.md"), "# Old").unwrap();
    fs::write(bench.notes().join(".hidden.md"), "# Hidden").unwrap();
    fs::write(bench.notes().join("why.md"), "# Why SQLite\n").unwrap();
    fs::write(bench.spill().join("0123456789abcdef.txt"), "x").unwrap();
    keeper.refresh().unwrap();
    let text = index(&bench);
    for line in [
        "- `scripts/count.py`: counts words (44 B)",
        "- `artifacts/run/1/log.txt` (1.5 kB)",
        "- `artifacts/picture.bin` (15 B)",
        "- `notes/why.md`: Why SQLite (13 B)",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}\n{text}");
    }
    for left_out in ["old.md", "hidden", "0123456789abcdef"] {
        assert!(!text.contains(left_out), "{left_out}\n{text}");
    }

    // A changed description is seen, a file that is gone is gone.
    fs::write(bench.scripts().join("count.py"), "# desc: counts lines and words\n").unwrap();
    fs::remove_file(bench.notes().join("why.md")).unwrap();
    keeper.refresh().unwrap();
    assert!(index(&bench).contains("counts lines and words") && !index(&bench).contains("why.md"));
}

#[test]
fn a_long_file_is_not_read_to_its_end() {
    let (_dir, bench, keeper) = keeper();
    let text = format!("{}\n# desc: too far down\n", "x".repeat(4096));
    fs::write(bench.scripts().join("a.py"), text).unwrap();
    keeper.refresh().unwrap();
    assert!(index(&bench).contains("- `scripts/a.py` (4.1 kB)"));
}

#[test]
#[cfg(unix)]
fn symlinks_do_not_lead_out() {
    let (dir, bench, keeper) = keeper();
    fs::write(dir.path().join("secret.txt"), "# desc: secret").unwrap();
    let link = |to: &Path, name: &str| std::os::unix::fs::symlink(to, bench.scripts().join(name)).unwrap();
    link(&dir.path().join("secret.txt"), "out.sh");
    link(dir.path(), "outside");
    link(&bench.scripts(), "round");
    link(Path::new("nowhere"), "dangling");
    fs::write(bench.scripts().join("real.sh"), "# desc: real").unwrap();
    link(&bench.scripts().join("real.sh"), "alias.sh");
    keeper.refresh().unwrap();
    let text = index(&bench);
    assert_eq!(text.matches("- `").count(), 2, "{text}");
    assert!(text.contains("`scripts/alias.sh`: real") && !text.contains("secret"), "{text}");
}

#[test]
#[cfg(unix)]
fn the_index_is_private_written_when_it_changes_and_never_over_somebodys_own() {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    let (_dir, bench, keeper) = keeper();
    fs::write(bench.index(), "# My own index\n").unwrap();
    keeper.refresh().unwrap();
    assert_eq!(fs::read_to_string(bench.root().join("INDEX.kept-1.md")).unwrap(), "# My own index\n");
    let found = bench.index().metadata().unwrap();
    assert_eq!(found.permissions().mode() & 0o777, 0o600);
    keeper.refresh().unwrap();
    assert_eq!(bench.index().metadata().unwrap().ino(), found.ino(), "nothing new, nothing written");
    assert!(
        !fs::read_dir(bench.root())
            .unwrap()
            .any(|entry| entry.unwrap().path().extension() == Some("part".as_ref()))
    );
}

#[test]
#[cfg(unix)]
fn a_write_concerns_the_index_by_where_it_went() {
    let (dir, bench, keeper) = keeper();
    fs::write(bench.scripts().join("a.py"), "").unwrap();
    fs::create_dir_all(dir.path().join("src/.flower/scripts")).unwrap();
    fs::write(dir.path().join("src/.flower/scripts/a.py"), "").unwrap();
    fs::write(dir.path().join(".flower-scripts"), "").unwrap();
    std::os::unix::fs::symlink(bench.root(), dir.path().join("link")).unwrap();
    let real = bench.scripts().join("a.py").display().to_string();
    for (tool, path, expected) in [
        ("Write", real.as_str(), true),
        ("Edit", ".flower/scripts/a.py", true),
        ("Edit", "link/scripts/a.py", true),
        ("Write", "src/.flower/scripts/a.py", false),
        ("Write", ".flower-scripts", false),
        ("Write", ".flower/INDEX.md", false),
        ("Write", "/no/such/.flower/scripts/a.py", false),
        ("Read", real.as_str(), false),
    ] {
        let input = serde_json::json!({"file_path": path, "content": ".flower/scripts/a.py"}).to_string();
        assert_eq!(keeper.concerns(tool, &input, dir.path()), expected, "{tool} {path}");
    }
    assert!(!keeper.concerns("Write", "no JSON", dir.path()));
}

#[test]
fn a_head_stays_as_it_was_and_changes_are_told_once() {
    let (_dir, bench, keeper) = keeper();
    fs::write(bench.scripts().join("a.py"), "# desc: first\n").unwrap();
    let fresh = keeper.tell(None, "lead", head).unwrap();
    assert!(fresh.head.contains("`scripts/a.py`: first") && fresh.changes.is_empty(), "{fresh:?}");
    keeper.keep("s", &fresh).unwrap();

    fs::write(bench.scripts().join("b.py"), "# desc: second\n").unwrap();
    let resumed = keeper.tell(Some("s"), "lead", head).unwrap();
    assert_eq!(resumed.head, fresh.head);
    assert!(resumed.changes.contains("new: `scripts/b.py`: second"), "{}", resumed.changes);
    // Said, but never kept: the step failed before the model saw it.
    assert_eq!(keeper.tell(Some("s"), "lead", head).unwrap(), resumed);
    keeper.keep("s", &resumed).unwrap();
    let again = keeper.tell(Some("s"), "lead", head).unwrap();
    assert_eq!((again.head.as_str(), again.changes.as_str()), (fresh.head.as_str(), ""));

    // Another spec, another language or another session has a head of its own.
    let other = keeper.tell(Some("s"), "judge", head).unwrap();
    assert!(other.head.contains("second") && other.changes.is_empty());
    let chinese = Keeper::new(bench.clone(), Lang::Zh).tell(Some("s"), "lead", head).unwrap();
    assert!(chinese.head.contains("second"));
    assert!(keeper.tell(Some("t"), "lead", head).unwrap().head.contains("second"));
}

#[test]
fn a_file_is_read_again_only_when_it_has_changed() {
    let (_dir, bench, keeper) = keeper();
    let path = bench.scripts().join("a.py");
    let then = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
    let write = |text: &str| {
        fs::write(&path, text).unwrap();
        fs::File::options().write(true).open(&path).unwrap().set_modified(then).unwrap();
    };
    write("# desc: one\n");
    keeper.refresh().unwrap();
    write("# desc: two\n");
    keeper.refresh().unwrap();
    assert!(index(&bench).contains(": one ("), "same size, same time: not read");
    write("# desc: three\n");
    keeper.refresh().unwrap();
    assert!(index(&bench).contains(": three ("));
}

#[test]
fn many_files_are_listed_whole() {
    let (_dir, bench, keeper) = keeper();
    for file in 0..1000 {
        fs::write(bench.artifacts().join(format!("{file}.txt")), "x").unwrap();
    }
    let told = keeper.tell(None, "lead", head).unwrap();
    assert_eq!(index(&bench).matches("- `artifacts/").count(), 1000);
    assert_eq!(told.head.matches("- `artifacts/").count(), 40);
    assert!(told.head.contains("… and 960 more in INDEX.md"));
}
