//! The name of one thread of one session.

use std::fmt;

use crate::StoreError;

/// Which thread entries belong to: a session of a project, and in it the main thread or one subpath.
///
/// Every part can stand as a relative path: none is empty, absolute or climbs out of its directory. So a key that
/// came from a harness can be written to disk again without looking at it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionKey {
    project_key: String,
    session_id: String,
    subpath: Option<String>,
}

impl SessionKey {
    /// The main thread of a session.
    ///
    /// # Errors
    /// [`StoreError::InvalidKey`] when a part is not a single file name.
    pub fn main(project_key: impl Into<String>, session_id: impl Into<String>) -> Result<Self, StoreError> {
        let (project_key, session_id) = (project_key.into(), session_id.into());
        if !is_file_name(&project_key) {
            return Err(StoreError::InvalidKey { part: "project key", value: project_key });
        }
        if !is_file_name(&session_id) {
            return Err(StoreError::InvalidKey { part: "session id", value: session_id });
        }
        Ok(Self { project_key, session_id, subpath: None })
    }

    /// Another thread of the same session, such as `subagents/agent-ab12`: parts joined with `/` on every platform,
    /// without an extension.
    ///
    /// # Errors
    /// [`StoreError::InvalidKey`] when it is not a relative path that stays in its directory.
    pub fn with_subpath(&self, subpath: impl Into<String>) -> Result<Self, StoreError> {
        let subpath = subpath.into();
        if !subpath.split('/').all(is_file_name) {
            return Err(StoreError::InvalidKey { part: "subpath", value: subpath });
        }
        Ok(Self { subpath: Some(subpath), ..self.clone() })
    }

    /// The main thread of the same session.
    pub fn main_thread(&self) -> Self {
        Self { subpath: None, ..self.clone() }
    }

    /// The name of the project's directory, see [`project_key`](crate::project_key).
    pub fn project_key(&self) -> &str {
        &self.project_key
    }

    /// The harness's id of the session.
    pub fn session_id(&self) -> &str {
        &self.session_id
    }

    /// `None` for the main thread.
    pub fn subpath(&self) -> Option<&str> {
        self.subpath.as_deref()
    }

    /// The id of the subagent whose thread this is: `ab12` for `subagents/agent-ab12`.
    pub fn agent_id(&self) -> Option<&str> {
        self.subpath()?.rsplit('/').next()?.strip_prefix("agent-")
    }
}

impl fmt::Display for SessionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.project_key, self.session_id)?;
        self.subpath.iter().try_for_each(|subpath| write!(f, "/{subpath}"))
    }
}

fn is_file_name(name: &str) -> bool {
    !matches!(name, "" | "." | "..") && !name.contains(['/', '\\', '\0'])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn valid(project_key: &str, session_id: &str, subpath: Option<&str>) -> bool {
        let Ok(main) = SessionKey::main(project_key, session_id) else { return false };
        subpath.is_none_or(|subpath| main.with_subpath(subpath).is_ok())
    }

    #[test]
    fn parts_are_names_that_stay_in_their_directory() {
        assert!(valid("-repo", "0000", None));
        assert!(valid("-repo", "0000", Some("subagents/agent-1")));
        assert!(valid("-repo", "0000", Some("subagents/workflows/wf/agent-1")));
        assert!(!valid("", "0000", None));
        assert!(!valid("..", "0000", None));
        assert!(!valid("-repo", "a/b", None));
        assert!(!valid("-repo", "a\\b", None));
        assert!(!valid("-repo", "a\0b", None));
        assert!(!valid("-repo", "0000", Some("")));
        assert!(!valid("-repo", "0000", Some("/etc/passwd")));
        assert!(!valid("-repo", "0000", Some("subagents/../../x")));
        assert!(!valid("-repo", "0000", Some("subagents//x")));
    }

    #[test]
    fn an_agent_is_known_by_the_last_part_of_its_subpath() {
        let main = SessionKey::main("-repo", "0000").unwrap();
        let agent = |subpath: &str| main.with_subpath(subpath).unwrap().agent_id().map(str::to_owned);
        assert_eq!(main.agent_id(), None);
        assert_eq!(agent("subagents/agent-ab12").as_deref(), Some("ab12"));
        assert_eq!(agent("agent-x/other"), None);
        assert_eq!(main.with_subpath("a/b").unwrap().to_string(), "-repo/0000/a/b");
    }
}
