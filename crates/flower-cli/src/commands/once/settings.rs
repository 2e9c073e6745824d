//! Settings of a run on the command line: what may be spent, and what the layers do.

use std::path::PathBuf;
use std::time::Duration;

use flower::handoff::Handoff;
use flower::runtime::RuntimeBuilder;
use flower::view::TrimPolicy;

/// Settings of a run; what is not given is as the library has it by itself.
#[derive(Debug, clap::Args)]
pub(crate) struct Settings {
    /// End the step when it has cost so many US dollars.
    #[arg(long, visible_alias = "budget-usd", value_name = "USD", value_parser = dollars)]
    budget: Option<f64>,

    /// End the step when the main thread has had so many turns.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    budget_turns: Option<u64>,

    /// End the step after so long, such as 90s, 30m or 2h.
    #[arg(long, value_name = "TIME", value_parser = time)]
    budget_time: Option<Duration>,

    /// The context window in tokens [default: what the harness says].
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u64).range(1..))]
    window: Option<u64>,

    /// Tokens of the window that are left free: with fewer a session hands over to another [default: 50000].
    #[arg(long, value_name = "TOKENS", conflicts_with = "no_handoff")]
    reserve: Option<u64>,

    /// Leave a full context to the harness's own compaction.
    #[arg(long)]
    no_handoff: bool,

    /// Move results of so many characters and more to disk when they arrive; 0: none [default: 4000].
    #[arg(long, value_name = "N")]
    spill: Option<usize>,

    /// On a resume: move all but so many of the newest big results to disk [default: none; without a number 20].
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "20")]
    trim: Option<usize>,

    /// With --trim: results of so many characters are big [default: 2000].
    #[arg(long, value_name = "N", requires = "trim")]
    min_chars: Option<usize>,

    /// On a resume: keep the results of so many of the newest glances [default: 6].
    #[arg(long, value_name = "N")]
    keep_glances: Option<usize>,

    /// Where the workbench is [default: .flower in the workspace].
    #[arg(long, value_name = "DIR")]
    home: Option<PathBuf>,
}

impl Settings {
    /// The builder with these settings.
    pub(super) fn told(&self, mut builder: RuntimeBuilder) -> RuntimeBuilder {
        if let Some(dollars) = self.budget {
            builder = builder.budget_usd(dollars);
        }
        if let Some(turns) = self.budget_turns {
            builder = builder.budget_turns(turns);
        }
        if let Some(time) = self.budget_time {
            builder = builder.budget_time(time);
        }
        if let Some(characters) = self.spill {
            builder = builder.spill_threshold(characters);
        }
        if let Some(keep) = self.keep_glances {
            builder = builder.ephemeral(keep);
        }
        if let Some(home) = &self.home {
            builder = builder.workbench(home);
        }
        builder.trim(self.trimming()).handoff(self.handoff())
    }

    fn trimming(&self) -> Option<TrimPolicy> {
        let usual = TrimPolicy::default();
        let min_chars = self.min_chars.unwrap_or(usual.min_chars);
        self.trim.map(|keep| TrimPolicy { keep, min_chars, ..usual })
    }

    fn handoff(&self) -> Handoff {
        if self.no_handoff {
            return Handoff::off();
        }
        let usual = Handoff::default();
        Handoff { window: self.window, reserve: self.reserve.unwrap_or(usual.reserve), ..usual }
    }
}

fn dollars(text: &str) -> Result<f64, String> {
    match text.trim_start_matches('$').parse::<f64>() {
        Ok(dollars) if dollars.is_finite() && dollars > 0.0 => Ok(dollars),
        _ => Err("a sum above 0, such as 2.50".to_owned()),
    }
}

fn time(text: &str) -> Result<Duration, String> {
    let (number, seconds) = match text.char_indices().next_back() {
        Some((at, 's')) => (text.get(..at), 1),
        Some((at, 'm')) => (text.get(..at), 60),
        Some((at, 'h')) => (text.get(..at), 3600),
        _ => (Some(text), 1),
    };
    let number = number.and_then(|number| number.parse::<u32>().ok()).filter(|number| *number > 0);
    let number = number.ok_or_else(|| "a time above 0, such as 90s, 30m or 2h".to_owned())?;
    Ok(Duration::from_secs(u64::from(number) * seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_a_sum_above_zero() {
        assert_eq!(dollars("2.5"), Ok(2.5));
        assert_eq!(dollars("$3"), Ok(3.0));
        for text in ["0", "-1", "nan", "inf", "x", ""] {
            assert!(dollars(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_time_has_a_unit_or_is_in_seconds() {
        for (text, seconds) in [("90", 90), ("90s", 90), ("30m", 1800), ("2h", 7200)] {
            assert_eq!(time(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        for text in ["", "0", "s", "-1m", "1.5h", "2d", "1 h", "99999999999h"] {
            assert!(time(text).is_err(), "{text}");
        }
    }

    #[derive(clap::Parser)]
    struct Line {
        #[command(flatten)]
        settings: Settings,
    }

    fn settings(line: &str) -> Settings {
        let words = ["flower"].into_iter().chain(line.split_whitespace());
        <Line as clap::Parser>::try_parse_from(words).unwrap().settings
    }

    #[test]
    fn what_is_not_said_is_as_usual() {
        let usual = settings("");
        assert_eq!((usual.trimming(), usual.handoff()), (None, Handoff::default()));
        assert_eq!(settings("--trim").trimming(), Some(TrimPolicy::default()));
        let trim = TrimPolicy { keep: 3, min_chars: 500, ..TrimPolicy::default() };
        assert_eq!(settings("--trim=3 --min-chars 500").trimming(), Some(trim));
        let handoff = Handoff { window: Some(64_000), reserve: 9_000, ..Handoff::default() };
        assert_eq!(settings("--window 64000 --reserve 9000").handoff(), handoff);
        assert!(!settings("--no-handoff").handoff().on);
        assert_eq!(settings("--budget-usd 2").budget, Some(2.0));
    }
}
