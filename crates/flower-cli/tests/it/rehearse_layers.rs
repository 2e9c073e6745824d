//! `flower rehearse NAME`: what each layer does, in both versions and both languages, and the receipt that says so.

use std::process::Command;

use flower_claude::harness::Version;
use serde_json::Value;

use crate::binary::{Place, Said, events, harness, versions};

/// Each version with a language of its own: the two have nothing to do with each other, and a play takes a while.
fn plays() -> impl Iterator<Item = (Version, &'static str)> {
    versions().zip(["zh-CN", "en"])
}

fn rehearsal(place: &Place, version: Version, lang: &str) -> Command {
    let mut command = place.flower();
    command.args(["--lang", lang, "rehearse", "--workspace"]);
    command.arg(place.workspace()).arg("--claude").arg(harness(version));
    command
}

/// What was told of a play, the receipt last.
struct Play {
    lines: Vec<Value>,
    /// For messages of tests.
    what: String,
}

impl Play {
    fn of(place: &Place, version: Version, lang: &str, arguments: &[&str]) -> Self {
        let said = Said::by(rehearsal(place, version, lang).arg("--json").args(arguments));
        said.assert_code(0);
        let play = Self { lines: said.json(), what: format!("{version} {lang}") };
        assert_eq!(play.events("warning"), [&Value::Null; 0], "{}", play.what);
        play
    }

    fn events(&self, name: &str) -> Vec<&Value> {
        events(&self.lines, name)
    }

    fn receipt(&self) -> &Value {
        self.lines.last().unwrap()
    }

    /// The last thing that the main thread said in each step.
    fn answers(&self) -> Vec<&str> {
        let steps = self.lines.split(|line| line["event"] == "step_ended");
        let said = steps.filter_map(|lines| {
            let of_main = |line: &&Value| line["event"] == "said" && line["worker"].is_null();
            lines.iter().rfind(of_main).and_then(|line| line["text"].as_str())
        });
        said.collect()
    }
}

fn count(list: &Value) -> usize {
    list.as_array().map_or(0, Vec::len)
}

/// Files in `data/` with this ending.
fn texts_in_data(place: &Place) -> usize {
    let entries = std::fs::read_dir(place.workspace().join("data")).unwrap();
    entries.filter(|entry| entry.as_ref().unwrap().path().extension().is_some_and(|end| end == "txt")).count()
}

#[test]
fn a_resume_reads_less_and_the_next_one_finds_it_in_the_cache() {
    for (version, lang) in plays() {
        let place = Place::new();
        let play = Play::of(&place, version, lang, &["resume"]);
        let what = &play.what;
        let receipt = play.receipt();
        let [first, second] = receipt["resumes"].as_array().unwrap().as_slice() else {
            panic!("{what}: {}", receipt["resumes"])
        };
        assert_eq!(
            (&first["made"]["expire"], &first["made"]["prune_denials"]),
            (&6.into(), &1.into()),
            "{what}"
        );
        assert!(first["tokens_saved"].as_i64().unwrap() > 3_000, "{what}: {first}");
        assert!(first["turns_to_break_even"].as_u64().unwrap() < 30, "{what}: {first}");
        assert_eq!(count(&second["made"]), 0, "{what}: {second}");
        let answers = play.answers();
        assert_eq!(answers.len(), 3, "{what}: {answers:?}");
        assert!(answers[1].contains(&texts_in_data(&place).to_string()), "{what}: {answers:?}");
        // The second resume writes what is new, and reads what the first has written.
        let steps = receipt["steps"].as_array().unwrap();
        assert_eq!(steps[1]["sessions"], steps[2]["sessions"], "{what}");
        let tokens = |step: &Value, name: &str| {
            step["model_usage"]
                .as_object()
                .unwrap()
                .values()
                .map(|usage| usage[name].as_u64().unwrap())
                .sum::<u64>()
        };
        assert!(tokens(&steps[2], "cacheCreationInputTokens") < 800, "{what}: {}", steps[2]["model_usage"]);
    }
}

#[test]
fn without_its_layers_a_resume_reads_everything() {
    let version = versions().last().unwrap();
    let place = Place::new();
    let play = Play::of(&place, version, "en", &["resume", "--without", "expire,denials"]);
    for report in play.receipt()["resumes"].as_array().unwrap() {
        assert_eq!((count(&report["made"]), &report["tokens_saved"]), (0, &0.into()), "{report}");
    }
}

#[test]
fn long_results_of_every_tool_are_on_disk_and_one_is_read_back() {
    for (version, lang) in plays() {
        let place = Place::new();
        let play = Play::of(&place, version, lang, &["spill"]);
        let what = &play.what;
        let spills = play.receipt()["spills"].as_array().unwrap();
        let mut tools: Vec<&str> = spills.iter().map(|spill| spill["tool"].as_str().unwrap()).collect();
        tools.sort_unstable();
        assert_eq!(tools, ["Bash", "Bash", "Glob", "Grep", "Read"], "{what}");
        assert!(spills.iter().all(|spill| spill["taken"] == true), "{what}: {spills:?}");
        let answer = play.answers()[0];
        for quoted in ["108894", "number 500 of 500 ....", "6392", "1500"] {
            assert!(answer.contains(quoted), "{what}: {quoted} is not in: {answer}");
        }
    }
}

#[test]
fn the_built_in_scenarios_are_listed_with_a_sentence_each() {
    let place = Place::new();
    for (lang, sentence) in [("en", "two workers"), ("zh-CN", "两个执行者")] {
        let said = Said::by(place.flower().args(["--lang", lang, "rehearse", "--list"]));
        said.assert_code(0);
        let line = said.stdout.lines().find(|line| line.starts_with("coordinator ")).expect("it is listed");
        assert!(line.contains(sentence), "{line}");
        let listed = said.stdout.lines().count();
        assert_eq!(listed, flower_rehearsal::BUILT_IN.len(), "{}", said.stdout);
        assert!(
            said.stdout
                .lines()
                .all(|line| line.split_once("  ").is_some_and(|(_, about)| !about.trim().is_empty()))
        );
    }
}

#[test]
fn a_scenario_that_has_no_answer_is_to_blame_and_not_the_network() {
    let version = versions().last().unwrap();
    let place = Place::new();
    let file = place.root().join("short.toml");
    for (scenario, expected) in [
        ("[[thread]]\nname = \"nobody\"\nmatch = { prompt = \"Nobody asks this.\" }\n", "no thread matches"),
        ("[[thread]]\nname = \"main\"\n[[thread.step]]\ntext = \"{{result:1}}\"\n", "answer 1"),
    ] {
        std::fs::write(&file, scenario).unwrap();
        let said = Said::by(rehearsal(&place, version, "en").arg(&file));
        said.assert_code(1);
        assert!(said.stderr.contains(expected), "{}", said.stderr);
        assert!(said.stderr.contains("hint: The scenario is to blame"), "{}", said.stderr);
        assert!(!said.stderr.contains("Check the network"), "{}", said.stderr);
    }
    std::fs::write(&file, "[run]\nspil = 5\n[fallback]\ntext = \"{{var:nowhere}}\"\n").unwrap();
    let said = Said::by(rehearsal(&place, version, "en").arg(&file));
    said.assert_code(3);
    assert!(said.stderr.contains("short.toml:2: unknown field `spil`"), "{}", said.stderr);
    assert!(said.stderr.contains("docs/rehearsals.md"), "{}", said.stderr);
    std::fs::write(&file, "[fallback]\ntext = \"{{var:nowhere}}\"\n").unwrap();
    let said = Said::by(rehearsal(&place, version, "en").arg(&file));
    said.assert_code(3);
    assert!(said.stderr.contains("nowhere") && said.stderr.contains("{{var:workspace}}"), "{}", said.stderr);
}
