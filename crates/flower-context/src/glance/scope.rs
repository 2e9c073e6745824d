//! Variables: which a command line may set, and what is known of their values.

use std::collections::HashMap;

use super::origin::{self, Origin};
use super::output;
use super::reason::Reason;
use super::syntax::{Arithmetic, Assigned, Body, Command, Fault, Form, Piece, Script, Span, Subscript, Word};
use super::value::{Class, Value};
use super::visit::{Feed, Part, each_part};
use super::word;

/// Settings of variables that are followed in one command line.
const DEFINITION_LIMIT: usize = 200;

/// Rounds after which values must have settled. Two are usual; more means that variables chase each other.
const ROUND_LIMIT: usize = 8;

/// The variables of a command line, each with what it may hold anywhere in it.
///
/// Order and branches are not followed: a variable that is set twice holds either. So nothing that runs
/// between a setting and a use can make the value wilder than it is known to be.
#[derive(Debug)]
pub(super) struct Scope<'a> {
    source: &'a str,
    values: HashMap<&'a str, Value>,
    /// What the values may come of, where that is anything.
    origins: HashMap<&'a str, Origin>,
    /// What is written anywhere in the line.
    origin: Origin,
    at_root: bool,
}

/// One place that gives a variable a value.
enum Definition<'a> {
    Word(&'a str, &'a Word),
    Loop(&'a str, &'a [Word]),
    /// The elements of an array.
    List(&'a str, &'a [Word]),
    /// `read`
    Line(&'a str, Feed<'a>),
    /// `((name = …))`
    Sum(&'a str, &'a Arithmetic),
    /// `name+=…`
    Appended(&'a str, &'a Word),
}

impl<'a> Scope<'a> {
    /// Collects the variables that `script` sets.
    pub(super) fn of(source: &'a str, script: &'a Script) -> Result<Self, Fault> {
        let mut definitions = Vec::new();
        each_part(script, &mut |part| match part {
            Part::Command(command, feed) => collect(command, feed, &mut definitions),
            Part::Arithmetic(arithmetic) => {
                definitions.extend(arithmetic.sets.iter().map(|name| Definition::Sum(name, arithmetic)));
            }
        });
        let too_complex = || Fault { span: Span { start: 0, end: source.len() }, reason: Reason::TooComplex };
        if definitions.len() > DEFINITION_LIMIT {
            return Err(too_complex());
        }
        let (origin, at_root) = origin::of_script(source, script);
        let mut scope = Self { source, values: HashMap::new(), origins: HashMap::new(), origin, at_root };
        for _ in 0..ROUND_LIMIT {
            if !scope.round(&definitions)? {
                return Ok(scope);
            }
        }
        Err(too_complex())
    }

    /// Computes every definition once more; true if a value became wilder.
    fn round(&mut self, definitions: &[Definition<'a>]) -> Result<bool, Fault> {
        let mut changed = false;
        for definition in definitions {
            let (name, value) = match definition {
                Definition::Word(name, word) => (*name, word::value(word, self)),
                Definition::Sum(name, _) => (*name, Value::Class(Class::Number)),
                Definition::Appended(name, _) => (*name, Value::Class(Class::Unknown)),
                Definition::Line(name, feed) => (*name, Value::Class(self.line_of(*feed))),
                Definition::Loop(name, words) => {
                    let Some(value) = self.any_of(words)? else { continue };
                    (*name, value)
                }
                Definition::List(name, words) => {
                    let class = self.any_of(words)?.map_or(Class::Number, |value| value.class());
                    // There may be several.
                    let class = if class == Class::Ref { Class::Name } else { class };
                    (*name, Value::Words(class))
                }
            };
            let joined = self.values.get(name).map_or_else(|| value.clone(), |known| known.join(&value));
            changed |= self.values.insert(name, joined.clone()).as_ref() != Some(&joined);
            let origin = self.origin_of(name).or(self.defined(definition));
            changed |= self.origins.insert(name, origin).unwrap_or_default() != origin;
        }
        Ok(changed)
    }

    /// What a definition gives its variable besides a value.
    fn defined(&self, definition: &Definition<'_>) -> Origin {
        if self.origin == Origin::NONE {
            return Origin::NONE;
        }
        match definition {
            Definition::Word(_, word) | Definition::Appended(_, word) => origin::of_word(word, self),
            Definition::Loop(_, words) | Definition::List(_, words) => {
                words.iter().map(|word| origin::of_word(word, self)).fold(Origin::NONE, Origin::or)
            }
            Definition::Sum(_, arithmetic) => origin::of_arithmetic(arithmetic, self),
            Definition::Line(_, feed) => self.origin_of_line(*feed),
        }
    }

    fn origin_of_line(&self, feed: Feed<'_>) -> Origin {
        match feed {
            Feed::Unknown => Origin::NONE,
            Feed::Stages(commands) => commands
                .iter()
                .map(|command| origin::of_command(command, self))
                .fold(Origin::NONE, Origin::or),
            Feed::Word(word) => match word.pieces.as_slice() {
                [Piece::Process(list)] => origin::of_list(list, self),
                _ => Origin::NONE,
            },
            Feed::Text(word) => origin::of_word(word, self),
            Feed::Document => self.origin,
        }
    }

    /// What is known of the arguments that words become.
    fn any_of(&self, words: &[Word]) -> Result<Option<Value>, Fault> {
        let mut joined: Option<Value> = None;
        for word in words {
            for arg in word::expand(word, self)? {
                let value = arg.value();
                joined = Some(joined.map_or_else(|| value.clone(), |joined| joined.join(&value)));
            }
        }
        Ok(joined)
    }

    /// The class of a line out of a feed. The name of a file may hold a newline, and its second half begins
    /// anew.
    fn line_of(&self, feed: Feed<'_>) -> Class {
        let class = match feed {
            Feed::Unknown | Feed::Text(_) | Feed::Document => Class::Unknown,
            Feed::Stages(commands) => output::of_stages(commands, self),
            Feed::Word(word) => match word.pieces.as_slice() {
                [Piece::Process(list)] => output::of_list(list, self),
                _ => Class::Unknown,
            },
        };
        if (Class::Path..Class::Name).contains(&class) { Class::Name } else { class }
    }

    /// The whole command line.
    pub(super) fn source(&self) -> &'a str {
        self.source
    }

    /// What is written anywhere in the command line.
    pub(super) fn origin(&self) -> Origin {
        self.origin
    }

    /// What a variable may come of. Whoever started the session is trusted.
    pub(super) fn origin_of(&self, name: &str) -> Origin {
        self.origins.get(name).copied().unwrap_or_default()
    }

    /// Whether the command line goes to the root of all.
    pub(super) fn is_at_root(&self) -> bool {
        self.at_root
    }

    /// The text of a span.
    pub(super) fn text(&self, span: Span) -> &'a str {
        self.source.get(span.start..span.end).unwrap_or_default()
    }

    /// What an expansion of a parameter may be.
    pub(super) fn parameter(&self, name: &str, subscript: Option<&Subscript>, form: Form) -> Value {
        let value = match self.values.get(name) {
            Some(value) => value.clone(),
            None => Value::Class(environment_class(name)),
        };
        // An element is one word, or none.
        let value = match (subscript, value) {
            (Some(Subscript::At(_)), value) => Value::Class(value.class()),
            (Some(Subscript::Each), value) => Value::Words(value.class()),
            (None, value) => value,
        };
        match form {
            Form::Whole => value,
            Form::Length => Value::Class(Class::Number),
            // What is left of it may be nothing, and ends in another way.
            Form::CutEnd => Value::Words(value.class().cut()),
            Form::Changed => Value::Class(Class::Unknown),
        }
    }

    /// Whether the shell may evaluate this name as a number without running anything.
    pub(super) fn is_number(&self, name: &str) -> bool {
        self.parameter(name, None, Form::Whole).class() == Class::Number
    }

    /// Whether the command line itself sets this name, and to nothing but numbers that are cheap to count to.
    pub(super) fn holds_a_bound(&self, name: &str) -> bool {
        self.values.contains_key(name) && self.is_number(name) && !self.origin_of(name).large
    }
}

fn collect<'a>(command: &'a Command, feed: Feed<'a>, definitions: &mut Vec<Definition<'a>>) {
    match &command.body {
        Body::Simple { assignments, words } => {
            if words.is_empty() {
                definitions.extend(assignments.iter().map(|assignment| match &assignment.value {
                    Assigned::Text(word) if assignment.appends => {
                        Definition::Appended(&assignment.name, word)
                    }
                    Assigned::Text(word) => Definition::Word(&assignment.name, word),
                    // Appended or not, an element may be any of them.
                    Assigned::List(words) => Definition::List(&assignment.name, words),
                }));
            } else if words.first().and_then(Word::bare) == Some("read") {
                let names = words.iter().skip(1).filter_map(Word::bare);
                definitions.extend(names.map(|name| Definition::Line(name, feed)));
            }
        }
        Body::For { name, words, .. } => definitions.push(Definition::Loop(name, words)),
        _ => {}
    }
}

/// Variables that the environment sets. Whoever starts the session chose them, not the command line.
fn environment_class(name: &str) -> Class {
    match name {
        "?" | "#" | "$" | "!" | "RANDOM" | "SECONDS" | "LINENO" | "UID" | "EUID" | "PPID" | "BASHPID"
        | "EPOCHSECONDS" => Class::Number,
        "HOME" | "USER" | "LOGNAME" | "SHELL" | "HOSTNAME" | "TMPDIR" | "CARGO_HOME" | "RUSTUP_HOME"
        | "GOPATH" | "GOROOT" | "JAVA_HOME" | "VIRTUAL_ENV" | "NVM_DIR" | "XDG_CONFIG_HOME"
        | "XDG_CACHE_HOME" | "XDG_DATA_HOME" => Class::Plain,
        "PWD" | "OLDPWD" => Class::Path,
        _ => Class::Unknown,
    }
}

/// Whether setting a variable cannot change what runs.
///
/// A plain assignment reaches programs only if the variable was exported before, and the shell itself if it
/// is one of its own. Names of those two kinds are upper case by custom; so a name with a lower-case letter
/// passes unless a shell ties it to something, and an upper-case name passes when it is made of everyday
/// nouns.
pub(super) fn may_be_set(name: &str) -> bool {
    if name.bytes().any(|byte| byte.is_ascii_lowercase()) {
        return !TIED_NAMES.contains(&name) && !name.ends_with("_proxy") && !name.starts_with("BASH_FUNC");
    }
    name == "_"
        || name.split('_').all(|part| {
            let noun = part.trim_end_matches(|c: char| c.is_ascii_digit());
            (noun.len() == 1 && noun != "_")
                || NOUNS
                    .split_ascii_whitespace()
                    .any(|known| noun == known || noun.strip_suffix('S') == Some(known))
        })
}

/// Lower-case names that zsh or csh-like habits tie to the search path, to functions or to prompts.
const TIED_NAMES: &[&str] = &[
    "path",
    "fpath",
    "cdpath",
    "mailpath",
    "manpath",
    "module_path",
    "fignore",
    "functions",
    "aliases",
    "galiases",
    "saliases",
    "commands",
    "builtins",
    "options",
    "modules",
    "mapfile",
    "prompt",
    "prompt2",
    "prompt3",
    "prompt4",
    "psvar",
    "signals",
    "histchars",
    "watch",
    "termcap",
    "terminfo",
    "parameters",
    "nameddirs",
    "userdirs",
    "auto_resume",
    "histappend",
];

/// Nouns that upper-case names of everyday variables are made of. None is a variable of the shell, the
/// loader, git or a tool; `DIR` is here, `HOME` is not.
const NOUNS: &str = "\
    ACTUAL ADDR AFTER ALL APP ARG ARTIFACT AUTHOR BASE BEFORE BIN BRANCH BYTE CHAR CHECKSUM CHILD CLASS CLIENT \
    CODE COLUMN COMMIT COMPONENT CONTAINER COUNT CPU CRATE CSV CUR CURRENT DATA DATE DAY DB DEFAULT DEST DIFF \
    DIR DISK DOC DOMAIN DST DURATION ELAPSED END ENTRY ERR ERROR EXIT EXPECTED EXT FAIL FAILED FEATURE FILE \
    FILENAME FILTER FIRST FMT FOLDER FORMAT FOUND FREE FUNC FUNCTION GROUP HASH HEAD HIT HOUR ID INDEX INPUT IP \
    ISSUE ITEM JOB JSON KEY KEYWORD KIND LABEL LAST LATEST LEFT LEN LENGTH LEVEL LIMIT LINE LIST LOCAL LOG MAIN \
    MATCH MAX MEM MERGE MESSAGE METHOD MIN MINUTE MISSING MOD MODEL MODULE MONTH MSG NAME NAMESPACE NEW NEXT \
    NOW NS NUM OFFSET OLD ORG ORIG ORIGIN OUT OUTPUT OWNER PACKAGE PARAM PARENT PATTERN PERCENT PID PKG \
    PLATFORM POD PORT PR PREV PREVIOUS PROC PROJECT QUERY RANGE RC REF RELEASE REMOTE REPO RESULT RET REV RIGHT \
    ROOT ROW SCOPE SCRIPT SEARCH SECTION SERVER SERVICE SHA SINCE SIZE SOURCE SPEC SRC START STATUS STEP SUBDIR \
    SUM SYMBOL TABLE TAG TARGET TASK TEST TEXT THRESHOLD TIME TIMESTAMP TODAY TOP TOTAL TS TYPE UNTIL UPSTREAM \
    URL USED VALUE VER VERSION WARN WARNING WEB WORD WORKSPACE YEAR";
