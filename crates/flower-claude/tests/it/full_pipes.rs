//! Pipes that fill up and consumers that do not read (B025).

use std::time::Duration;

use flower_claude::session::EndedBy;
use flower_claude::wire::Message;
use flower_claude::{Event, Host, Session};

use super::fake::{Fake, all, fixture, within};

/// Fills stderr before it says anything on stdout, then again at the end.
fn noisy() -> Fake {
    Fake::new(&format!(
        "head -c 200000 /dev/zero | tr '\\0' e >&2; cat '{}'; head -c 200000 /dev/zero | tr '\\0' f >&2; exit 0",
        fixture("cases/B025/stdout.ndjson").display()
    ))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_stderr_pipe_does_not_block() {
    let fake = noisy();
    let (_session, mut events) = Session::start(fake.launch(), Host::default()).await.unwrap();
    let events = all(&mut events).await;

    let results: Vec<&str> = events
        .iter()
        .filter_map(|event| match event {
            Event::Message(Message::Result(result)) => result.result.as_deref(),
            _ => None,
        })
        .collect();
    assert_eq!(results, ["hello"]);
    let Some(Event::Ended(exit)) = events.last() else { panic!("{events:?}") };
    assert!(exit.status.unwrap().success());
    assert_eq!(exit.ended_by, EndedBy::Itself);
    assert_eq!(exit.stderr_tail, "f".repeat(64 * 1024));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_consumer_that_is_slow_or_gone_does_not_block() {
    let fake = noisy();
    let (session, events) = Session::start(fake.launch(), Host::default()).await.unwrap();
    drop(events);
    assert!(within(session.finish(Duration::from_secs(30))).await.status.unwrap().success());

    let fake = noisy();
    let (session, mut events) = Session::start(fake.launch(), Host::default()).await.unwrap();
    // Nothing is read before the process is gone, and nothing is lost by that.
    assert!(within(session.finish(Duration::from_secs(30))).await.status.unwrap().success());
    let messages = all(&mut events).await.iter().filter(|event| matches!(event, Event::Message(_))).count();
    assert_eq!(messages, 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn dirt_is_told_and_the_stream_goes_on() {
    use flower_claude::session::Dirt;

    let fake = Fake::new(
        "say 'debug: not JSON'; printf '\\377\\376\\n'; say '[1]'; say ''; say '{\"type\":\"novel\",\"a\":1}'; \
         say '{\"no\":\"type\"}'; say '{\"type\":\"result\",\"num_turns\":\"many\"}'; result fine",
    );
    let (_session, mut events) = Session::start(fake.launch(), Host::default()).await.unwrap();
    let mut told = Vec::new();
    for event in all(&mut events).await {
        match event {
            Event::Dirt(Dirt::NotAMessage(text)) => told.push(format!("dirt {text}")),
            Event::Message(Message::Other(raw)) => told.push(format!("other {}", raw.as_str())),
            Event::Message(Message::Result(result)) => {
                told.push(format!("result {}", result.result.unwrap()));
            }
            Event::RunOver | Event::Ended(_) => {}
            other => panic!("{other:?}"),
        }
    }
    let expected = [
        "dirt debug: not JSON",
        "dirt \u{fffd}\u{fffd}",
        "dirt [1]",
        r#"other {"type":"novel","a":1}"#,
        r#"other {"no":"type"}"#,
        r#"other {"type":"result","num_turns":"many"}"#,
        "result fine",
    ];
    assert_eq!(told, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_harness_that_does_not_read_its_input_is_no_trouble() {
    let fake = Fake::new("sleep 1; result late; exit 3");
    let (session, mut events) = Session::start(fake.launch(), Host::default()).await.unwrap();
    let message = flower_claude::wire::UserMessage::text("z".repeat(1_000_000));
    // The pipe takes 64 KB; the rest meets a process that has gone.
    let sent = within(session.send(message)).await;
    assert!(matches!(sent, Err(flower_claude::Error::InputClosed)), "{sent:?}");
    let ready = within(session.ready()).await.unwrap_err();
    assert_eq!(ready.to_string(), "the harness ended before it had answered initialize: exit status: 3");
    assert!(matches!(all(&mut events).await.last(), Some(Event::Ended(_))));
}
