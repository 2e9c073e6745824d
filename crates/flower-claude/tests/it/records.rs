//! Who may be ended, and who is a second writer (B027, as decisions without processes).

use std::os::unix::fs::PermissionsExt;

use flower_claude::process::{Identity, Life, Record, Registry, SameBoot, Verdict, verdict};
use serde_json::Value;
use tempfile::TempDir;

use super::fake::fixture;

#[test]
fn nothing_is_ended_that_is_not_certainly_a_dead_owners() {
    use Life::{Alive, Gone, Unknown};
    let check = |same_boot, owner, process, expected| {
        assert_eq!(verdict(same_boot, owner, process), expected, "{same_boot:?} {owner:?} {process:?}");
    };
    for process in [Alive, Gone, Unknown] {
        check(SameBoot::Yes, Alive, process, Verdict::Leave);
        check(SameBoot::Yes, Unknown, process, Verdict::Leave);
        for owner in [Alive, Gone, Unknown] {
            check(SameBoot::No, owner, process, Verdict::Forget);
        }
    }
    check(SameBoot::Yes, Gone, Alive, Verdict::End);
    check(SameBoot::Yes, Gone, Gone, Verdict::EndStrays);
    check(SameBoot::Yes, Gone, Unknown, Verdict::Leave);
}

/// The collected case: three records of one session, two of them alive. Alive processes are stood in for by this one.
#[test]
fn two_live_writers_are_found() {
    let case: Value =
        serde_json::from_slice(&std::fs::read(fixture("cases/B027/running.json")).unwrap()).unwrap();
    let session = case["session"].as_str().unwrap();
    let directory = TempDir::new().unwrap();
    let own = own_identity();
    for process in case["processes"].as_array().unwrap() {
        let pid = u32::try_from(process["pid"].as_u64().unwrap()).unwrap();
        let identity = if process["alive"] == true {
            own.clone()
        } else {
            // The same id as ours, but it started earlier: somebody else.
            Identity { pid: own.pid, start_time: own.start_time.map(|time| time - 1) }
        };
        let record = Record {
            process: identity,
            owner: own.clone(),
            boot_id: Some(boot_id()),
            marker: format!("marker-{pid}"),
            session: process["resume"].as_str().map(str::to_owned),
            program: "claude".into(),
        };
        let file = directory.path().join(format!("{pid}.json"));
        std::fs::write(file, serde_json::to_vec(&record).unwrap()).unwrap();
    }
    std::fs::write(directory.path().join("half.json"), "{\"process\":").unwrap();

    let registry = Registry::new(directory.path());
    assert_eq!(registry.records().unwrap().len(), 3);
    let mut live: Vec<String> =
        registry.live_on(session).unwrap().into_iter().map(|record| record.marker).collect();
    live.sort();
    assert_eq!(live, ["marker-14880", "marker-9262"]);
    assert_eq!(registry.live_on("another session").unwrap(), []);
}

fn own_identity() -> Identity {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat[stat.rfind(')').unwrap() + 2..].split(' ').collect();
    Identity { pid: std::process::id(), start_time: Some(fields[19].parse().unwrap()) }
}

fn boot_id() -> String {
    std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap().trim().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn records_are_private() {
    use flower_claude::{Host, Session};

    let fake = super::fake::Fake::new("greet; hear never");
    let directory = fake.path().join("state/registry");
    let (session, _events) =
        Session::start(fake.launch().registry(&directory), Host::default()).await.unwrap();
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&directory), 0o700);
    let files: Vec<_> = std::fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(files.len(), 2, "{files:?}");
    assert!(files.iter().all(|file| mode(file) == 0o600), "{files:?}");
    drop(session);
}

#[test]
fn a_registry_that_does_not_exist_is_empty() {
    let registry = Registry::new("/nowhere/registry");
    assert_eq!(registry.records().unwrap(), []);
    assert_eq!(registry.reap().unwrap(), []);
}
