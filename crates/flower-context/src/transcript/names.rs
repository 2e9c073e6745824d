//! Finds entries by a name that they have: their uuid, or the id of their message.
//!
//! A list that is sorted by hash instead of a map: hashes are made where the line is read anyway, and hardly
//! any name is ever asked for, since what belongs together mostly stands together.

use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

use super::entry::Entry;

/// A name that an entry can have.
#[derive(Debug, Clone, Copy)]
pub(super) enum Name {
    /// Its uuid.
    Uuid,
    /// The id of its message.
    Message,
}

impl Name {
    fn of<'e>(self, entry: &'e Entry<'_>) -> Option<&'e str> {
        match self {
            Self::Uuid => entry.uuid(),
            Self::Message => entry.message_id(),
        }
    }
}

/// Which entries have a name.
#[derive(Debug)]
pub(super) struct Names {
    name: Name,
    /// Hash of the name and index of the entry, sorted.
    sorted: Vec<(u64, usize)>,
}

/// The hash of a name.
pub(super) fn hash(name: &str) -> u64 {
    BuildHasherDefault::<DefaultHasher>::default().hash_one(name)
}

impl Names {
    /// Takes hashes of names with the indices of their entries, in any order.
    pub(super) fn of(name: Name, mut hashes: Vec<(u64, usize)>) -> Self {
        hashes.sort_unstable();
        Self { name, sorted: hashes }
    }

    /// Index of the last entry that has a name.
    pub(super) fn find(&self, name: &str, entries: &[Entry<'_>]) -> Option<usize> {
        let hash = hash(name);
        let behind = self.sorted.partition_point(|(other, _)| *other <= hash);
        let same = self.sorted.get(..behind)?.iter().rev().take_while(|(other, _)| *other == hash);
        let mut indices = same.map(|(_, index)| *index);
        indices.find(|index| entries.get(*index).and_then(|entry| self.name.of(entry)) == Some(name))
    }

    /// Entries whose name an earlier one has too, each with the last of those, in no particular order.
    pub(super) fn used_again(&self, entries: &[Entry<'_>]) -> Vec<(usize, usize)> {
        let mut again = Vec::new();
        let same_hash = self.sorted.chunk_by(|(one, _), (other, _)| one == other);
        for same in same_hash.filter(|same| same.len() > 1) {
            let name = |at: usize| same.get(at).and_then(|(_, index)| self.name.of(entries.get(*index)?));
            let index = |at: usize| same.get(at).map(|(_, index)| *index);
            for later in 1..same.len() {
                let earlier = (0..later).rev().find(|earlier| name(*earlier) == name(later));
                again.extend(index(later).zip(earlier.and_then(index)));
            }
        }
        again
    }
}

#[cfg(test)]
mod tests {
    use super::super::piece::Piece;
    use super::super::stretch::Stretch;
    use super::*;

    #[test]
    fn the_last_entry_with_a_name_is_found() {
        let lines = ["a", "b", "a", "c", "a"].map(|uuid| format!("{{\"uuid\":\"{uuid}\"}}\n"));
        let bytes = lines.concat();
        let Stretch { entries, uuids, .. } = Stretch::read([Piece::New(bytes.as_bytes())]);
        let names = Names::of(Name::Uuid, uuids);
        for (name, index) in [("a", Some(4)), ("b", Some(1)), ("c", Some(3)), ("d", None), ("", None)] {
            assert_eq!(names.find(name, &entries), index, "{name}");
        }
        let mut again = names.used_again(&entries);
        again.sort_unstable();
        assert_eq!(again, [(2, 0), (4, 2)]);
    }
}
