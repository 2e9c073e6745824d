//! The delegate guard: on a coordinator's main thread only its own tools pass.

use flower_context::glance::{Verdict, is_glance};
use flower_context::{Lang, fill};

use super::{Call, Texts, is_coordinators_own};
use crate::roles::Glance;

/// Why the main thread may not make this call; `None` when it may.
///
/// The list is one of what passes, not of what is refused: a tool that a newer harness adds is refused until
/// somebody has thought about it.
pub(super) fn refusal(texts: &Texts, lang: Lang, glance: Glance, call: &Call<'_>) -> Option<String> {
    match call.tool {
        tool if is_coordinators_own(tool) => None,
        "Bash" => match glance {
            Glance::Off => Some(texts.denied_bash.to_owned()),
            Glance::On => bash_refusal(texts, lang, call),
        },
        tool => Some(fill(texts.denied_tool, &[("tool", tool)])),
    }
}

fn bash_refusal(texts: &Texts, lang: Lang, call: &Call<'_>) -> Option<String> {
    let Some(command) = call.input.get("command").and_then(|command| command.as_str()) else {
        return Some(fill(texts.denied_unreadable, &[("tool", call.tool)]));
    };
    // Anything but an absent or plainly false flag counts as background.
    let foreground =
        matches!(call.input.get("run_in_background"), None | Some(serde_json::Value::Bool(false)));
    if !foreground {
        return Some(texts.denied_background.to_owned());
    }
    match is_glance(command) {
        Verdict::Glance => None,
        Verdict::Not(refusal) => {
            let reason = refusal.reason.text(lang);
            Some(fill(texts.denied_command, &[("part", &shown(&refusal.part)), ("reason", &reason)]))
        }
    }
}

/// A refused part as it stands in a denial: one line, at most 200 characters. The denial stays in the context,
/// so it must not repeat a long command.
fn shown(part: &str) -> String {
    const LONGEST: usize = 200;
    let line: String = part.chars().map(|c| if c.is_control() { ' ' } else { c }).take(LONGEST).collect();
    if part.chars().count() > LONGEST { format!("{line}…") } else { line }
}
