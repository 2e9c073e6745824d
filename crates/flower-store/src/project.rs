//! How the harness names the directory of a project: the rule from a path to one directory name.
//!
//! The rule loses information (`/a.b` and `/a-b` share a name), so a name is never turned back into a path.

/// Names longer than this are cut here and get a hash.
const LONGEST: usize = 200;

/// The directory name below `<config>/projects/` for a working directory whose symlinks are resolved.
///
/// Each UTF-16 unit outside `[A-Za-z0-9]` becomes `-`, so an emoji gives two. A name over 200 units is cut there and
/// followed by `-` and a base-36 hash of the whole path. The text is taken as it is: the harness does not normalise
/// Unicode on Linux, and neither does this.
///
/// ```
/// assert_eq!(flower_store::project_key("/home/dev/my.project"), "-home-dev-my-project");
/// assert_eq!(flower_store::project_key("/data_🎉"), "-data---");
/// ```
pub fn project_key(path: &str) -> String {
    let mut name: String = path.encode_utf16().map(letter_or_dash).collect();
    if name.len() > LONGEST {
        name.truncate(LONGEST);
        name.push('-');
        name.push_str(&base36(hash(path).unsigned_abs()));
    }
    name
}

/// Always one ASCII character, so that lengths in units, characters and bytes agree.
fn letter_or_dash(unit: u16) -> char {
    match u8::try_from(unit).map(char::from) {
        Ok(letter) if letter.is_ascii_alphanumeric() => letter,
        _ => '-',
    }
}

/// `h = h * 31 + unit` in 32 bits, over the path and not over the name.
fn hash(path: &str) -> i32 {
    path.encode_utf16().fold(0_i32, |hash, unit| hash.wrapping_mul(31).wrapping_add(i32::from(unit)))
}

fn base36(mut number: u32) -> String {
    let mut digits = Vec::new();
    loop {
        digits.extend(char::from_digit(number % 36, 36));
        number /= 36;
        if number == 0 {
            return digits.iter().rev().collect();
        }
    }
}

/// Whether a directory called `name` can hold the sessions of the project with `key`.
///
/// Equal names do, and for long paths every name with the same beginning: how the rest is hashed differs between
/// harness versions. What settles it is the `cwd` inside the lines.
pub(crate) fn may_hold(name: &str, key: &str) -> bool {
    match key.get(..=LONGEST) {
        Some(beginning) => name.starts_with(beginning),
        None => name == key,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_paths_have_the_names_that_the_harness_gave_them() {
        for row in include_str!("../tests/fixtures/project-keys.tsv").lines().skip(1) {
            let (path, expected) = row.split_once('\t').unwrap();
            assert_eq!(project_key(path), expected, "{path}");
        }
    }

    #[test]
    fn the_hash_starts_behind_the_two_hundredth_unit() {
        assert_eq!(project_key(&"a".repeat(200)), "a".repeat(200));
        let long = project_key(&"a".repeat(201));
        assert!(long.starts_with(&format!("{}-", "a".repeat(200))), "{long}");
        assert_eq!(base36(0), "0");
        assert_eq!(base36(35), "z");
        assert_eq!(base36(36), "10");
    }

    #[test]
    fn a_long_project_may_lie_under_another_hash() {
        let key = project_key(&format!("/{}", "a".repeat(300)));
        let (beginning, _) = key.split_at(201);
        assert!(may_hold(&format!("{beginning}zzz"), &key));
        assert!(!may_hold("-b", &key));
        assert!(may_hold("-repo", "-repo"));
        assert!(!may_hold("-repo-2", "-repo"));
    }
}
