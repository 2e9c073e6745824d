//! One step, from the start of its harness to its line in the manifest.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use flower_claude::options::{Conversation, Cut, From, SettingSource};
use flower_claude::session::Dirt;
use flower_claude::turns::Phase;
use flower_claude::wire::{Raw, UserMessage};
use flower_claude::{Event, Events, Host, Launch, Session};
use flower_store::{Manifest, RawJson, StepFailure, StepRecord};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::event::{Denial, RunEvent};
use super::outcome::{Failure, FailureKind, Outcome};
use super::spilling::Spilling;
use super::tally::{Tally, TurnEnd};
use super::{Inner, RunError, Settings, Start, indexing, mirror, plan, repository, wall};
use crate::roles::{AgentSpec, Duty, Isolation};
use crate::spill::SpillGuard;

/// How long a harness that does not report its state has to be silent after a result before the run counts as over.
/// The tested versions report it; this is for others, which may open another turn behind a result.
const SETTLE: Duration = Duration::from_secs(1);

/// How long the harness may take to write its transcript and go, once the run is over.
const FINISH_GRACE: Duration = Duration::from_secs(15);

/// How long a harness that must go at once may take before it is told by signal.
const STOP_GRACE: Duration = Duration::ZERO;

/// How long the store may take at the end of a step before the rest goes to its spool.
const FLUSH_LIMIT: Duration = Duration::from_secs(10);

/// The field of a step's record that names the model of its main thread.
const MODEL: &str = "model";

/// The field of a step's record that lists the tools of a main thread that does not delegate.
pub(super) const TOOLS: &str = "tools";

/// The newest step that used a session.
pub(super) fn newest_of(manifest: &Manifest, session: &str) -> Result<Option<StepRecord>, RunError> {
    let mut records = manifest.read()?.records;
    let newest = records.iter().rposition(|step| step.sessions.iter().any(|used| used == session));
    Ok(newest.map(|newest| records.swap_remove(newest)))
}

/// The model that a session ran with.
///
/// A resumed session is always told its model: 2.1.197 would come back with a smaller window than it had.
fn model_of(manifest: &Manifest, session: &str) -> Result<Option<String>, RunError> {
    let newest = newest_of(manifest, session)?;
    Ok(newest.and_then(|step| step.later.get(MODEL)?.as_str().map(str::to_owned)))
}

/// How many lines of the harness that are no messages are told one by one.
const DIRT_TOLD: u32 = 10;

/// What a step has gathered so far.
#[derive(Default)]
struct Progress {
    tally: Tally,
    /// Lines of the harness that are no messages.
    dirt: u32,
    denials: Vec<Denial>,
    spilling: Spilling,
}

pub(super) async fn carry(
    inner: &Inner,
    spec: &AgentSpec,
    prompt: &str,
    start: Start,
) -> Result<Outcome, RunError> {
    check_isolation(inner, spec)?;
    let model = match &start {
        Start::Resume(session) | Start::Fork(session) => model_of(&inner.manifest, session)?,
        Start::Fresh => None,
    };
    let model = inner.model.clone().or(model);
    let started_at = jiff::Timestamp::now();
    let step = uuid::Uuid::new_v4().to_string();
    let guard =
        inner.spill.clone().map(|policy| Arc::new(SpillGuard::new(policy, inner.bench.spill(), inner.lang)));
    let mut progress = Progress { spilling: Spilling::new(guard), ..Progress::default() };
    let (denied, mut denials) = unbounded_channel();
    let opening = indexing::opening(inner, spec, prompt, &start);
    let conversation = conversation(start);
    indexing::begun(inner, &opening, &conversation);
    let (launch, mut host) =
        prepare(inner, spec, opening.head.clone(), model.as_deref(), conversation, denied);
    host.hooks.extend(progress.spilling.hooks());
    host.hooks.extend(indexing::hooks(&inner.keeper));
    let (session, mut events) = Session::start(launch, host).await?;
    inner.tell(&RunEvent::StepStarted {
        run: inner.run.clone(),
        step: step.clone(),
        agent: spec.name.clone(),
        harness: inner.harness.path.clone(),
    });
    for note in std::mem::take(&mut *inner.notes.lock().unwrap_or_else(PoisonError::into_inner)) {
        inner.warn(note);
    }

    let failure = drive(inner, &session, &mut events, &mut denials, &opening.prompt, &mut progress).await;
    if progress.tally.last.is_some()
        && let Some(session) = progress.tally.sessions.last()
    {
        indexing::told(inner, &opening, session);
    }
    let failure = failure.or_else(|| missing_answer(&progress.tally));
    // The step is written down before anything that can take time, or fail, is done about its processes.
    let recorded = record(inner, spec, &step, started_at, &progress, failure.as_ref());
    wind_up(inner, &session, &mut events, &mut denials, &mut progress, failure.as_ref()).await;
    recorded?;
    Ok(ended(inner, step, progress, failure))
}

/// Isolated workers work in worktrees: there must be something to make them from, and the workbench that all of them
/// share cannot lie inside one of them.
fn check_isolation(inner: &Inner, spec: &AgentSpec) -> Result<(), RunError> {
    let isolated = match &spec.duty {
        Duty::Delegate { workers, .. } => {
            workers.values().any(|worker| worker.isolation == Isolation::Worktree)
        }
        Duty::Work { .. } => false,
    };
    if !isolated {
        return Ok(());
    }
    if inner.bench.root().starts_with(&inner.workspace) {
        return Err(RunError::WorkbenchInside { root: inner.bench.root().to_owned() });
    }
    repository::check(&inner.workspace)
}

fn conversation(start: Start) -> Conversation {
    let fresh_id = || Some(uuid::Uuid::new_v4().to_string());
    match start {
        Start::Fresh => Conversation::New { session_id: fresh_id() },
        Start::Resume(session) => Conversation::resume(session),
        Start::Fork(session) => {
            Conversation::Fork { from: From::Session(session), cut: Cut::Whole, session_id: fresh_id() }
        }
    }
}

fn prepare(
    inner: &Inner,
    spec: &AgentSpec,
    head: String,
    model: Option<&str>,
    conversation: Conversation,
    denied: tokio::sync::mpsc::UnboundedSender<Denial>,
) -> (Launch, Host) {
    let plan = plan::plan(spec, head, &inner.bench, inner.lang, model, conversation);
    let mut options = plan.options;
    if inner.settings == Settings::None {
        options.setting_sources = Some(Vec::<SettingSource>::new());
    }
    if !inner.bench.root().starts_with(&inner.workspace) {
        options.add_dirs.push(inner.bench.root().to_owned());
    }
    let mut launch = Launch::new(&inner.harness.path)
        .cwd(&inner.workspace)
        .options(options)
        .registry(inner.bench.processes());
    if matches!(spec.duty, Duty::Delegate { .. }) {
        // The harness's own agents know neither the workbench nor how to report, and listing them costs context. The
        // wall refuses them all the same.
        launch = launch.env("CLAUDE_AGENT_SDK_DISABLE_BUILTIN_AGENTS", "1");
    }
    for (name, value) in &inner.env {
        launch = match value {
            Some(value) => launch.env(name, value),
            None => launch.without_env(name),
        };
    }
    let wall = Arc::new(plan.wall);
    let host = Host {
        hooks: vec![wall::hook(Arc::clone(&wall), denied.clone())],
        permission: Some(wall::permission(wall, denied)),
        agents: plan.agents,
        ..Host::default()
    };
    (launch, host)
}

/// Follows the harness until the run is over, it ends, or it has to be ended. Returns why the step failed, if
/// something else than its last turn says so.
async fn drive(
    inner: &Inner,
    session: &Session,
    events: &mut Events,
    denials: &mut UnboundedReceiver<Denial>,
    prompt: &str,
    progress: &mut Progress,
) -> Option<Failure> {
    let mut stop = inner.stop.subscribe();
    let ready = session.ready();
    tokio::pin!(ready);
    let mut asked = false;
    let mut unready = None;
    let mut settled = false;
    loop {
        tokio::select! {
            biased;
            stopped = stop.wait_for(Option::is_some) => {
                let why = stopped.ok().and_then(|why| why.clone()).unwrap_or_default();
                return Some(Failure { kind: FailureKind::Stopped, text: why });
            }
            // The wall stands only when the harness has confirmed it; nothing is asked before.
            answer = &mut ready, if !asked && unready.is_none() => match answer {
                Ok(_) => {
                    if let Err(error) = session.send(UserMessage::text(prompt)).await {
                        unready = Some(error.to_string());
                    }
                    asked = true;
                }
                // It has ended: what it still printed is worth reading.
                Err(error @ flower_claude::Error::Ended { .. }) => unready = Some(error.to_string()),
                Err(error) => return Some(Failure { kind: FailureKind::Harness, text: error.to_string() }),
            },
            event = events.next() => match event {
                Some(Event::RunOver) if session.turns().reports_state() => return None,
                Some(Event::RunOver) => settled = true,
                Some(Event::Ended(exit)) => {
                    return (progress.tally.last.is_none()).then(|| Failure {
                        kind: FailureKind::Harness,
                        text: unready.unwrap_or_else(|| format!("the harness ended without an answer: {exit}")),
                    });
                }
                None => return Some(Failure {
                    kind: FailureKind::Harness,
                    text: unready.unwrap_or_else(|| "the harness ended without an answer".to_owned()),
                }),
                Some(event) => {
                    take(inner, event, progress);
                    if let Some(failure) = over_budget(inner, &progress.tally) {
                        return Some(failure);
                    }
                }
            },
            Some(denial) = denials.recv() => take_denial(inner, denial, progress),
            // Nothing more came, and no worker is out.
            () = tokio::time::sleep(SETTLE), if settled && session.turns().phase() == Phase::Over => return None,
        }
    }
}

fn take(inner: &Inner, event: Event, progress: &mut Progress) {
    match event {
        Event::Message(message) => {
            progress.tally.observe(&message).iter().for_each(|event| inner.tell(event));
        }
        Event::Mirror(frame) => {
            progress.tally.mirrored(&frame);
            progress.spilling.mirrored(&frame).iter().for_each(|event| inner.tell(event));
            if let Some(writer) = &inner.writer
                && let Err(why) = mirror::keep(writer, &inner.paths, &frame)
            {
                inner.warn(why);
            }
        }
        // A harness that prints nothing else must not drown whoever listens.
        Event::Dirt(_) if progress.dirt == DIRT_TOLD => {
            progress.dirt += 1;
            inner.warn("the harness prints more lines that are no messages; they are not told any more");
        }
        Event::Dirt(_) if progress.dirt > DIRT_TOLD => {}
        Event::Dirt(Dirt::NotAMessage(text)) => {
            progress.dirt += 1;
            inner.warn(format!("the harness printed a line that is no message: {}", brief(&text)));
        }
        Event::Dirt(Dirt::TooLong(bytes)) => {
            progress.dirt += 1;
            inner.warn(format!("a line of {bytes} bytes from the harness was too long and is lost"));
        }
        Event::HookIncident(incident) => inner.warn(format!(
            "a hook on {} failed ({}); the call was {}",
            incident.event,
            incident.problem,
            match incident.answer {
                flower_claude::hooks::SafeAnswer::Denied => "refused",
                flower_claude::hooks::SafeAnswer::NoOpinion => "not affected",
            }
        )),
        _ => {}
    }
}

fn brief(text: &str) -> String {
    text.chars().take(200).collect()
}

fn take_denial(inner: &Inner, denial: Denial, progress: &mut Progress) {
    // A call can be refused at both doors; it is one denial.
    if progress.denials.iter().any(|known| known.call == denial.call && !denial.call.is_empty()) {
        return;
    }
    inner.tell(&RunEvent::Denied(denial.clone()));
    progress.denials.push(denial);
}

fn over_budget(inner: &Inner, tally: &Tally) -> Option<Failure> {
    let budget = inner.budget_usd?;
    let spent = tally.spent_usd();
    (spent >= budget).then(|| Failure {
        kind: FailureKind::Budget,
        text: format!("the budget of ${budget:.2} is spent (${spent:.4})"),
    })
}

/// The failure of the last turn, or of there having been none.
fn missing_answer(tally: &Tally) -> Option<Failure> {
    match &tally.last {
        Some(TurnEnd::Answered(_)) => None,
        Some(TurnEnd::Failed(failure)) => Some(failure.clone()),
        None => Some(Failure { kind: FailureKind::Harness, text: "no turn was finished".to_owned() }),
    }
}

/// Ends the harness and takes what it still says: transcript entries come after the last result.
async fn wind_up(
    inner: &Inner,
    session: &Session,
    events: &mut Events,
    denials: &mut UnboundedReceiver<Denial>,
    progress: &mut Progress,
    failure: Option<&Failure>,
) {
    let at_once = failure.is_some_and(|failure| {
        matches!(failure.kind, FailureKind::Stopped | FailureKind::Budget | FailureKind::Harness)
    });
    session.finish(if at_once { STOP_GRACE } else { FINISH_GRACE }).await;
    while let Some(event) = events.next().await {
        take(inner, event, progress);
    }
    while let Ok(denial) = denials.try_recv() {
        take_denial(inner, denial, progress);
    }
    progress.spilling.settle().iter().for_each(|event| inner.tell(event));
    let Some(writer) = &inner.writer else { return };
    if let Some(session) = progress.tally.sessions.last() {
        mirror::keep_denials(writer, &inner.paths, session, &progress.denials);
        mirror::keep_spills(writer, &inner.paths, session, &progress.spilling);
    }
    let writer = Arc::clone(writer);
    if let Ok(report) = tokio::task::spawn_blocking(move || writer.flush(FLUSH_LIMIT)).await
        && !report.is_complete()
    {
        let why = report.first_error.as_ref().map(|error| format!(": {error}")).unwrap_or_default();
        inner.warn(format!(
            "not everything is in the store yet: {} entries wait in the journal file, {} in memory, {} were dropped{why}",
            report.spooled, report.pending, report.dropped
        ));
    }
}

fn record(
    inner: &Inner,
    spec: &AgentSpec,
    step: &str,
    started_at: jiff::Timestamp,
    progress: &Progress,
    failure: Option<&Failure>,
) -> Result<(), RunError> {
    let tally = &progress.tally;
    let usage = |model: &String, usage| {
        let raw = Raw::from_serialize(usage).ok()?;
        let raw = serde_json::value::RawValue::from_string(raw.as_str().to_owned()).ok()?;
        Some((model.clone(), RawJson::from(raw)))
    };
    let mut later = serde_json::Map::new();
    later.insert("agent".to_owned(), spec.name.clone().into());
    later.insert(MODEL.to_owned(), tally.model.clone().into());
    if let Duty::Work { tools } = &spec.duty {
        later.insert(TOOLS.to_owned(), tools.clone().into());
    }
    inner.manifest.append(&StepRecord {
        run: inner.run.clone(),
        step: step.to_owned(),
        sessions: tally.sessions.clone(),
        ok: failure.is_none(),
        error: failure.map(|failure| StepFailure {
            kind: failure.kind.word().to_owned(),
            text: Some(failure.text.clone()),
        }),
        attempts: 1,
        cost_usd: Some(tally.spent_usd()),
        turns: tally.turns(),
        context_watermark: tally.watermark,
        started_at: started_at.to_string(),
        ended_at: jiff::Timestamp::now().to_string(),
        harness_version: tally
            .version
            .clone()
            .or_else(|| inner.harness.version.version().map(|v| v.to_string())),
        model_usage: tally.model_usage.iter().filter_map(|(model, used)| usage(model, used)).collect(),
        later,
    })?;
    Ok(())
}

fn ended(inner: &Inner, step: String, progress: Progress, failure: Option<Failure>) -> Outcome {
    let Progress { tally, denials, spilling, .. } = progress;
    let outcome = Outcome {
        run: inner.run.clone(),
        step,
        turns: tally.turns(),
        cost_usd: tally.spent_usd(),
        context_watermark: tally.watermark,
        text: match tally.last {
            Some(TurnEnd::Answered(text)) => text,
            _ => String::new(),
        },
        sessions: tally.sessions,
        model_usage: tally.model_usage,
        failure,
        denials,
        spills: spilling.taken,
    };
    inner.tell(&RunEvent::StepEnded {
        step: outcome.step.clone(),
        ok: outcome.ok(),
        cost_usd: outcome.cost_usd,
    });
    outcome
}
