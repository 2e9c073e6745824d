//! Every text that the command says to a person, in both languages.
//!
//! One struct, two statics: a text that is missing in one language does not compile. Names in braces are filled with
//! [`flower_context::fill`]; a test holds that both languages use the same names.

use flower_context::Lang;

mod en;
mod help_zh;
mod zh;

pub(crate) use help_zh::{HELP_ZH, HelpText};

/// Declares the struct and, for the tests, the list of its fields.
macro_rules! texts {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// The texts of one language.
        #[derive(Debug)]
        pub(crate) struct Texts {
            $($(#[$doc])* pub(crate) $name: &'static str,)*
        }

        #[cfg(test)]
        impl Texts {
            fn all(&self) -> Vec<(&'static str, &'static str)> {
                vec![$((stringify!($name), self.$name),)*]
            }
        }
    };
}

texts! {
    // Labels of lines.
    error,
    warning,
    hint,

    // The harness.
    /// `{version}`, `{directory}`
    installing,
    /// `{version}`, `{seconds}`
    installed,
    /// `{version}`
    install_waiting,
    /// `{path}`, `{version}`, `{source}`
    harness_in_use,
    harness_private,
    /// `{path}`
    harness_unknown_version,
    /// `{version}`, `{newest}`
    harness_newer,
    /// `{version}`, `{tested}`
    harness_untested,
    /// `{what}`
    harness_passed_over,
    /// `{path}`
    setup_done,

    // Progress of a run.
    /// `{session}`, `{model}`
    session_started,
    /// `{tool}`, `{input}`
    called,
    /// `{left}`
    handoff_near,
    /// `{generation}`, `{of}`, `{path}`
    handed_over,
    /// `{why}`
    handed_over_degraded,
    /// `{tool}`, `{reason}`
    denied,
    /// `{worker}`, `{description}`
    worker_started,
    /// `{status}`
    worker_ended,
    /// `{attempt}`, `{of}`, `{status}`
    retrying,
    /// A request of a worker failed: `{text}`.
    worker_failed,
    /// The step waits before another attempt: `{cause}`, `{seconds}`, `{attempt}`.
    waiting,
    /// A probe did not get through: `{endpoint}`.
    unreachable,
    /// A session is opened again: `{session}`, `{edits}`, `{tokens}`.
    taken_up,
    /// Somebody interrupted the turn.
    interrupted,
    /// `{signal}`
    stopped_by_signal,
    /// `{failure}`
    step_failed,
    hint_stopped,
    hint_api,
    hint_context_full,
    hint_budget,
    hint_harness,
    hint_scenario,
    hint_faults,
    hint_moment,
    /// `{session}`
    hint_resume,
    hint_disk_full,
    /// `{why}`
    cannot_write_data,
    hint_not_writable,

    // The rehearsal.
    /// `{path}`, `{url}`
    rehearsing,
    /// `{url}`
    serving,
    /// `{known}`
    unknown_scenario,
    broken_scenario,
    scenario_variables,
    rehearsal_needs_other_workspace,
    /// `{message}`
    rehearsal_refused,
    /// `{pid}`
    rehearsal_killed,
    rehearsal_not_killed,
    /// `{say}`
    rehearsal_not_said,
    /// `{name}`
    no_part_alone,
    /// `{known}`
    hint_part_alone,
    cast_lead_instructions,
    cast_analyst_description,
    cast_analyst_prompt,
    cast_alone_instructions,
    rehearsal_prompt,

    // The receipt.
    receipt_title_ok,
    receipt_title_failed,
    receipt_answer,
    receipt_who,
    receipt_turns,
    receipt_calls,
    receipt_characters,
    receipt_share,
    /// `{count}`
    receipt_more_workers,
    /// `{turns}`, `{characters}`, `{calls}`, `{workers}`, `{main}`
    receipt_shares,
    receipt_steps,
    /// `{result}`, `{turns}`, `{starts}`, `{dollars}`, `{sessions}`
    receipt_step_line,
    receipt_step_done,
    /// `{kind}`
    receipt_step_failed,
    /// Behind the line of a step that waited: `{count}`, `{seconds}`, `{causes}`.
    receipt_step_waits,
    /// A step that has no line in the manifest: `{session}`.
    receipt_step_killed,
    receipt_main,
    receipt_workers,
    receipt_tools,
    receipt_denied,
    receipt_nothing_denied,
    receipt_layers,
    receipt_spills,
    /// `{count}`, `{characters}`, `{tools}`
    receipt_spills_line,
    /// `{count}`
    receipt_spills_refused,
    receipt_resumes,
    /// `{edits}`, `{saved}`, `{cold}`, `{turns}`
    receipt_resume_line,
    receipt_resume_nothing,
    /// `{edits}`
    receipt_resume_left,
    receipt_warmth,
    /// `{step}`, `{kept}`, `{written}`
    receipt_warmth_whole,
    /// `{step}`, `{read}`, `{kept}`, `{written}`
    receipt_warmth_part,
    receipt_scripts,
    /// `{count}`, `{written}`, `{runs}`, `{again}`
    receipt_scripts_line,
    receipt_handoffs,
    /// `{generation}`, `{path}`
    receipt_handoff_line,
    /// Behind it, where the document is not the session's own: `{why}`.
    receipt_handoff_degraded,
    pass_expire,
    pass_trim,
    pass_prune_denials,
    pass_prune_debris,
    pass_heal,
    receipt_context,
    /// `{watermark}`, `{peak}`, `{turns}`
    receipt_context_line,
    /// `{first}`, `{last}`, `{turns}`, `{slope}`
    receipt_growth,
    /// `{left}`, `{window}`
    receipt_growth_left,
    receipt_cost,
    /// `{dollars}`, `{input}`, `{read}`, `{write}`, `{output}`, `{hits}`
    receipt_cost_line,
    receipt_disk,
    receipt_workspace,
    receipt_store,
    /// `{path}`, `{entries}`
    receipt_store_line,
    receipt_manifest,
    receipt_transcripts,
    receipt_artifacts,
    receipt_removed,

    // The doctor.
    doctor_harness,
    doctor_credentials,
    doctor_git,
    doctor_workspace,
    doctor_store,
    doctor_ok,
    doctor_problem,
    doctor_note,
    /// `{path}`, `{version}`, `{source}`
    doctor_harness_line,
    /// `{names}`
    doctor_credentials_present,
    doctor_credentials_absent,
    doctor_credentials_hint,
    /// `{version}`
    doctor_git_line,
    doctor_git_missing,
    doctor_git_hint,
    doctor_git_no_repository,
    /// `{path}`
    doctor_workspace_writable,
    /// `{path}`, `{why}`
    doctor_workspace_unwritable,
    doctor_workspace_hint,
    /// `{path}`
    doctor_store_none,
    /// `{path}`, `{sessions}`
    doctor_store_line,
    /// `{path}`, `{why}`
    doctor_store_broken,
    doctor_store_hint,
    doctor_ready,
    doctor_not_ready,

    // Transcripts.
    verify_sound,
    /// `{count}`
    verify_problems,
    /// `{made}`, `{left}`, `{saved}`, `{cold}`, `{turns}`, `{thinking}`
    rewrite_report,
    /// `{path}`
    rewrite_backup,
    rewrite_no_file,
    rewrite_onto_itself,
    /// `{count}`
    rewrite_one_session,

    // The x-ray.
    /// `{id}`, `{origin}`
    xray_title,
    /// `{count}`
    xray_title_many,
    xray_hint,
    /// `{path}`
    xray_written,
    /// `{path}`, `{why}`
    xray_cannot_write,
    xray_context,
    /// `{watermark}`, `{peak}`, `{turns}`
    xray_context_line,
    xray_no_turns,
    /// `{slope}`, `{since}`
    xray_trend,
    /// `{slope}`, `{since}`, `{window}`, `{turns}`
    xray_trend_full,
    /// `{characters}`, `{all}`, `{share}`
    xray_share_line,
    /// `{count}`
    xray_skipped,
    xray_unread,
    xray_missing_workers,
    xray_composition,
    /// `{tokens}`
    xray_head,
    xray_kind_head,
    xray_kind_system,
    xray_kind_user,
    xray_kind_assistant,
    xray_kind_thinking,
    xray_kind_inputs,
    xray_kind_results,
    xray_total,
    /// `{scale}`, `{pairs}`, `{error}`
    xray_calibrated,
    xray_uncalibrated,
    xray_threads,
    /// `{hits}`
    xray_cache_line,
    /// `{models}`
    xray_unpriced,
    xray_cold,
    /// `{lost}`, `{dollars}`
    xray_cold_line,
    xray_cold_line_at_least,
    xray_no_model,
    xray_without_usage,
    xray_no_page,
    /// `{trigger}`
    xray_cause_compaction,
    /// `{from}`, `{to}`
    xray_cause_model,
    /// `{idle}`, `{lifetime}`
    xray_cause_idle,
    /// `{from}`, `{to}`
    xray_cause_version,
    xray_cause_resume,
    xray_cause_head,
    /// `{read}`
    xray_cause_history,
    xray_cause_unknown,
    xray_largest,
    xray_disk,
    /// `{spilled}`, `{characters}`, `{persisted}`, `{bytes}`, `{back}`
    xray_disk_line,
    xray_scripts,
    /// `{shown}`, `{all}`
    xray_more,
    xray_col_kind,
    xray_col_main_characters,
    xray_col_worker_characters,
    xray_col_tokens,
    xray_col_tool,
    xray_col_thread,
    xray_col_failed,
    xray_col_denied,
    xray_col_interrupted,
    xray_col_day,
    xray_col_model,
    xray_col_turns,
    xray_col_input,
    xray_col_read,
    xray_col_write_5m,
    xray_col_write_1h,
    xray_col_output,
    xray_col_dollars,
    xray_col_peak,
    xray_col_turn,
    xray_col_time,
    xray_col_cause,
    xray_col_lost,
    xray_col_call,
    xray_col_again,
    xray_col_reason,
    xray_col_script,
    xray_col_written,
    xray_col_runs,
    xray_what_if,
    /// `{moments}`
    xray_what_if_line,
    xray_change_nothing,
    xray_change_expire,
    xray_change_trim,
    xray_change_prune,
    xray_change_heal,
    xray_change_spill,
    xray_change_all,
    xray_col_change,
    xray_col_prompts,
    xray_col_saved,
    xray_chart_context,
    /// `{shown}`, `{all}`
    xray_chart_threads,
    /// `{window}`
    xray_chart_window,
    xray_chart_composition,
    xray_chart_cost,
    xray_chart_bars,
    xray_chart_cache,
    xray_chart_read,
    xray_chart_unread,
    /// `{turn}`, `{cause}`, `{lost}`, `{dollars}`
    xray_chart_cold,

    // Sessions.
    /// `{path}`
    sessions_none,
    /// `{path}`
    sessions_no_store,
    sessions_hint_import,
    sessions_options_behind,
    /// `{count}`
    sessions_left_out,
    /// `{count}`
    sessions_bad_records,
    /// `{count}`
    sessions_entries,
    /// `{count}`
    sessions_workers,
    /// `{count}`
    sessions_turns,
    sessions_no_prompt,
    /// `{when}`
    sessions_began,
    sessions_spills,
    sessions_spill_there,
    sessions_spill_gone,
    sessions_spill_not_taken,
    sessions_steps,
    /// `{kind}`
    sessions_step_failed,
    /// `{id}`, `{entries}`, `{files}`, `{path}`
    sessions_exported,
    /// `{id}`, `{stored}`, `{known}`, `{threads}`
    sessions_imported,
    /// `{sessions}`, `{stored}`, `{known}`
    sessions_import_sum,
    /// `{count}`, `{path}`
    sessions_unreadable,
    /// `{id}`, `{pid}`
    sessions_left_to_run,
    sessions_nothing_to_import,
    /// `{path}`, `{reason}`
    sessions_set_aside,
    /// `{reason}`
    sessions_rollback_journal,
    /// `{kind}`
    sessions_network,
    /// `{count}`
    sessions_replayed,
    /// `{reason}`
    sessions_not_replayed,
    /// `{count}`
    sessions_ask,
    sessions_needs_yes,
    sessions_hint_yes,
    sessions_none_deleted,
    /// `{count}`
    sessions_deleted,
    /// `{count}`, `{size}`, `{named}`
    sessions_spills_removed,
    /// `{pid}`
    sessions_spills_run,
    /// `{why}`
    sessions_spills_unknown,
    /// `{count}`
    sessions_leftovers,
    /// `{name}`, `{path}`
    sessions_no_session,
    /// `{name}`, `{least}`
    sessions_too_short,
    /// `{name}`, `{candidates}`
    sessions_ambiguous,
    /// `{session}`, `{pid}`
    sessions_in_use,
    /// `{path}`
    sessions_exists,
    /// `{session}`
    sessions_not_on_disk,
    /// `{path}`
    sessions_worker,
    /// `{path}`
    sessions_no_transcript,
    /// `{path}`
    sessions_read_only,
    sessions_hint_list,
    sessions_hint_longer,
    sessions_hint_in_use,
    sessions_hint_force,
    sessions_hint_whole,
    sessions_hint_name,
    sessions_hint_busy,
    sessions_hint_damaged,
    sessions_hint_newer,
    sessions_hint_older,
    sessions_hint_read_only,
    sessions_hint_foreign,

    // Bad use.
    /// `{why}`
    no_input,
    empty_prompt,
    /// `{why}`
    no_stdin,
    fork_without_resume,
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
        for ((name, en), (_, zh)) in en::TEXTS.all().into_iter().zip(zh::TEXTS.all()) {
            assert_eq!(placeholders(en), placeholders(zh), "{name}");
        }
    }

    #[test]
    fn no_text_is_empty_and_chinese_is_chinese() {
        for ((name, en), (_, zh)) in en::TEXTS.all().into_iter().zip(zh::TEXTS.all()) {
            assert!(!en.trim().is_empty(), "{name}");
            let is_chinese = zh.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c));
            assert!(is_chinese || matches!(name, "doctor_git"), "{name}: {zh}");
        }
    }
}
