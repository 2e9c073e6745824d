//! What the driver does with the real harness.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use flower_claude::hooks::{Hook, Problem};
use flower_claude::mcp::{McpServer, McpTool, ToolOutput};
use flower_claude::options::{Agent, Conversation, Cut, From};
use flower_claude::permission::Permission;
use flower_claude::session::EndedBy;
use flower_claude::wire::{
    ControlRequest, HookEvent, HookOutput, Message, PermissionAnswer, PermissionMode, SystemDetail,
    UserMessage,
};
use flower_claude::{Event, Host, Session};
use serde_json::json;
use tokio::sync::{Barrier, Notify};

use super::fake::{living, until, wait_until, within};
use super::stage::{Stage, contents, in_both_versions, until_over};

fn hosting(hooks: Vec<Hook>) -> Host {
    Host { hooks, ..Host::default() }
}

const THREE_COMMANDS: &str = r#"
[[thread]]
name = "main"
[[thread.step]]
[[thread.step.call]]
tool = "Bash"
input = { command = "echo one > denied.txt", description = "d" }
[[thread.step]]
[[thread.step.call]]
tool = "Bash"
input = { command = "echo two > changed.txt", description = "d" }
[[thread.step]]
[[thread.step.call]]
tool = "Bash"
input = { command = "echo three", description = "d" }
[[thread.step]]
text = "Done."
"#;

#[tokio::test(flavor = "multi_thread")]
async fn hooks_deny_change_and_replace() {
    in_both_versions(THREE_COMMANDS, |stage| async move {
        let before = Hook::new(HookEvent::PreToolUse, |input| async move {
            let command = input.tool_input.unwrap().to_value()["command"].as_str().unwrap().to_owned();
            Ok(if command.contains("denied") {
                HookOutput::deny("that file is not yours")
            } else if command.contains("changed") {
                HookOutput::allow()
                    .with_updated_input(json!({"command": "echo other > changed.txt", "description": "d"}))
            } else {
                HookOutput::none()
            })
        })
        .matching("Bash");
        let after = Hook::new(HookEvent::PostToolUse, |input| async move {
            let mut output = input.tool_response.unwrap().to_value();
            if output["stdout"] == "three" {
                output["stdout"] = "replaced".into();
                return Ok(HookOutput::none().with_updated_output(output));
            }
            Ok(HookOutput::none())
        });
        let options = Stage::options(&["Bash"]);
        let (session, mut events) = stage.prompted(options, hosting(vec![before, after]), "Go.").await;
        let run = until_over(&mut events).await;
        assert_eq!(run.answers(), ["Done."]);
        let results = run.tool_results();
        assert!(results[0].ends_with("that file is not yours"), "{results:?}");
        assert_eq!(results[2], "replaced");
        assert_eq!(contents(&stage.repo(), "denied.txt"), None);
        assert_eq!(contents(&stage.repo(), "changed.txt").as_deref(), Some("other\n"));
        assert_eq!(run.results()[0].permission_denials.len(), 1);
        stage.strike(session).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failing_guard_keeps_the_gate_shut() {
    in_both_versions(THREE_COMMANDS, |stage| async move {
        let guard = Hook::new(HookEvent::PreToolUse, |input| async move {
            let command = input.tool_input.unwrap().to_value()["command"].as_str().unwrap().to_owned();
            match command.as_str() {
                "echo one > denied.txt" => Err("the rules cannot be read".into()),
                "echo two > changed.txt" => panic!("no such rule"),
                _ => {
                    std::thread::sleep(Duration::from_secs(8));
                    Ok(HookOutput::allow())
                }
            }
        })
        .with_timeout(Duration::from_secs(4));
        let (session, mut events) =
            stage.prompted(Stage::options(&["Bash"]), hosting(vec![guard]), "Go.").await;
        let run = until_over(&mut events).await;
        let results = run.tool_results();
        for (result, problem) in results.iter().zip(["the rules cannot be read", "panicked: no such rule", "no verdict within 3s"])
        {
            assert!(result.ends_with(&format!("guard failed: {problem}")), "{results:?}");
        }
        assert_eq!(contents(&stage.repo(), "denied.txt"), None);
        assert_eq!(contents(&stage.repo(), "changed.txt"), None);
        let incidents = run.events.iter().filter(|event| matches!(event, Event::HookIncident(_))).count();
        assert_eq!(incidents, 3);
        assert!(run.events.iter().any(|event| matches!(event, Event::HookIncident(incident) if incident.problem == Problem::TooSlow(Duration::from_secs(3)))));
        stage.strike(session).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn parallel_calls_ask_at_the_same_time() {
    let scenario = r#"
[[thread]]
name = "main"
[[thread.step]]
[[thread.step.call]]
tool = "Read"
input = { file_path = "/etc/hostname" }
[[thread.step.call]]
tool = "Read"
input = { file_path = "/etc/passwd" }
[[thread.step]]
text = "Done."
"#;
    in_both_versions(scenario, |stage| async move {
        let both = Arc::new(Barrier::new(2));
        let guard = Hook::new(HookEvent::PreToolUse, move |_| {
            let both = Arc::clone(&both);
            async move {
                both.wait().await;
                Ok(HookOutput::allow())
            }
        });
        let (session, mut events) =
            stage.prompted(Stage::options(&["Read"]), hosting(vec![guard]), "Read both.").await;
        let run = until_over(&mut events).await;
        assert_eq!((run.answers(), run.tool_results().len()), (vec!["Done."], 2));
        stage.strike(session).await;
    })
    .await;
}

const ONE_LONG_COMMAND: &str = r#"
[[thread]]
name = "main"
[[thread.step]]
[[thread.step.call]]
tool = "Bash"
input = { command = "touch started; tail -f /dev/null", description = "d" }
[[thread.step]]
text = "Next."
"#;

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupt_ends_the_turn_and_the_session_goes_on() {
    in_both_versions(ONE_LONG_COMMAND, |stage| async move {
        let (session, mut events) = stage.prompted(Stage::options(&["Bash"]), Host::default(), "Wait.").await;
        let repo = stage.repo();
        tokio::task::spawn_blocking(move || wait_until("it runs", || repo.join("started").exists()))
            .await
            .unwrap();
        within(session.interrupt()).await.unwrap();
        let run = until_over(&mut events).await;
        assert_eq!(run.results()[0].terminal_reason.as_deref(), Some("aborted_tools"));
        assert!(run.results()[0].is_error);

        within(session.send(UserMessage::text("Go on."))).await.unwrap();
        assert_eq!(until_over(&mut events).await.answers(), ["Next."]);
        stage.strike(session).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupt_withdraws_a_question() {
    struct Withdrawn(Arc<AtomicBool>);
    impl Drop for Withdrawn {
        fn drop(&mut self) {
            self.0.store(true, Ordering::SeqCst);
        }
    }

    in_both_versions(ONE_LONG_COMMAND, |stage| async move {
        let (asked, withdrawn) = (Arc::new(Notify::new()), Arc::new(AtomicBool::new(false)));
        let (tell, note) = (Arc::clone(&asked), Arc::clone(&withdrawn));
        let guard = Hook::new(HookEvent::PreToolUse, move |_| {
            let question = Withdrawn(Arc::clone(&note));
            tell.notify_one();
            async move {
                std::future::pending::<()>().await;
                drop(question);
                Ok(HookOutput::allow())
            }
        });
        let (session, mut events) =
            stage.prompted(Stage::options(&["Bash"]), hosting(vec![guard]), "Wait.").await;
        within(asked.notified()).await;
        within(session.interrupt()).await.unwrap();
        let run = until_over(&mut events).await;
        assert!(run.results()[0].is_error);
        assert_eq!(contents(&stage.repo(), "started"), None);
        let withdrawn = Arc::clone(&withdrawn);
        tokio::task::spawn_blocking(move || {
            wait_until("it is withdrawn", || withdrawn.load(Ordering::SeqCst));
        })
        .await
        .unwrap();
        stage.strike(session).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_in_this_process_is_called() {
    let scenario = r#"
[[thread]]
name = "main"
[[thread.step]]
[[thread.step.call]]
tool = "mcp__calc__add"
input = { a = 2, b = 3 }
[[thread.step]]
[[thread.step.call]]
tool = "mcp__calc__add"
input = { a = 2 }
[[thread.step]]
text = "Done."
"#;
    in_both_versions(scenario, |stage| async move {
        let add = McpTool::new(
            "add",
            "Adds two numbers",
            json!({"type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "number"}}}),
            |call| async move {
                assert!(call.tool_use_id.is_some());
                let number = |name: &str| call.arguments[name].as_i64().ok_or(format!("{name} is missing"));
                Ok(ToolOutput::text(format!("the sum is {}", number("a")? + number("b")?)))
            },
        );
        let host = Host { mcp_servers: vec![McpServer::new("calc").with_tool(add)], ..Host::default() };
        let mut options = Stage::options(&["Read"]);
        options.allowed_tools = vec!["mcp__calc".to_owned()];
        let (session, mut events) = stage.prompted(options, host, "Add.").await;
        let run = until_over(&mut events).await;
        assert_eq!(run.tool_results(), ["the sum is 5", "b is missing"]);
        let status = within(session.request(ControlRequest::McpStatus)).await.unwrap();
        assert!(status.as_str().contains("connected"), "{status:?}");
        stage.strike(session).await;
    })
    .await;
}

const WORKERS: &str = r#"
[[thread]]
name = "worker"
match = { agent = "subagent" }
[[thread.step]]
[[thread.step.call]]
tool = "Bash"
input = { command = "while [ ! -e go ]; do :; done; echo worked > worked.txt", description = "d" }
[[thread.step]]
text = "The file is written."

[[thread]]
name = "main"
[[thread.step]]
[[thread.step.call]]
tool = "Agent"
input = { description = "d", prompt = "Write the file.", subagent_type = "analyst", run_in_background = BACKGROUND }
[[thread.step]]
text = "Delegated."
[[thread.step]]
text = "It is done."
"#;

fn with_worker(hooks: Vec<Hook>) -> Host {
    let analyst = Agent {
        description: "Works.".to_owned(),
        prompt: "You work.".to_owned(),
        tools: Some(vec!["Bash".to_owned()]),
        ..Agent::default()
    };
    Host { agents: vec![("analyst".to_owned(), analyst)], hooks, ..Host::default() }
}

/// The run is over only when the worker has reported, and its calls are guarded after the first result too.
#[tokio::test(flavor = "multi_thread")]
async fn a_worker_in_the_background_is_waited_for_and_guarded() {
    in_both_versions(&WORKERS.replace("BACKGROUND", "true"), |stage| async move {
        let (first_result, guarded) = (Arc::new(Notify::new()), Arc::new(AtomicUsize::new(0)));
        let (wait, count) = (Arc::clone(&first_result), Arc::clone(&guarded));
        let guard = Hook::new(HookEvent::PreToolUse, move |input| {
            let (wait, count) = (Arc::clone(&wait), Arc::clone(&count));
            async move {
                if input.agent_id.is_some() {
                    // The worker is held until the main thread's turn is over.
                    wait.notified().await;
                    count.fetch_add(1, Ordering::SeqCst);
                }
                Ok(HookOutput::allow())
            }
        });
        let options = Stage::options(&["Agent", "Bash"]);
        let (session, mut events) = stage.prompted(options, with_worker(vec![guard]), "Delegate.").await;
        let first = until(&mut events, |event| match event {
            Event::RunOver => panic!("over before the worker has reported"),
            event => matches!(event, Event::Message(Message::Result(_))),
        })
        .await;
        assert!(matches!(first, Event::Message(Message::Result(result)) if result.result.as_deref() == Some("Delegated.")));
        assert_eq!(session.turns().tasks().len(), 1);
        std::fs::write(stage.repo().join("go"), "").unwrap();
        first_result.notify_one();

        let run = until_over(&mut events).await;
        assert_eq!(run.answers(), ["It is done."]);
        assert_eq!(guarded.load(Ordering::SeqCst), 1);
        assert_eq!(contents(&stage.repo(), "worked.txt").as_deref(), Some("worked\n"));
        assert_eq!((session.turns().results(), session.turns().tasks().len()), (2, 0));
        stage.strike(session).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_in_the_foreground_is_part_of_the_turn() {
    in_both_versions(&WORKERS.replace("BACKGROUND", "false"), |stage| async move {
        std::fs::write(stage.repo().join("go"), "").unwrap();
        let options = Stage::options(&["Agent", "Bash"]);
        let (session, mut events) = stage.prompted(options, with_worker(vec![]), "Delegate.").await;
        let run = until_over(&mut events).await;
        assert_eq!(run.answers(), ["Delegated."]);
        assert!(run.tool_results().iter().any(|text| text.contains("The file is written.")));
        let started = run.messages().any(|message| {
            matches!(message, Message::System(system) if matches!(system.detail, SystemDetail::TaskStarted(_)))
        });
        assert!(started);
        stage.strike(session).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_permission_callback_decides() {
    in_both_versions(THREE_COMMANDS, |stage| async move {
        let permission = Permission::new(|request| async move {
            let command = request.input.to_value()["command"].as_str().unwrap().to_owned();
            Ok(if command.contains("denied") {
                PermissionAnswer::deny("ask me later")
            } else {
                PermissionAnswer::allow()
            })
        });
        let mut options = Stage::options(&["Bash"]);
        options.allowed_tools = Vec::new();
        options.permission_mode = Some(PermissionMode::Default);
        let host = Host { permission: Some(permission), ..Host::default() };
        let (session, mut events) = stage.prompted(options, host, "Go.").await;
        let run = until_over(&mut events).await;
        assert!(run.tool_results()[0].contains("ask me later"), "{:?}", run.tool_results());
        assert_eq!(contents(&stage.repo(), "denied.txt"), None);
        assert_eq!(contents(&stage.repo(), "changed.txt").as_deref(), Some("two\n"));
        stage.strike(session).await;
    })
    .await;
}

/// A tool in the foreground, one in the background, one in a session of its own: none survives, in either version.
#[tokio::test(flavor = "multi_thread")]
async fn ending_in_the_middle_of_a_turn_leaves_nothing() {
    let scenario = r#"
[[thread]]
name = "main"
[[thread.step]]
[[thread.step.call]]
tool = "Bash"
input = { command = "setsid tail -f /dev/null >/dev/null 2>&1 & tail -f /dev/null & touch started; tail -f /dev/null", description = "d" }
"#;
    for drops in [false, true] {
        in_both_versions(scenario, |stage| async move {
            let (session, mut events) =
                stage.prompted(Stage::options(&["Bash"]), Host::default(), "Wait.").await;
            let repo = stage.repo();
            let started = move || wait_until("it runs", || repo.join("started").exists());
            tokio::task::spawn_blocking(started).await.unwrap();
            assert!(living(stage.trace()).len() >= 4);
            if drops {
                drop(session);
            } else {
                within(session.finish(Duration::from_secs(3))).await;
            }
            let last = super::fake::all(&mut events).await;
            assert!(matches!(last.last(), Some(Event::Ended(_))));
            assert_eq!(living(stage.trace()), Vec::<u32>::new(), "{}", stage.version);
        })
        .await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_is_mirrored_resumed_and_forked() {
    let scenario = "[fallback]\ntext = \"Hello.\"\n";
    in_both_versions(scenario, |stage| async move {
        let id = "00000000-0000-4000-8000-00000000000a";
        let options = |conversation| {
            let mut options = Stage::options(&["Read"]);
            options.session_mirror = true;
            options.conversation = conversation;
            options
        };
        let new = Conversation::New { session_id: Some(id.to_owned()) };
        let fork = Conversation::Fork {
            from: From::Session(id.to_owned()),
            cut: Cut::Whole,
            session_id: Some("00000000-0000-4000-8000-00000000000b".to_owned()),
        };
        for (conversation, sessions) in [(new, "a"), (Conversation::resume(id), "a"), (fork, "b")] {
            let (session, mut events) =
                stage.prompted(options(conversation), Host::default(), "Hello?").await;
            let run = until_over(&mut events).await;
            assert_eq!(run.answers(), ["Hello."]);
            assert!(run.results()[0].session_id.ends_with(sessions));
            assert_eq!(within(session.finish(Duration::from_secs(20))).await.ended_by, EndedBy::Itself);
            let rest = super::fake::all(&mut events).await;
            let mirrored = run.events.iter().chain(&rest).filter_map(|event| match event {
                Event::Mirror(frame) => Some(frame.entries.len()),
                _ => None,
            });
            assert!(mirrored.sum::<usize>() > 2);
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_harness_that_refuses_its_arguments_says_why() {
    in_both_versions("[fallback]\ntext = \"Hello.\"\n", |stage| async move {
        let mut options = Stage::options(&["Read"]);
        options.extra = vec!["--no-such-option".into()];
        let (session, mut events) = Session::start(stage.launch(options), Host::default()).await.unwrap();
        let error = within(session.ready()).await.unwrap_err();
        assert!(error.to_string().contains("unknown option"), "{error}");
        assert!(matches!(super::fake::all(&mut events).await.last(), Some(Event::Ended(_))));
    })
    .await;
}
