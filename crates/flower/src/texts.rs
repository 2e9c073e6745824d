//! Every text that flower says to a model, or to a person beside a run, in both languages.
//!
//! One struct, two statics: a text that is missing in one language does not compile. Names in braces are filled
//! with [`flower_context::fill`]; a test holds that both languages use the same names.

use flower_context::Lang;

mod en;
mod zh;

/// Declares the struct and, for the tests, the list of its fields.
macro_rules! texts {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// The texts of one language. Each field is one text; its doc names what is filled in.
        #[derive(Debug)]
        pub(crate) struct Texts {
            $($(#[$doc])* pub(crate) $name: &'static str,)*
        }

        #[cfg(test)]
        impl Texts {
            fn all(&self) -> Vec<&'static str> {
                vec![$(self.$name,)*]
            }
        }
    };
}

texts! {
    /// Said to a session that goes on after a failure: `{cause}`.
    go_on,
    /// A step that was given up, behind the cause: `{minutes}`.
    out_of_patience,
    /// A step that was given up, behind the cause: `{attempts}`.
    out_of_attempts,
    /// What is said of a harness that ended before an answer.
    no_answer,
    /// What is said of an attempt in which no turn reached its end.
    no_turn,
    /// No successor: all `{of}` sessions are used.
    stuck_generations,
    /// No successor: `{generation}` began with `{first}` tokens and hands over at `{mark}`.
    stuck_head_fills,
    /// No successor: `{generation}` made no call.
    stuck_no_call,
    /// No successor: `{generation}` made `{calls}` calls and has the next step that it was given.
    stuck_same_next,
    /// Behind what somebody said who interrupted a turn: `{message}`.
    interrupted,
    /// The standing rules of a coordinator.
    coordinator_rules,
    /// What a coordinator with `glance` may do with Bash; follows the rules.
    coordinator_glance,
    /// What a coordinator without `glance` must know; follows the rules.
    coordinator_no_glance,
    /// The standing rules of a worker: `{scripts}`, `{artifacts}`.
    worker_rules,
    /// The workbench in the coordinator's head: `{root}`, `{scripts}`, `{artifacts}`, `{notes}`.
    workbench,
    /// The beginning of the index file.
    index_title,
    /// Before the list of what is on the workbench, in the coordinator's head.
    index_block,
    /// Behind a list that was cut: `{n}`.
    index_more,
    /// Before a file that is new.
    index_new,
    /// Before a file that has changed.
    index_changed,
    /// Before a file that is gone.
    index_gone,
    /// Before the list of changes, at the end of the prompt that resumes a session.
    index_changes,
    /// Told once a session, when it comes near its mark: `{left}` tokens.
    handoff_warning,
    /// Asks for the document; the headings with what belongs under them follow: `{most}` characters.
    handoff_request,
    /// Heading of the first part: what is being done.
    handoff_doing,
    /// Heading of the second part: what was decided.
    handoff_decided,
    /// Heading of the third part: what does not work.
    handoff_dead_ends,
    /// Heading of the fourth part: what comes next.
    handoff_next,
    /// Heading of the fifth part: where things are.
    handoff_scene,
    /// What belongs under the first heading.
    handoff_asks_doing,
    /// What belongs under the second heading.
    handoff_asks_decided,
    /// What belongs under the third heading.
    handoff_asks_dead_ends,
    /// What belongs under the fourth heading.
    handoff_asks_next,
    /// What belongs under the fifth heading.
    handoff_asks_scene,
    /// Before the document, in the first prompt of a successor: `{generation}`, `{of}`, `{path}`.
    handoff_succession,
    /// Behind the document.
    handoff_go_on,
    /// In the place of what was cut out of a part: `{n}` characters, `{path}`.
    handoff_cut,
    /// What the index shows of a frozen document: `{generation}`, `{doing}`.
    handoff_described,
    /// Says that a document is degraded: `{why}`, a sentence.
    handoff_degraded,
    /// Why: the context was full.
    handoff_why_full,
    /// Why: required `{parts}` were missing.
    handoff_why_incomplete,
    /// Why: the turn failed: `{text}`.
    handoff_why_failed,
    /// Why: the turn was cut off, and nobody says more.
    handoff_why_cut,
    /// What is said of a turn that was given up: the text of a failure.
    handoff_too_long,
    /// A handoff document that the disk refused: `{path}`, `{why}`.
    handoff_not_kept,
    /// Before what the session did write of a document that is none.
    handoff_known_wrote,
    /// Before a part of the document that the session itself started from.
    handoff_known_before,
    /// Before the step's prompt.
    handoff_known_prompt,
    /// Before something that the session said.
    handoff_known_said,
    /// Before the notes on the workbench.
    handoff_known_notes,
    /// Before calls that failed.
    handoff_known_failed,
    /// Before calls that were refused.
    handoff_known_denied,
    /// What comes next, as far as one can say.
    handoff_known_next,
    /// Before to-dos that are not done.
    handoff_known_todo,
    /// Before tasks whose workers have not reported.
    handoff_known_open,
    /// Before the directory of the run.
    handoff_known_workspace,
    /// Before files that were written.
    handoff_known_files,
    /// Before scripts and artifacts on the workbench.
    handoff_known_bench,
    /// Before a task that was delegated: `{title}`.
    handoff_known_task,
    /// Before the report of its worker.
    handoff_known_report,
    /// Standing rules of a role that does not delegate: `{tools}`.
    whitelist_rules,
    /// What to do instead of acting: `{artifacts}`. Ends every denial of the delegate guard.
    delegate_instead,
    /// An acting tool on the coordinator's main thread: `{tool}`.
    denied_tool,
    /// A command that is no glance: `{part}`, `{reason}`.
    denied_command,
    /// A glance that was asked to run in the background.
    denied_background,
    /// Bash for a coordinator without `glance`.
    denied_bash,
    /// An Agent call for somebody who is not of this run: `{asked}`, `{workers}`.
    denied_worker,
    /// A tool outside the list of a role that does not delegate: `{tool}`, `{tools}`.
    denied_whitelist,
    /// A permission request that no rule of the run answers: `{tool}`.
    denied_permission,
    /// The input of a call could not be read, so it was refused: `{tool}`.
    denied_unreadable,
    /// Behind the pointer to a text that moved to disk: `{bytes}`.
    spill_part,
    /// The same where lines are too long to be read by the line: `{bytes}`, `{path}`.
    spill_part_bytes,
    /// Behind it, where the preview is not what the file holds.
    spill_printed,
    /// At the end of a list that was shortened: `{more}`, `{pointer}`.
    spill_names,
    /// Before the lines of a spilled output that look like errors.
    spill_errors,
    /// The same where the lines of the file are others.
    spill_errors_shown,
    /// Before the end of a spilled output.
    spill_end,
    /// A spilled file that was to be read is gone.
    spill_gone,
    /// It lies somewhere else now: `{path}`.
    spill_moved,
    /// The tools do not see what we see; `{page}`, the beginning of the file, is behind it.
    spill_unseen,
    /// Behind a page of a spilled file: `{path}`, `{next}` line.
    page_lines,
    /// Behind a page that ends within a line: `{path}`, `{next}` byte, counted from 1.
    page_bytes,
    /// Behind a page of what a command made of a spilled file: `{next}` line.
    page_output_lines,
    /// The same where it ends within a line: `{next}` byte, counted from 1.
    page_output_bytes,
    /// Behind a page of a search in a spilled file: `{next}` matches are shown.
    page_search,
    /// A step that has used up its money: `{budget}`, `{spent}` in US dollars.
    budget_usd,
    /// A step that has used up its turns: `{budget}`, `{spent}`.
    budget_turns,
    /// A step that has used up its time: `{budget}`, `{spent}` as h:mm:ss.
    budget_wall_clock,
    /// Processes of a killed run were ended: `{count}`.
    note_processes,
    /// The store was damaged: `{path}`, `{reason}`, `{moved}`.
    note_set_aside,
    /// The store works without a write-ahead log: `{path}`, `{reason}`.
    note_no_log,
    /// The store lies on a network: `{path}`, `{kind}`.
    note_network,
    /// Entries came into the store late: `{path}`, `{count}`.
    note_replayed,
    /// They did not: `{path}`, `{reason}`.
    note_not_replayed,
    /// Anything else about the store: `{path}`, `{what}`.
    note_store,
    /// There is no store: `{why}`.
    note_not_stored,
    /// The store is behind: `{spooled}`, `{pending}`, `{dropped}`, `{why}`.
    note_not_flushed,
    /// A step has no line in the manifest: `{why}`.
    note_unrecorded,
    /// A killed session came home: `{session}`.
    note_taken_back,
    /// It did not: `{session}`, `{path}`, `{why}`.
    note_not_taken_back,
    /// A session is resumed without a store.
    note_unrewritten,
    /// Earlier views do not fit.
    note_view_anew,
    /// A rewrite was not used: `{why}`.
    note_unproved,
    /// An interrupt was not taken: `{why}`.
    note_interrupt,
    /// A replacement was refused: `{tool}`, `{why}`.
    note_spill_refused,
    /// In the place of a reason.
    note_no_reason,
    /// The disk refused: `{tool}`, `{why}`.
    note_spill_failed,
    /// The harness printed `{line}`.
    note_dirt,
    /// And more of them.
    note_dirt_more,
    /// A line of `{bytes}` is lost.
    note_too_long,
    /// A hook failed: `{event}`, `{problem}`.
    note_hook_denied,
    /// The same, and nothing follows.
    note_hook_passed,
}

/// The texts of `lang`.
pub(crate) fn texts(lang: Lang) -> &'static Texts {
    match lang {
        Lang::En => &en::TEXTS,
        Lang::Zh => &zh::TEXTS,
    }
}

#[cfg(test)]
mod tests {
    use flower_context::placeholders;

    use super::*;

    #[test]
    fn both_languages_fill_the_same_names() {
        for (en, zh) in en::TEXTS.all().into_iter().zip(zh::TEXTS.all()) {
            assert_eq!(placeholders(en), placeholders(zh), "{en}\n{zh}");
        }
    }

    #[test]
    fn no_text_is_empty_and_chinese_is_chinese() {
        for (en, zh) in en::TEXTS.all().into_iter().zip(zh::TEXTS.all()) {
            assert!(en.is_ascii() && !en.trim().is_empty(), "{en}");
            assert!(zh.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c)), "{zh}");
        }
    }
}
