//! Every text that flower says to a model, in both languages.
//!
//! One struct, two statics: a text that is missing in one language does not compile. Names in braces are filled
//! with [`flower_context::fill`]; a test holds that both languages use the same names.

use flower_context::Lang;

mod en;
mod zh;

/// The texts of one language. Each field is one text; its doc names what is filled in.
#[derive(Debug)]
pub(crate) struct Texts {
    /// The standing rules of a coordinator.
    pub(crate) coordinator_rules: &'static str,
    /// What a coordinator with `glance` may do with Bash; follows the rules.
    pub(crate) coordinator_glance: &'static str,
    /// What a coordinator without `glance` must know; follows the rules.
    pub(crate) coordinator_no_glance: &'static str,
    /// The standing rules of a worker: `{scripts}`, `{artifacts}`.
    pub(crate) worker_rules: &'static str,
    /// The workbench in the coordinator's head: `{root}`, `{scripts}`, `{artifacts}`, `{notes}`.
    pub(crate) workbench: &'static str,
    /// The beginning of the index file.
    pub(crate) index_title: &'static str,
    /// Before the list of what is on the workbench, in the coordinator's head.
    pub(crate) index_block: &'static str,
    /// Behind a list that was cut: `{n}`.
    pub(crate) index_more: &'static str,
    /// Before a file that is new.
    pub(crate) index_new: &'static str,
    /// Before a file that has changed.
    pub(crate) index_changed: &'static str,
    /// Before a file that is gone.
    pub(crate) index_gone: &'static str,
    /// Before the list of changes, at the end of the prompt that resumes a session.
    pub(crate) index_changes: &'static str,
    /// Standing rules of a role that does not delegate: `{tools}`.
    pub(crate) whitelist_rules: &'static str,
    /// What to do instead of acting: `{artifacts}`. Ends every denial of the delegate guard.
    pub(crate) delegate_instead: &'static str,
    /// An acting tool on the coordinator's main thread: `{tool}`.
    pub(crate) denied_tool: &'static str,
    /// A command that is no glance: `{part}`, `{reason}`.
    pub(crate) denied_command: &'static str,
    /// A glance that was asked to run in the background.
    pub(crate) denied_background: &'static str,
    /// Bash for a coordinator without `glance`.
    pub(crate) denied_bash: &'static str,
    /// An Agent call for somebody who is not of this run: `{asked}`, `{workers}`.
    pub(crate) denied_worker: &'static str,
    /// A tool outside the list of a role that does not delegate: `{tool}`, `{tools}`.
    pub(crate) denied_whitelist: &'static str,
    /// A permission request that no rule of the run answers: `{tool}`.
    pub(crate) denied_permission: &'static str,
    /// The input of a call could not be read, so it was refused: `{tool}`.
    pub(crate) denied_unreadable: &'static str,
    /// Behind the pointer to a text that moved to disk: `{bytes}`.
    pub(crate) spill_part: &'static str,
    /// At the end of a list that was shortened: `{more}`, `{pointer}`.
    pub(crate) spill_names: &'static str,
    /// Before the lines of a spilled output that look like errors.
    pub(crate) spill_errors: &'static str,
    /// Before the end of a spilled output.
    pub(crate) spill_end: &'static str,
    /// A spilled file that was to be read is gone.
    pub(crate) spill_gone: &'static str,
    /// Behind a page of a spilled file: `{path}`, `{next}` line.
    pub(crate) page_lines: &'static str,
    /// Behind a page that ends within a line: `{path}`, `{next}` byte, counted from 1.
    pub(crate) page_bytes: &'static str,
    /// Behind a page of what a command made of a spilled file: `{next}` line.
    pub(crate) page_output_lines: &'static str,
    /// The same where it ends within a line: `{next}` byte, counted from 1.
    pub(crate) page_output_bytes: &'static str,
    /// Behind a page of a search in a spilled file: `{next}` matches are shown.
    pub(crate) page_search: &'static str,
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

    /// Destructured, so that a new field cannot be forgotten here.
    fn all(texts: &Texts) -> Vec<&'static str> {
        let Texts {
            coordinator_rules,
            coordinator_glance,
            coordinator_no_glance,
            worker_rules,
            workbench,
            index_title,
            index_block,
            index_more,
            index_new,
            index_changed,
            index_gone,
            index_changes,
            whitelist_rules,
            delegate_instead,
            denied_tool,
            denied_command,
            denied_background,
            denied_bash,
            denied_worker,
            denied_whitelist,
            denied_permission,
            denied_unreadable,
            spill_part,
            spill_names,
            spill_errors,
            spill_end,
            spill_gone,
            page_lines,
            page_bytes,
            page_output_lines,
            page_output_bytes,
            page_search,
        } = *texts;
        vec![
            coordinator_rules,
            coordinator_glance,
            coordinator_no_glance,
            worker_rules,
            workbench,
            index_title,
            index_block,
            index_more,
            index_new,
            index_changed,
            index_gone,
            index_changes,
            whitelist_rules,
            delegate_instead,
            denied_tool,
            denied_command,
            denied_background,
            denied_bash,
            denied_worker,
            denied_whitelist,
            denied_permission,
            denied_unreadable,
            spill_part,
            spill_names,
            spill_errors,
            spill_end,
            spill_gone,
            page_lines,
            page_bytes,
            page_output_lines,
            page_output_bytes,
            page_search,
        ]
    }

    #[test]
    fn both_languages_fill_the_same_names() {
        for (en, zh) in all(&en::TEXTS).into_iter().zip(all(&zh::TEXTS)) {
            assert_eq!(placeholders(en), placeholders(zh), "{en}\n{zh}");
        }
    }

    #[test]
    fn no_text_is_empty_and_chinese_is_chinese() {
        for (en, zh) in all(&en::TEXTS).into_iter().zip(all(&zh::TEXTS)) {
            assert!(en.is_ascii() && !en.trim().is_empty(), "{en}");
            assert!(zh.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c)), "{zh}");
        }
    }
}
