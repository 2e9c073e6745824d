//! What became of each step, and what the layers did for them.

use std::collections::{BTreeMap, BTreeSet};

use flower::receipt::{Receipt, Warmth};
use flower::runtime::{HandedOver, Pause, WAITS};
use flower_context::accounting::Script;
use flower_context::fill;
use flower_context::rewrite::{Pass, Report};
use flower_store::StepRecord;
use serde::Deserialize as _;

use super::{grouped, padded, percent, section};
use crate::console::one_line;
use crate::texts::Texts;

/// One line a step, where there is more to say than that there was one.
pub(super) fn steps(lines: &mut Vec<String>, receipt: &Receipt, texts: &Texts) {
    let plain = |step: &StepRecord| step.ok && step.attempts <= 1 && step.sessions.len() <= 1;
    if receipt.steps.len() <= 1 && receipt.steps.iter().all(plain) && receipt.cut_off.is_empty() {
        return;
    }
    section(lines, texts.receipt_steps);
    let numbered = receipt.steps.iter().enumerate();
    let numbered =
        numbered.map(|(index, step)| (&*step.started_at, format!("  {}. {}", index + 1, ended(step, texts))));
    let mut rows: Vec<(&str, String)> = numbered.collect();
    rows.extend(receipt.cut_off.iter().map(|step| {
        let session = one_line(&step.session, 8);
        (&*step.at, format!("  -  {}", fill(texts.receipt_step_killed, &[("session", &session)])))
    }));
    rows.sort_by_key(|(at, _)| *at);
    lines.extend(rows.into_iter().map(|(_, line)| line));
}

fn ended(step: &StepRecord, texts: &Texts) -> String {
    let result = match &step.error {
        Some(error) => fill(texts.receipt_step_failed, &[("kind", &one_line(&error.kind, 40))]),
        None => texts.receipt_step_done.to_owned(),
    };
    let sessions: Vec<String> = step.sessions.iter().map(|session| one_line(session, 8)).collect();
    let line = fill(
        texts.receipt_step_line,
        &[
            ("result", &result),
            ("turns", &grouped(step.turns)),
            ("starts", &step.attempts.to_string()),
            ("dollars", &format!("{:.4}", step.cost_usd.unwrap_or_default())),
            ("sessions", &sessions.join(", ")),
        ],
    );
    line + &waits(step, texts)
}

/// Where the step waited; empty where it did not.
fn waits(step: &StepRecord, texts: &Texts) -> String {
    let waits = step.later.get(WAITS).and_then(|waits| Vec::<Pause>::deserialize(waits).ok());
    let waits = waits.unwrap_or_default();
    if waits.is_empty() {
        return String::new();
    }
    let causes: BTreeSet<String> = waits.iter().map(|wait| one_line(&wait.cause, 40)).collect();
    let seconds: f64 = waits.iter().map(|wait| wait.seconds).sum();
    fill(
        texts.receipt_step_waits,
        &[
            ("count", &waits.len().to_string()),
            ("seconds", &format!("{seconds:.1}")),
            ("causes", &causes.into_iter().collect::<Vec<_>>().join(", ")),
        ],
    )
}

/// Spills, resumes and handoffs, where there were any.
pub(super) fn layers(lines: &mut Vec<String>, receipt: &Receipt, texts: &Texts) {
    let mut rows = Vec::new();
    rows.extend(spills(receipt, texts).into_iter().map(|line| (texts.receipt_spills, line)));
    let resumes = receipt.resumes.iter();
    rows.extend(resumes.map(|report| (texts.receipt_resumes, resume(report, texts))));
    rows.extend(receipt.warmth.iter().map(|found| (texts.receipt_warmth, warmth(found, texts))));
    rows.extend(scripts(receipt, texts).map(|line| (texts.receipt_scripts, line)));
    let handoffs = receipt.handoffs.iter();
    rows.extend(handoffs.map(|handoff| (texts.receipt_handoffs, handed_over(handoff, texts))));
    if rows.is_empty() {
        return;
    }
    section(lines, texts.receipt_layers);
    let mut shown = "";
    for (label, line) in rows {
        lines.push(format!("  {}{line}", padded(if label == shown { "" } else { label }, 14)));
        shown = label;
    }
}

fn handed_over(handoff: &HandedOver, texts: &Texts) -> String {
    let path = one_line(&handoff.document.display().to_string(), 400);
    let filled = [("generation", &*handoff.generation.to_string()), ("path", &path)];
    let mut line = fill(texts.receipt_handoff_line, &filled);
    if let Some(why) = &handoff.degraded {
        line.push_str(&fill(texts.receipt_handoff_degraded, &[("why", &one_line(why, 200))]));
    }
    line
}

fn spills(receipt: &Receipt, texts: &Texts) -> Vec<String> {
    let mut lines = Vec::new();
    let mut tools = BTreeMap::<&str, u64>::new();
    let mut kept_out = 0;
    let mut refused = 0;
    for spill in &receipt.spills {
        if spill.taken {
            *tools.entry(&spill.tool).or_default() += 1;
            kept_out += spill.before.saturating_sub(spill.after);
        } else {
            refused += 1_u64;
        }
    }
    if !tools.is_empty() {
        let count = tools.values().sum();
        let tools: Vec<String> =
            tools.iter().map(|(tool, count)| format!("{} {count}", one_line(tool, 40))).collect();
        lines.push(fill(
            texts.receipt_spills_line,
            &[("count", &grouped(count)), ("characters", &grouped(kept_out)), ("tools", &tools.join(", "))],
        ));
    }
    if refused > 0 {
        lines.push(fill(texts.receipt_spills_refused, &[("count", &grouped(refused))]));
    }
    lines
}

fn resume(report: &Report, texts: &Texts) -> String {
    let edits = |counts: &BTreeMap<Pass, u64>| {
        let named: Vec<String> =
            counts.iter().map(|(pass, count)| format!("{} {count}", name(*pass, texts))).collect();
        named.join(", ")
    };
    let mut line = if report.made.is_empty() {
        texts.receipt_resume_nothing.to_owned()
    } else {
        let saved = u64::try_from(report.tokens_saved).unwrap_or_default();
        let turns = report.turns_to_break_even.map_or_else(|| "-".to_owned(), grouped);
        fill(
            texts.receipt_resume_line,
            &[
                ("edits", &edits(&report.made)),
                ("saved", &grouped(saved)),
                ("cold", &grouped(report.tokens_made_cold)),
                ("turns", &turns),
            ],
        )
    };
    if !report.left.is_empty() {
        line.push_str(&fill(texts.receipt_resume_left, &[("edits", &edits(&report.left))]));
    }
    line
}

/// What the workbench's scripts are good for: written once, run often.
fn scripts(receipt: &Receipt, texts: &Texts) -> Option<String> {
    let scripts = &receipt.figures.scripts;
    let sum = |of: fn(&Script) -> u64| scripts.iter().map(of).sum::<u64>();
    let again = scripts.iter().filter(|script| script.runs > 1).count() as u64;
    let line = || {
        fill(
            texts.receipt_scripts_line,
            &[
                ("count", &grouped(scripts.len() as u64)),
                ("written", &grouped(sum(|script| script.written))),
                ("runs", &grouped(sum(|script| script.runs))),
                ("again", &percent(again, scripts.len() as u64)),
            ],
        )
    };
    (!scripts.is_empty()).then(line)
}

fn warmth(found: &Warmth, texts: &Texts) -> String {
    let line = if found.is_whole() { texts.receipt_warmth_whole } else { texts.receipt_warmth_part };
    fill(
        line,
        &[
            ("step", &found.step.to_string()),
            ("read", &grouped(found.read)),
            ("kept", &grouped(found.kept)),
            ("written", &grouped(found.written)),
        ],
    )
}

fn name(pass: Pass, texts: &Texts) -> &str {
    match pass {
        Pass::Expire => texts.pass_expire,
        Pass::Trim => texts.pass_trim,
        Pass::PruneDenials => texts.pass_prune_denials,
        Pass::PruneDebris => texts.pass_prune_debris,
        Pass::Heal => texts.pass_heal,
    }
}
