//! What the runtime is told in a rehearsal: the scenario's settings, and a harness that sees nothing of the user's.

use std::path::Path;
use std::time::Duration;

use flower::handoff::Handoff;
use flower::resilience::Resilience;
use flower::runtime::RuntimeBuilder;
use flower::view::TrimPolicy;
use flower_rehearsal::Scenario;
use flower_rehearsal::scenario::run::{Run, Setting};

/// The harness's configuration directory in its state of a rehearsal.
pub(super) const CONFIG_DIR: &str = "claude";

/// Waits between attempts, instead of seconds and minutes.
const FIRST_WAIT: Duration = Duration::from_millis(100);
const LONGEST_WAIT: Duration = Duration::from_secs(1);

/// A layer that a rehearsal can be played without, to see what it is good for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Layer {
    // Division of labour, and with it the workbench: one agent does all the work.
    Labour,
    Spill,
    Expire,
    Denials,
    Trim,
    Handoff,
    All,
}

impl Layer {
    /// One agent does all the work.
    pub(super) fn is_labour(self) -> bool {
        matches!(self, Self::Labour | Self::All)
    }
}

/// The scenario with some layers off; `None` where it has no part for one agent that does all the work.
pub(super) fn without(scenario: Scenario, layers: &[Layer]) -> Option<Scenario> {
    let alone = layers.iter().any(|layer| layer.is_labour());
    let mut scenario = if alone { scenario.alone()? } else { scenario };
    let run = &mut scenario.run;
    for layer in layers {
        match layer {
            Layer::Labour => {}
            Layer::Spill => run.spill = Setting::Off,
            Layer::Expire => run.expire = Setting::Off,
            Layer::Denials => run.denials = Setting::Off,
            Layer::Trim => run.trim = Setting::Off,
            Layer::Handoff => run.handoff = Setting::Off,
            Layer::All => {
                for setting in
                    [&mut run.spill, &mut run.expire, &mut run.denials, &mut run.trim, &mut run.handoff]
                {
                    *setting = Setting::Off;
                }
            }
        }
    }
    Some(scenario)
}

/// The builder with the scenario's settings.
pub(super) fn told(mut builder: RuntimeBuilder, scenario: &Scenario) -> RuntimeBuilder {
    let Run { spill, expire, denials, trim, handoff, retries, .. } = scenario.run;
    if spill != Setting::Usual {
        builder = builder.spill_threshold(spill.number());
    }
    if expire != Setting::Usual {
        builder = builder.ephemeral(expire.number());
    }
    if denials != Setting::Usual {
        builder = builder.keep_denials(denials.number());
    }
    builder = builder.trim(trim.number().map(|keep| TrimPolicy { keep, ..TrimPolicy::default() }));
    if retries != Setting::Usual {
        let retries = retries.number().unwrap_or(0);
        builder = builder.env("CLAUDE_CODE_MAX_RETRIES", retries.to_string());
    }
    // The harness takes the scripted model for a real one, so the runtime is told how small its window is.
    let usual = Handoff { window: scenario.window, ..Handoff::default() };
    let handoff = match handoff {
        Setting::Usual => usual,
        Setting::Off => Handoff::off(),
        Setting::At(reserve) => Handoff { reserve: reserve as u64, ..usual },
    };
    // What a rehearsal waits for is a fault of the script: it does not pass any sooner for waiting long.
    let resilience = Resilience::default().first_wait(FIRST_WAIT).longest_wait(LONGEST_WAIT);
    builder.handoff(handoff).resilience(resilience)
}

/// A harness that sees nothing of the user's: its own home and configuration, a made-up key, no traffic but to us.
pub(super) fn isolated(builder: RuntimeBuilder, url: &str, state: &Path) -> RuntimeBuilder {
    const LEFT_OUT: [&str; 10] = [
        "ANTHROPIC_AUTH_TOKEN",
        "ANTHROPIC_MODEL",
        "ANTHROPIC_SMALL_FAST_MODEL",
        "ANTHROPIC_CUSTOM_HEADERS",
        "CLAUDE_CODE_OAUTH_TOKEN",
        "CLAUDE_CODE_USE_BEDROCK",
        "CLAUDE_CODE_USE_VERTEX",
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "ALL_PROXY",
    ];
    let mut builder = builder
        .config_dir(state.join(CONFIG_DIR))
        .env("HOME", state.join("home"))
        .env("ANTHROPIC_BASE_URL", url)
        .env("ANTHROPIC_API_KEY", "sk-rehearsal")
        .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
        .env("DISABLE_TELEMETRY", "1")
        .env("DISABLE_ERROR_REPORTING", "1")
        .env("DISABLE_AUTOUPDATER", "1")
        .env("IS_SANDBOX", "1")
        .env("NO_PROXY", "127.0.0.1,localhost");
    for name in LEFT_OUT {
        builder = builder.without_env(name).without_env(name.to_lowercase());
    }
    builder
}
