//! The input stays open and questions are answered at any time and in any order (B026).

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use flower_claude::hooks::{Hook, Problem};
use flower_claude::wire::{HookEvent, HookOutput, Message, UserMessage};
use flower_claude::{Event, Host, Session};
use serde_json::Value;
use tokio::sync::Notify;

use super::fake::{Fake, all, fixture, until, wait_until, within};

/// Lines of the recorded timeline, by their position.
fn timeline() -> Vec<String> {
    let steps: Vec<Value> =
        serde_json::from_slice(&fs::read(fixture("cases/B026/timeline.json")).unwrap()).unwrap();
    steps.into_iter().filter_map(|step| Some(step.get("stdout")?.to_string())).collect()
}

fn say(line: &str) -> String {
    format!("say '{}'\n", line.replace('\'', r"'\''"))
}

fn hook_request(id: &str, callback: &str, event: &str) -> String {
    format!(
        r#"{{"type":"control_request","request_id":"{id}","request":{{"subtype":"hook_callback","callback_id":"{callback}","input":{{"hook_event_name":"{event}","tool_name":"Bash","tool_input":{{"command":"touch victim-file"}},"tool_use_id":"toolu_1"}}}}}}"#
    )
}

/// The whole timeline: a first result, a background task that ends, a guard that thinks for a long time, another result,
/// a last hook. Where the recording waits for the guard, so does the fake, and asks something else meanwhile.
#[tokio::test(flavor = "multi_thread")]
async fn the_recorded_timeline() {
    let [init, first, first_result, notification, req_7, second, second_result, req_8] = &timeline()[..]
    else {
        panic!("the timeline has other steps");
    };
    let mut script = "greet\nhear '\"type\":\"user\"'\n".to_owned();
    for line in [init, first, first_result, notification, req_7] {
        script += &say(line);
    }
    script += &say(&hook_request("req-meanwhile", "hook_1", "SessionEnd"));
    script += "hear '\"request_id\":\"req-meanwhile\"'\n";
    script += "hear '\"request_id\":\"req-7\"'\n";
    for line in [second, second_result, req_8] {
        script += &say(line);
    }
    script += "hear '\"request_id\":\"req-8\"'\n";
    // The input is still open: end-of-file comes only when the driver is told to finish.
    script += "say '{\"type\":\"system\",\"subtype\":\"waits\"}'\nhear 'nothing of the kind' || say '{\"type\":\"system\",\"subtype\":\"eof\"}'\n";
    let fake = Fake::new(&script);

    let person = Arc::new(Notify::new());
    let answer = Arc::clone(&person);
    let guard = Hook::new(HookEvent::PreToolUse, move |_| {
        let person = Arc::clone(&person);
        async move {
            person.notified().await;
            Ok(HookOutput::deny("the person said no"))
        }
    });
    let end = Hook::new(HookEvent::SessionEnd, |_| async { Ok(HookOutput::none()) });
    let host = Host { hooks: vec![guard, end], ..Host::default() };
    let (session, mut events) = Session::start(fake.launch(), host).await.unwrap();
    within(session.ready()).await.unwrap();
    within(session.send(UserMessage::text("go"))).await.unwrap();

    let mut results = Vec::new();
    while results.len() < 2 {
        match within(events.next()).await.unwrap() {
            Event::Message(Message::Result(result)) => {
                results.push((result.result.unwrap(), result.total_cost_usd));
            }
            Event::Message(Message::System(system)) if system.raw.as_str().contains("task_notification") => {
                assert_eq!(session.turns().results(), 1);
                // The other question is answered while this one is open.
                wait_until("req-meanwhile is answered", || !fake.answers("req-meanwhile").is_empty());
                assert!(fake.answers("req-7").is_empty());
                answer.notify_one();
            }
            _ => {}
        }
    }
    // Two turns, and a cost that is the same cumulative figure twice.
    assert_eq!(results, [("first part done".to_owned(), 0.01), ("second part done".to_owned(), 0.01)]);

    until(&mut events, |event| matches!(event, Event::Message(Message::System(system)) if system.raw.as_str().contains("waits"))).await;
    session.close_input();
    let rest = all(&mut events).await;
    assert!(
        rest.iter()
            .any(|event| matches!(event, Event::Message(message) if message.raw().as_str().contains("eof")))
    );

    let [answer] = &fake.answers("req-7")[..] else { panic!("not one answer: {:?}", fake.heard()) };
    assert_eq!(answer["response"]["hookSpecificOutput"]["permissionDecisionReason"], "the person said no");
    assert_eq!(fake.answers("req-8").len(), 1);
    assert_eq!(fake.answers("req-8")[0]["response"], serde_json::json!({}));
}

#[tokio::test(flavor = "multi_thread")]
async fn many_questions_are_answered_at_the_same_time() {
    let mut script = "greet\n".to_owned();
    for number in 0..20 {
        script += &say(&hook_request(&format!("req-{number}"), "hook_0", "PreToolUse"));
    }
    script += "for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do hear control_response; done; result done\n";
    let fake = Fake::new(&script);
    // Nobody is answered before all have asked.
    let all_have_asked = Arc::new(tokio::sync::Barrier::new(20));
    let guard = Hook::new(HookEvent::PreToolUse, move |_| {
        let barrier = Arc::clone(&all_have_asked);
        async move {
            barrier.wait().await;
            Ok(HookOutput::allow())
        }
    });
    let (_session, mut events) =
        Session::start(fake.launch(), Host { hooks: vec![guard], ..Host::default() }).await.unwrap();
    until(&mut events, |event| matches!(event, Event::Message(Message::Result(_)))).await;
    for number in 0..20 {
        assert_eq!(fake.answers(&format!("req-{number}")).len(), 1);
    }
}

/// Says by its end whether it was let run to it.
struct Withdrawn(Arc<AtomicBool>);

impl Drop for Withdrawn {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

fn guard_that_never_answers(withdrawn: &Arc<AtomicBool>, asked: &Arc<Notify>) -> Host {
    let (withdrawn, asked) = (Arc::clone(withdrawn), Arc::clone(asked));
    let guard = Hook::new(HookEvent::PreToolUse, move |_| {
        let question = Withdrawn(Arc::clone(&withdrawn));
        let asked = Arc::clone(&asked);
        async move {
            asked.notify_one();
            std::future::pending::<()>().await;
            drop(question);
            Ok(HookOutput::none())
        }
    });
    Host { hooks: vec![guard], ..Host::default() }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dead_harness_withdraws_its_questions() {
    let fake = Fake::new(&format!(
        "greet\n{}hear 'go on'\nexit 9\n",
        say(&hook_request("req-1", "hook_0", "PreToolUse"))
    ));
    let (withdrawn, asked) = (Arc::default(), Arc::default());
    let (session, mut events) =
        Session::start(fake.launch(), guard_that_never_answers(&withdrawn, &asked)).await.unwrap();
    within(asked.notified()).await;
    assert!(!withdrawn.load(Ordering::SeqCst));
    within(session.send(UserMessage::text("go on"))).await.unwrap();

    let events = all(&mut events).await;
    assert!(matches!(events.last(), Some(Event::Ended(exit)) if exit.status.unwrap().code() == Some(9)));
    wait_until("the question is withdrawn", || withdrawn.load(Ordering::SeqCst));
    assert!(fake.answers("req-1").is_empty());
    // Whoever speaks to it now gets an error, not a panic.
    assert!(within(session.send(UserMessage::text("anybody there?"))).await.is_err());
    assert!(within(session.interrupt()).await.is_err());
    session.close_input();
    assert_eq!(within(session.finish(Duration::ZERO)).await.status.unwrap().code(), Some(9));
    assert_eq!(within(session.finish(Duration::ZERO)).await.status.unwrap().code(), Some(9));
}

/// A program that ends while somebody is still being asked must not hang on it.
#[test]
fn an_open_question_does_not_hold_up_the_end_of_the_runtime() {
    let one = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let many = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    for runtime in [one, many] {
        let fake =
            Fake::new(&format!("greet\n{}hear never\n", say(&hook_request("req-1", "hook_0", "PreToolUse"))));
        let (withdrawn, asked) = (Arc::default(), Arc::default());
        let host = guard_that_never_answers(&withdrawn, &asked);
        let session = runtime.block_on(async {
            let (session, _events) = Session::start(fake.launch(), host).await.unwrap();
            within(asked.notified()).await;
            session
        });
        let ended = std::thread::spawn(move || drop(runtime));
        wait_until("the runtime has ended", || ended.is_finished());
        assert!(withdrawn.load(Ordering::SeqCst));
        drop(session);
        wait_until("the harness has ended", || super::fake::living(fake.trace()).is_empty());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_question_is_stopped_and_not_answered() {
    let fake = Fake::new(&format!(
        "greet\n{}hear 'cancel it'\nsay '{{\"type\":\"control_cancel_request\",\"request_id\":\"req-1\"}}'\n{}hear '\"request_id\":\"req-2\"'\nresult done\n",
        say(&hook_request("req-1", "hook_0", "PreToolUse")),
        say(&hook_request("req-2", "hook_9", "PreToolUse")),
    ));
    let (withdrawn, asked) = (Arc::default(), Arc::default());
    let (session, mut events) =
        Session::start(fake.launch(), guard_that_never_answers(&withdrawn, &asked)).await.unwrap();
    within(asked.notified()).await;
    within(session.send(UserMessage::text("cancel it"))).await.unwrap();
    until(&mut events, |event| matches!(event, Event::Message(Message::Result(_)))).await;
    wait_until("the handler is stopped", || withdrawn.load(Ordering::SeqCst));
    assert!(fake.answers("req-1").is_empty());
    assert_eq!(fake.answers("req-2").len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn questions_that_nobody_knows_get_an_error() {
    let fake = Fake::new(
        r#"greet
say '{"type":"control_request","request_id":"req-1","request":{"subtype":"paint_it_blue"}}'
hear '"request_id":"req-1"'
say '{"type":"control_request","request_id":"req-2","request":{"subtype":"hook_callback","callback_id":"hook_0"}}'
hear '"request_id":"req-2"'
say '{"type":"control_request","request_id":"req-3","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{}}}'
hear '"request_id":"req-3"'
say '{"type":"control_request","request_id":"req-4","request":{"subtype":"mcp_message","server_name":"none","message":{}}}'
hear '"request_id":"req-4"'
say '{"type":"control_request","request_id":"req-5","request":"odd"}'
hear '"request_id":"req-5"'
result done"#,
    );
    let (_session, mut events) = Session::start(fake.launch(), Host::default()).await.unwrap();
    until(&mut events, |event| matches!(event, Event::Message(Message::Result(_)))).await;
    for number in 1..=5 {
        let [answer] = &fake.answers(&format!("req-{number}"))[..] else {
            panic!("req-{number}: {:?}", fake.heard())
        };
        assert_eq!(answer["subtype"], "error", "{answer}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn our_requests_are_answered_refused_or_fail() {
    use flower_claude::Error;
    use flower_claude::wire::{ControlRequest, PermissionMode};

    let fake = Fake::new(
        r#"greet
hear '"request_id":"flower_2"'
hear '"request_id":"flower_3"'
say '{"type":"control_response","response":{"subtype":"error","request_id":"flower_3","error":"no such mode"}}'
say '{"type":"control_response","response":{"subtype":"success","request_id":"flower_99","response":{}}}'
say '{"type":"control_response","response":{"subtype":"success","request_id":"flower_2","response":{"model":"opus"}}}'
hear '"request_id":"flower_4"'
hear end
exit 0"#,
    );
    let launch = fake.launch().request_timeout(Duration::from_secs(2));
    let (session, _events) = Session::start(launch, Host::default()).await.unwrap();
    within(session.ready()).await.unwrap();
    let mode = PermissionMode::Other("bold".to_owned());
    let (settings, refused) = tokio::join!(
        session.request(ControlRequest::GetSettings),
        session.request(ControlRequest::SetPermissionMode(mode)),
    );
    assert_eq!(settings.unwrap().as_str(), r#"{"model":"opus"}"#);
    assert_eq!(refused.unwrap_err().to_string(), "the harness refused set_permission_mode: no such mode");
    let late = within(session.request(ControlRequest::McpStatus)).await.unwrap_err();
    assert!(matches!(late, Error::Timeout { .. }), "{late}");

    within(session.send(UserMessage::text("end"))).await.unwrap();
    let gone = within(session.request(ControlRequest::McpStatus)).await.unwrap_err();
    assert!(matches!(gone, Error::Ended { .. } | Error::Timeout { .. }), "{gone}");
}

#[tokio::test(flavor = "multi_thread")]
async fn failures_of_handlers_deny_what_is_guarded_and_are_told() {
    let script: String = ["hook_0", "hook_1", "hook_2", "hook_3"]
        .iter()
        .map(|callback| {
            let event = if *callback == "hook_3" { "PostToolUse" } else { "PreToolUse" };
            say(&hook_request(&format!("req-{callback}"), callback, event)) + "hear control_response\n"
        })
        .collect();
    let fake = Fake::new(&format!("greet\n{script}result done\n"));
    let hooks = vec![
        Hook::new(HookEvent::PreToolUse, |_| async { Err("the database is locked".into()) }),
        Hook::new(HookEvent::PreToolUse, |input| async move {
            panic!("no rule for {}", input.tool_name.unwrap())
        }),
        // Blocks its thread: the deadline must hold all the same.
        Hook::new(HookEvent::PreToolUse, |_| async {
            std::thread::sleep(Duration::from_secs(5));
            Ok(HookOutput::allow())
        })
        .with_timeout(Duration::from_millis(200)),
        Hook::new(HookEvent::PostToolUse, |_| async { Err("the disk is full".into()) }),
    ];
    let (_session, mut events) =
        Session::start(fake.launch(), Host { hooks, ..Host::default() }).await.unwrap();
    let mut problems = Vec::new();
    loop {
        match within(events.next()).await.unwrap() {
            Event::HookIncident(incident) => {
                assert_eq!(incident.tool_use_id.as_deref(), Some("toolu_1"));
                problems.push(incident.problem);
            }
            Event::Message(Message::Result(_)) => break,
            _ => {}
        }
    }
    assert_eq!(
        problems,
        [
            Problem::Failed("the database is locked".to_owned()),
            Problem::Panicked("no rule for Bash".to_owned()),
            Problem::TooSlow(Duration::from_millis(100)),
            Problem::Failed("the disk is full".to_owned()),
        ]
    );
    let reason = |callback: &str| {
        let answer = fake.answers(&format!("req-{callback}")).remove(0);
        answer["response"]["hookSpecificOutput"]["permissionDecisionReason"].as_str().map(str::to_owned)
    };
    assert_eq!(reason("hook_0").unwrap(), "guard failed: the database is locked");
    assert_eq!(reason("hook_1").unwrap(), "guard failed: panicked: no rule for Bash");
    assert_eq!(reason("hook_2").unwrap(), "guard failed: no verdict within 100ms");
    assert_eq!(reason("hook_3"), None);
}
