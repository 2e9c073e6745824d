//! Nothing is left behind, however a session ends (B027).

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use flower_claude::process::Registry;
use flower_claude::session::EndedBy;
use flower_claude::{Event, Host, Session};

use super::fake::{Fake, commands, living, marker, until, wait_until, within};

/// Ignores SIGTERM, as do its child and its grandchild; another child has gone to a session of its own. Notes if its input
/// ends before it does.
fn stubborn() -> Fake {
    Fake::new(
        r#"trap '' TERM
sh -c 'trap "" TERM; sleep 300 & wait' &
sleep 300 &
exec 3<&0
(cat <&3 >/dev/null; touch "$0.input_ended") &
if command -v setsid >/dev/null; then setsid sleep 300 & fi
say '{"type":"system","subtype":"init","session_id":"b0270001-1111-4222-8333-444444444444","tools":[],"model":"claude-sonnet-4-5"}'
while :; do sleep 1; done"#,
    )
}

const SESSION: &str = "b0270001-1111-4222-8333-444444444444";

/// A stubborn session at work, and what its watchdog is called.
async fn at_work(fake: &Fake) -> (Session, flower_claude::Events, String) {
    let launch = fake.launch().registry(fake.path().join("registry"));
    let (session, mut events) = Session::start(launch, Host::default()).await.unwrap();
    until(&mut events, |event| matches!(event, Event::Message(_))).await;
    wait_until("all have started", || living(fake.trace()).len() >= 7);
    let marker = marker(living(fake.trace())[0]);
    assert_eq!(watchdogs(&marker), 1);
    (session, events, marker)
}

fn watchdogs(marker: &str) -> usize {
    commands(marker).len()
}

fn records(fake: &Fake) -> usize {
    Registry::new(fake.path().join("registry")).records().unwrap().len()
}

#[tokio::test(flavor = "multi_thread")]
async fn finish_escalates_and_sweeps() {
    let fake = stubborn();
    let (session, mut events, marker) = at_work(&fake).await;
    let all = living(fake.trace());
    assert_eq!(records(&fake), 1);
    let started = Instant::now();
    let exit = within(session.finish(Duration::from_millis(200))).await;
    assert!(started.elapsed() < Duration::from_secs(15));
    assert_eq!(exit.ended_by, EndedBy::Killed);
    assert_eq!(exit.status.unwrap().signal(), Some(9));
    assert_eq!(living(fake.trace()), Vec::<u32>::new());
    // Reaped: not even a zombie is left of those that were ours.
    assert!(!all.iter().any(|pid| is_our_zombie(*pid)));
    assert_eq!(watchdogs(&marker), 0);
    assert_eq!(records(&fake), 0);
    assert!(matches!(super::fake::all(&mut events).await.last(), Some(Event::Ended(_))));
    // Again, at once and with the same answer.
    assert_eq!(within(session.finish(Duration::from_secs(5))).await.status, exit.status);
}

fn is_our_zombie(pid: u32) -> bool {
    let parent = format!("PPid:\t{}\n", std::process::id());
    std::fs::read_to_string(format!("/proc/{pid}/status")).is_ok_and(|status| status.contains(&parent))
}

#[tokio::test(flavor = "multi_thread")]
async fn dropping_does_the_same() {
    let fake = stubborn();
    let (session, mut events, marker) = at_work(&fake).await;
    let started = Instant::now();
    drop(session);
    assert!(started.elapsed() < Duration::from_secs(2), "dropping must not wait");
    assert!(
        matches!(super::fake::all(&mut events).await.last(), Some(Event::Ended(exit)) if exit.ended_by == EndedBy::Killed)
    );
    assert_eq!(living(fake.trace()), Vec::<u32>::new());
    assert_eq!((watchdogs(&marker), records(&fake)), (0, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_panic_does_the_same() {
    let fake = stubborn();
    let (session, _events, marker) = at_work(&fake).await;
    let task = tokio::spawn(async move {
        let _session = session;
        panic!("something of ours broke");
    });
    assert!(task.await.unwrap_err().is_panic());
    wait_until("all are gone", || living(fake.trace()).is_empty());
    wait_until("its watchdog and record are gone", || (watchdogs(&marker), records(&fake)) == (0, 0));
}

#[test]
fn the_end_of_the_runtime_does_the_same() {
    let fake = stubborn();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let (session, events, marker) = runtime.block_on(at_work(&fake));
    drop(runtime);
    drop(events);
    drop(session);
    wait_until("all are gone", || living(fake.trace()).is_empty());
    wait_until("its watchdog and record are gone", || (watchdogs(&marker), records(&fake)) == (0, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_good_end_leaves_behind_is_swept() {
    let fake = Fake::new("sleep 300 >/dev/null 2>&1 &\nsleep 300 &\nresult done\nexit 0");
    let (_session, mut events) = Session::start(fake.launch(), Host::default()).await.unwrap();
    let events = super::fake::all(&mut events).await;
    let Some(Event::Ended(exit)) = events.last() else { panic!("{events:?}") };
    assert!(exit.status.unwrap().success());
    assert_eq!((exit.ended_by, exit.leftovers), (EndedBy::Itself, 2));
    assert_eq!(living(fake.trace()), Vec::<u32>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_harness_that_only_closes_its_output_is_ended() {
    let fake = Fake::new("result done\nexec >&- 2>&-\ntrap '' TERM\nwhile :; do sleep 1; done");
    let (session, mut events) = Session::start(fake.launch(), Host::default()).await.unwrap();
    until(&mut events, |event| matches!(event, Event::RunOver)).await;
    let gone = within(session.request(flower_claude::wire::ControlRequest::McpStatus)).await;
    assert!(matches!(gone, Err(flower_claude::Error::Ended { .. })), "{gone:?}");
    assert!(
        matches!(super::fake::all(&mut events).await.last(), Some(Event::Ended(exit)) if exit.ended_by == EndedBy::Killed)
    );
}

/// Runs in two processes: the test starts itself again as a driver, kills that one with SIGKILL, and looks what is left.
#[test]
fn killing_the_driver_ends_everything() {
    const ROLE: &str = "FLOWER_TEST_DRIVER_IN";
    let in_this_process = || tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    if let Some(directory) = std::env::var_os(ROLE) {
        in_this_process().block_on(async {
            let launch = flower_claude::Launch::new(Path::new(&directory).join("claude"))
                .registry(Path::new(&directory).join("registry"))
                .stop_grace(Duration::from_secs(1));
            let (_session, mut events) = Session::start(launch, Host::default()).await.unwrap();
            while events.next().await.is_some() {}
        });
        return;
    }

    let fake = stubborn();
    let mut driver = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "ending::killing_the_driver_ends_everything", "--nocapture"])
        .env(ROLE, fake.path())
        .env("FLOWER_TEST", fake.trace())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_until("the session is at work", || living(fake.trace()).len() >= 8);
    let child = *living(fake.trace()).iter().find(|pid| **pid != driver.id()).unwrap();
    let marker = marker(child);
    assert_eq!(watchdogs(&marker), 1);

    driver.kill().unwrap();
    driver.wait().unwrap();
    wait_until("all are gone", || living(fake.trace()).is_empty());
    wait_until("its watchdog is gone", || watchdogs(&marker) == 0);
    // To the end it could have asked a guard; nobody would have answered.
    assert!(!fake.path().join("claude.input_ended").exists());
    // The record is all that is left, and the next start forgets it.
    let registry = Registry::new(fake.path().join("registry"));
    assert_eq!(registry.records().unwrap().len(), 1);
    assert_eq!(registry.reap().unwrap(), []);
    assert_eq!(registry.records().unwrap(), []);
}

/// The last net: driver and watchdog were both killed.
#[test]
fn the_next_start_ends_what_is_recorded() {
    const ROLE: &str = "FLOWER_TEST_UNWATCHED_DRIVER_IN";
    if let Some(directory) = std::env::var_os(ROLE) {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let launch = flower_claude::Launch::new(Path::new(&directory).join("claude"))
                .registry(Path::new(&directory).join("registry"));
            let (_session, mut events) = Session::start(launch, Host::default()).await.unwrap();
            while events.next().await.is_some() {}
        });
        return;
    }

    let fake = stubborn();
    let mut driver = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "ending::the_next_start_ends_what_is_recorded", "--nocapture"])
        .env(ROLE, fake.path())
        .env("FLOWER_TEST", fake.trace())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let registry = Registry::new(fake.path().join("registry"));
    wait_until("the session is known", || {
        living(fake.trace()).len() >= 8 && registry.live_on(SESSION).is_ok_and(|live| live.len() == 1)
    });
    let record = registry.live_on(SESSION).unwrap().remove(0);
    // Its owner lives: nothing happens to it.
    assert_eq!(registry.reap().unwrap(), []);
    let watchdog = commands(&record.marker);
    assert_eq!(watchdog.len(), 1);
    kill(watchdog[0]);
    kill(driver.id());
    driver.wait().unwrap();
    // Nobody ends them; only what waits for input has seen its end.
    assert!(living(fake.trace()).len() >= 4);

    assert_eq!(registry.reap().unwrap(), [record]);
    assert_eq!(living(fake.trace()), Vec::<u32>::new());
    assert_eq!(registry.live_on(SESSION).unwrap(), []);
}

fn kill(pid: u32) {
    let killed = Command::new("kill").args(["-9", &pid.to_string()]).status().unwrap();
    assert!(killed.success());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_has_one_writer() {
    use flower_claude::options::Conversation;
    use flower_claude::{Error, Options};

    let fake = stubborn();
    let (session, mut events, _) = at_work(&fake).await;
    let registry = Registry::new(fake.path().join("registry"));
    super::fake::wait_until("the session is noted", || registry.live_on(SESSION).unwrap().len() == 1);
    let resume = || {
        let options = Options { conversation: Conversation::resume(SESSION), ..Options::default() };
        fake.launch().registry(fake.path().join("registry")).options(options)
    };
    let Err(Error::SessionInUse { session: id, live }) = Session::start(resume(), Host::default()).await
    else {
        panic!("a second writer was started");
    };
    assert_eq!((id.as_str(), live.len()), (SESSION, 1));

    tokio::task::spawn_blocking(move || live[0].end()).await.unwrap();
    assert!(matches!(super::fake::all(&mut events).await.last(), Some(Event::Ended(_))));
    let (second, _events) = Session::start(resume(), Host::default()).await.unwrap();
    drop(session);
    within(second.finish(Duration::ZERO)).await;
    assert_eq!(living(fake.trace()), Vec::<u32>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_start_is_an_error_and_leaves_nothing() {
    use flower_claude::{Error, Launch};

    let missing = Session::start(Launch::new("/nowhere/claude"), Host::default()).await;
    assert!(matches!(missing, Err(Error::Spawn { .. })), "{missing:?}");
    let nowhere = Session::start(Launch::new("sh").cwd("/nowhere"), Host::default()).await;
    assert!(matches!(nowhere, Err(Error::Spawn { .. })), "{nowhere:?}");

    let fake = stubborn();
    std::fs::write(fake.path().join("registry"), "not a directory").unwrap();
    let unrecorded =
        Session::start(fake.launch().registry(fake.path().join("registry")), Host::default()).await;
    assert!(matches!(unrecorded, Err(Error::Registry { .. })), "{unrecorded:?}");
    assert_eq!(living(fake.trace()), Vec::<u32>::new());
}
