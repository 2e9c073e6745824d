//! Variables that the harness's settings files put over its environment: a gateway or a proxy often stands only there.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

/// What the `env` of settings files says; it goes before the environment that the process was started with.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SettingsEnv(BTreeMap<String, String>);

impl SettingsEnv {
    /// Of the texts of settings files, the strongest one last. A text that the harness could not read either says
    /// nothing.
    pub fn of<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        #[derive(Deserialize)]
        struct Settings {
            #[serde(default)]
            env: BTreeMap<String, Value>,
        }
        let mut variables = BTreeMap::new();
        for text in texts {
            let Ok(settings) = serde_json::from_str::<Settings>(text.trim_start_matches('\u{feff}')) else {
                continue;
            };
            for (name, value) in settings.env {
                match value {
                    Value::String(text) => variables.insert(name, text),
                    Value::Number(_) | Value::Bool(_) => variables.insert(name, value.to_string()),
                    _ => None,
                };
            }
        }
        Self(variables)
    }

    /// Of the files that a harness loads in `workspace`, as far as they can be read. Reads files.
    pub fn read(config_dir: &Path, workspace: &Path) -> Self {
        let texts: Vec<String> = files(config_dir, workspace)
            .iter()
            .filter_map(|file| std::fs::read_to_string(file).ok())
            .collect();
        Self::of(texts.iter().map(String::as_str))
    }

    /// The variable, if a settings file sets it. Empty is set, and hides what the environment says.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }
}

/// The user's settings, the project's, and the project's for this machine, in this order in both versions.
fn files(config_dir: &Path, workspace: &Path) -> [PathBuf; 3] {
    [
        config_dir.join("settings.json"),
        workspace.join(".claude/settings.json"),
        workspace.join(".claude/settings.local.json"),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stronger_file_wins() {
        let env = SettingsEnv::of([
            r#"{"env":{"A":"user","B":"user","C":"user"}}"#,
            r#"{"model":"x"}"#,
            "\u{feff}{\"env\":{\"A\":\"project\",\"B\":\"\"}}",
            "{ no settings",
            r#"{"env":["A"]}"#,
            r#"{"env":{"N":9,"T":true,"C":null}}"#,
        ]);
        let found = ["A", "B", "C", "N", "T", "Z"].map(|name| env.get(name));
        assert_eq!(found, [Some("project"), Some(""), Some("user"), Some("9"), Some("true"), None]);
    }

    #[test]
    fn files_are_read_where_the_harness_looks() {
        let place = tempfile::tempdir().unwrap();
        let (config, work) = (place.path().join("config"), place.path().join("work"));
        assert_eq!(SettingsEnv::read(&config, &work), SettingsEnv::default(), "none is there");
        std::fs::create_dir_all(work.join(".claude")).unwrap();
        std::fs::create_dir_all(&config).unwrap();
        for (file, value) in files(&config, &work).iter().zip(["user", "project", "local"]) {
            std::fs::write(file, format!(r#"{{"env":{{"{value}":"1","A":"{value}"}}}}"#)).unwrap();
            let env = SettingsEnv::read(&config, &work);
            assert_eq!((env.get("A"), env.get("user")), (Some(value), Some("1")));
        }
    }
}
