//! Which stored session a name means.

use std::collections::BTreeSet;

use flower_store::{SessionKey, SessionStore, SessionSummary, StoreError};

use super::{Home, SessionsError};

/// So many characters of an id will do, when no other id begins with them.
pub const SHORTEST_BEGINNING: usize = 8;

/// Every session of the store that has a main thread, project by project.
pub(super) fn all(store: &dyn SessionStore) -> Result<Vec<SessionSummary>, StoreError> {
    let mut sessions = Vec::new();
    for project in store.list_projects()? {
        sessions.extend(store.list_sessions(&project)?);
    }
    Ok(sessions)
}

/// The session that `name` means: its id or, unless others begin so too, the beginning of its id.
///
/// Under one id the session of the directory itself comes first: the same file can have been imported from elsewhere.
pub(super) fn choose(store: &dyn SessionStore, home: &Home, name: &str) -> Result<SessionKey, SessionsError> {
    let here = home.paths()?;
    let mut keys: Vec<SessionKey> = all(store)?.into_iter().map(|session| session.key).collect();
    keys.sort_by_key(|key| key.project_key() != here.project_key());
    if let Some(exact) = keys.iter().find(|key| key.session_id() == name) {
        return Ok(exact.clone());
    }
    if name.chars().count() < SHORTEST_BEGINNING {
        return Err(SessionsError::TooShort { name: name.to_owned() });
    }
    keys.retain(|key| key.session_id().starts_with(name));
    let ids: BTreeSet<&str> = keys.iter().map(SessionKey::session_id).collect();
    match (ids.len(), keys.first()) {
        (1, Some(only)) => Ok(only.clone()),
        (_, None) => {
            Err(SessionsError::NoSession { name: name.to_owned(), path: home.sessions_db().to_owned() })
        }
        _ => Err(SessionsError::Ambiguous {
            name: name.to_owned(),
            candidates: ids.into_iter().map(str::to_owned).collect(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use flower_store::MemoryStore;

    use super::*;

    fn store(home: &Home, ids: &[(&str, bool)]) -> MemoryStore {
        let mut store = MemoryStore::default();
        let here = home.paths().unwrap().project_key().to_owned();
        for (id, is_here) in ids {
            let project = if *is_here { &here } else { "-elsewhere" };
            store.append(&SessionKey::main(project, *id).unwrap(), &["{}"]).unwrap();
        }
        store
    }

    #[test]
    fn an_id_or_its_beginning_names_a_session() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::of(dir.path(), None);
        let store =
            store(&home, &[("11111111-a", true), ("11111111-b", false), ("22222222-a", true), ("s", true)]);
        let check = |name: &str, expected: &str| {
            let chosen = match choose(&store, &home, name) {
                Ok(key) => key.session_id().to_owned(),
                Err(SessionsError::Ambiguous { candidates, .. }) => candidates.join(" or "),
                Err(SessionsError::TooShort { .. }) => "too short".to_owned(),
                Err(SessionsError::NoSession { .. }) => "none".to_owned(),
                Err(other) => other.to_string(),
            };
            assert_eq!(chosen, expected, "{name}");
        };
        check("11111111-b", "11111111-b");
        check("22222222", "22222222-a");
        check("s", "s");
        check("11111111", "11111111-a or 11111111-b");
        check("2222222", "too short");
        check("", "too short");
        check("33333333", "none");
        check("%1111111", "none");
    }

    #[test]
    fn the_session_of_the_directory_comes_first() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::of(dir.path(), None);
        let store = store(&home, &[("11111111-a", false), ("11111111-a", true)]);
        for name in ["11111111-a", "11111111"] {
            assert_ne!(choose(&store, &home, name).unwrap().project_key(), "-elsewhere");
        }
    }
}
