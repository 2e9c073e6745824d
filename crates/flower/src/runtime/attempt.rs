//! One harness, from its start to its end: a step has one, and another for each time that it has to go on.

use std::sync::Arc;
use std::time::Duration;

use flower_claude::options::{Conversation, SettingSource};
use flower_claude::session::EndedBy;
use flower_claude::turns::Phase;
use flower_claude::wire::Message;
use flower_claude::{Event, Events, Host, Launch, Session};
use flower_context::fill;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::asking::Asking;
use super::boundary::Boundary;
use super::event::Denial;
use super::indexing::{self, Opening};
use super::mirror::FLUSH_LIMIT;
use super::outcome::{Failure, FailureKind};
use super::progress::Progress;
use super::resuming::Reopened;
use super::succession::Left;
use super::waiting::after;
use super::{Inner, Settings, plan, resuming, wall};
use crate::resilience::{self, Cause, Silence};
use crate::roles::{AgentSpec, Duty};
use crate::texts::texts;

/// How long a harness that does not report its state has to be silent after a result before the run counts as over.
/// The tested versions report it; this is for others, which may open another turn behind a result.
const SETTLE: Duration = Duration::from_secs(1);

/// How long the harness may take to write its transcript and go, once the run is over.
const FINISH_GRACE: Duration = Duration::from_secs(15);

/// How long a harness that must go at once may take before it is told by signal.
const STOP_GRACE: Duration = Duration::ZERO;

/// A harness that is running, and what it is asked.
pub(super) struct Attempt<'a> {
    inner: &'a Arc<Inner>,
    session: Session,
    events: Events,
    denials: UnboundedReceiver<Denial>,
    opening: Opening,
    boundary: Boundary,
    /// The view that it reads; none when the session is new.
    reopened: Option<Reopened>,
    /// The session that it works on.
    id: Option<String>,
    /// It is asked for its document.
    writes: bool,
}

/// How an attempt ended.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum End {
    /// The harness has nothing more to do: what its last turn says counts.
    Over,
    /// It did not get there.
    Failed(Failure),
    /// The context is full, and this is what the session left.
    HandOver(Left),
    /// Somebody interrupted it, and it did not stop: what they said is still to be said to the session.
    Interrupted,
}

/// What an attempt starts with.
pub(super) struct Start<'a> {
    pub(super) spec: &'a AgentSpec,
    pub(super) opening: Opening,
    pub(super) model: Option<String>,
    pub(super) conversation: Conversation,
    pub(super) reopened: Option<Reopened>,
    /// The prompt asks for the session's document.
    pub(super) writes: bool,
}

impl<'a> Attempt<'a> {
    /// Starts the harness. Nothing is asked yet.
    pub(super) async fn start(
        inner: &'a Arc<Inner>,
        start: Start<'_>,
        progress: &mut Progress,
    ) -> Result<Self, flower_claude::Error> {
        let (denied, denials) = unbounded_channel();
        let (launch, mut host) = prepare(inner, &start, denied);
        host.hooks.extend(progress.spilling.hooks());
        host.hooks.extend(indexing::hooks(&inner.keeper));
        let boundary = Boundary::default();
        if inner.handoff.on {
            host.hooks.push(boundary.hook());
        }
        progress.another_process();
        progress.unheard.begin();
        let (session, events) = Session::start(launch, host).await?;
        let Start { opening, reopened, conversation, writes, .. } = start;
        let id = conversation.session_id().map(str::to_owned);
        Ok(Self { inner, session, events, denials, opening, boundary, reopened, id, writes })
    }

    /// Follows the harness until the run is over, it ends, or it has to be ended.
    pub(super) async fn drive(
        &mut self,
        interrupts: &mut UnboundedReceiver<String>,
        progress: &mut Progress,
    ) -> End {
        let mut asking = Asking::default();
        let end = self.follow(&mut asking, interrupts, progress).await;
        asking.ended(progress);
        end
    }

    async fn follow(
        &mut self,
        asking: &mut Asking,
        interrupts: &mut UnboundedReceiver<String>,
        progress: &mut Progress,
    ) -> End {
        let inner = self.inner;
        let mut stop = inner.stop.subscribe();
        let session = &self.session;
        let ready = session.ready();
        tokio::pin!(ready);
        let mut unready = None;
        let mut settled = false;
        loop {
            tokio::select! {
                biased;
                stopped = stop.wait_for(Option::is_some) => {
                    let why = stopped.ok().and_then(|why| why.clone()).unwrap_or_default();
                    return End::Failed(Failure { kind: FailureKind::Stopped, text: why });
                }
                // The wall stands only when the harness has confirmed it; nothing is asked before.
                answer = &mut ready, if !asking.asked && unready.is_none() => match answer {
                    Ok(_) => {
                        let prompt = self.opening.prompt.as_str();
                        if let Err(error) = asking.open(session, prompt, self.writes, progress).await {
                            unready = Some(error);
                        }
                    }
                    // It has ended: what it still printed is worth reading.
                    Err(error @ flower_claude::Error::Ended { .. }) => unready = Some(error.to_string()),
                    Err(error) => return broken(error.to_string()),
                },
                Some(message) = interrupts.recv(), if asking.hears() => {
                    asking.interrupt(inner, session, &message).await;
                }
                event = self.events.next() => match event {
                    // It can be the end of a turn behind which something was said.
                    Some(Event::RunOver) if asking.unanswered > 0 => {}
                    Some(Event::RunOver) if session.turns().reports_state() => return End::Over,
                    Some(Event::RunOver) => settled = true,
                    Some(Event::Ended(exit)) => {
                        progress.signs.ended(resilience::End::of(exit.status));
                        if progress.tally.last.is_some() && asking.unanswered == 0 {
                            return End::Over;
                        }
                        return broken(unready.unwrap_or_else(|| format!("{}: {exit}", texts(inner.lang).no_answer)));
                    }
                    None => return broken(unready.unwrap_or_else(|| texts(inner.lang).no_answer.to_owned())),
                    Some(event) => {
                        let turn_ended = matches!(&event, Event::Message(Message::Result(_)));
                        progress.take(inner, event);
                        if turn_ended {
                            match asking.turn_ended(inner, session, progress).await {
                                Ok(Some(left)) => return End::HandOver(left),
                                Ok(None) => {}
                                Err(error) => unready = Some(error),
                            }
                        }
                        if !asking.is_writing() {
                            if let Some(failure) = progress.over_budget(inner) {
                                return End::Failed(failure);
                            }
                            asking.look_at_the_mark(inner, &self.boundary, progress);
                        }
                    }
                },
                Some(denial) = self.denials.recv() => progress.take_denial(inner, denial),
                // Behind what has come: a machine that slept has heard nothing, and is not to be taken for silent.
                () = after(progress.time_left(inner)), if !asking.is_writing() => {
                    if let Some(failure) = progress.over_budget(inner) {
                        return End::Failed(failure);
                    }
                }
                () = after(asking.time_left()) => return asking.out_of_patience(inner.lang),
                () = after(progress.next_look(inner)) => match progress.silence(inner) {
                    Silence::Dead => {
                        progress.signs.ended(resilience::End::Silent);
                        return broken(Cause::Silent.text(inner.lang).to_owned());
                    }
                    Silence::Suspicious => asking.tell_silence(inner),
                    Silence::Quiet => {}
                },
                // Nothing more came, and no worker is out.
                () = tokio::time::sleep(SETTLE),
                    if settled && asking.unanswered == 0 && session.turns().phase() == Phase::Over =>
                {
                    return End::Over;
                }
            }
        }
    }

    /// Ends the harness and takes what it still says: transcript entries come after the last result.
    pub(super) async fn wind_up(mut self, end: &End, progress: &mut Progress) {
        let inner = self.inner;
        if progress.tally.last.is_some()
            && let Some(session) = progress.tally.sessions.last()
        {
            indexing::told(inner, &self.opening, session);
        }
        // A session that ended its turn in good order has still something to write.
        let in_order = matches!(end, End::Over | End::HandOver(_));
        let exit = self.session.finish(if in_order { FINISH_GRACE } else { STOP_GRACE }).await;
        while let Some(event) = self.events.next().await {
            progress.take(inner, event);
        }
        while let Ok(denial) = self.denials.try_recv() {
            progress.take_denial(inner, denial);
        }
        progress.settle(inner);
        let stored = store_rest(inner).await;
        // One that was cut off has not told us all that it has written.
        let told_all = in_order
            && exit.ended_by == EndedBy::Itself
            && exit.status.is_some_and(|status| status.code().is_some());
        match &self.id {
            Some(session) if !told_all => resuming::bring_home(inner, session).await,
            _ => self.reopened.iter().for_each(|reopened| reopened.done(stored)),
        }
    }
}

fn broken(text: String) -> End {
    End::Failed(Failure { kind: FailureKind::Harness, text })
}

fn prepare(
    inner: &Inner,
    start: &Start<'_>,
    denied: tokio::sync::mpsc::UnboundedSender<Denial>,
) -> (Launch, Host) {
    let spec = start.spec;
    let head = start.opening.head.clone();
    let plan =
        plan::plan(spec, head, &inner.bench, inner.lang, start.model.as_deref(), start.conversation.clone());
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
    if inner.handoff.on {
        // Nobody could tell who has dropped what, if the harness compacted too.
        launch = launch.env("DISABLE_AUTO_COMPACT", "1");
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

/// Gives the store time for what is still on its way. True when all of it is stored.
async fn store_rest(inner: &Inner) -> bool {
    let Some(writer) = &inner.writer else { return false };
    let writer = Arc::clone(writer);
    let Ok(report) = tokio::task::spawn_blocking(move || writer.flush(FLUSH_LIMIT)).await else {
        return false;
    };
    if !report.is_complete() {
        let why = report.first_error.as_ref().map(|error| format!(": {error}")).unwrap_or_default();
        inner.warn(fill(
            texts(inner.lang).note_not_flushed,
            &[
                ("spooled", &report.spooled.to_string()),
                ("pending", &report.pending.to_string()),
                ("dropped", &report.dropped.to_string()),
                ("why", &why),
            ],
        ));
    }
    report.is_complete()
}
