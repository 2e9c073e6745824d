//! Lists, pipelines and commands.

use super::reader::{Reader, Until, ends_word};
use super::{Assigned, Assignment, Body, Command, Fault, Joint, List, Pipeline};
use crate::glance::reason::{Construct, Reason};

impl Reader<'_> {
    /// Reads pipelines until `until`, which is not taken.
    pub(super) fn list(&mut self, until: Until<'_>) -> Result<List, Fault> {
        let mut pipelines = Vec::new();
        let mut joint = Joint::Then;
        loop {
            self.lines()?;
            if self.ends(until) {
                return match pipelines.is_empty() || joint != Joint::Then {
                    false => Ok(List { pipelines }),
                    true if self.whole_is_blank() => Err(self.fault_here(Reason::Empty)),
                    true => Err(self.broken()),
                };
            }
            let start = self.at;
            pipelines.push(self.pipeline(joint)?);
            self.blanks()?;
            joint = match (self.peek(), self.ahead(1)) {
                (Some(b'&'), Some(b'&')) => {
                    self.at += 2;
                    Joint::And
                }
                (Some(b'|'), Some(b'|')) => {
                    self.at += 2;
                    Joint::Or
                }
                (Some(b'&'), _) => {
                    self.at += 1;
                    return Err(self.construct(start, Construct::Background));
                }
                (Some(b';'), Some(b';')) if matches!(until, Until::Branch) => Joint::Then,
                (Some(b';'), Some(b';' | b'&' | b'|')) => return Err(self.broken()),
                (Some(b';'), _) => {
                    self.at += 1;
                    Joint::Then
                }
                (Some(b'\n') | None, _) => Joint::Then,
                _ if matches!(until, Until::Parenthesis) && self.ends(until) => Joint::Then,
                _ => return Err(self.broken()),
            };
        }
    }

    fn ends(&self, until: Until<'_>) -> bool {
        match (until, self.peek()) {
            (Until::End | Until::Parenthesis, None) => true,
            (Until::Parenthesis, Some(byte)) => byte == b')',
            (Until::Branch, _) => self.rest().starts_with(";;") || self.keyword() == "esac",
            (Until::Keyword(keywords), _) => keywords.contains(&self.keyword()),
            (Until::End, Some(_)) => false,
        }
    }

    fn pipeline(&mut self, joint: Joint) -> Result<Pipeline, Fault> {
        let mut negated = false;
        loop {
            match self.keyword() {
                // `!(ls)` is a pattern where extended patterns are on.
                "!" if !negated && self.ahead(1) != Some(b'(') => negated = true,
                "time" => {
                    self.at += "time".len();
                    self.blanks()?;
                    if self.keyword() == "-p" {
                        self.at += "-p".len();
                        self.blanks()?;
                    }
                    continue;
                }
                _ => break,
            }
            self.at += 1;
            self.blanks()?;
        }
        let mut commands = vec![self.command()?];
        loop {
            self.blanks()?;
            match (self.peek(), self.ahead(1)) {
                (Some(b'|'), Some(b'|')) => break,
                (Some(b'|'), Some(b'&')) => self.at += 2,
                (Some(b'|'), _) => self.at += 1,
                _ => break,
            }
            self.lines()?;
            commands.push(self.command()?);
        }
        Ok(Pipeline { joint, negated, commands })
    }

    fn command(&mut self) -> Result<Command, Fault> {
        self.count_part()?;
        let start = self.at;
        let body = match self.keyword() {
            "" if self.rest().starts_with("((") => {
                self.at += 2;
                Body::Arithmetic(self.nested(|reader| reader.arithmetic("))"))?)
            }
            "" if self.peek() == Some(b'(') => {
                self.at += 1;
                let list = self.nested(|reader| reader.list(Until::Parenthesis))?;
                self.expect(")")?;
                Body::Group(list)
            }
            "{" => {
                self.at += 1;
                Body::Group(self.block("}")?)
            }
            "if" => self.conditional()?,
            "for" => self.for_loop()?,
            "while" => {
                self.at += "while".len();
                let condition = self.block("do")?;
                Body::While { condition, until: false, body: self.block("done")? }
            }
            "until" => {
                self.at += "until".len();
                let condition = self.block("do")?;
                Body::While { condition, until: true, body: self.block("done")? }
            }
            "case" => self.case()?,
            "[[" => {
                self.at += 2;
                Body::Condition(self.nested(Reader::condition)?)
            }
            "select" | "coproc" => {
                return Err(self.fault_here(Reason::Construct(Construct::Keyword)));
            }
            "function" => return Err(self.fault_here(Reason::Construct(Construct::Definition))),
            "then" | "do" | "done" | "fi" | "elif" | "else" | "esac" | "}" | "]]" | "!" | "time" => {
                return Err(self.broken());
            }
            _ => return self.simple(),
        };
        let mut redirects = Vec::new();
        loop {
            self.blanks()?;
            match self.redirect()? {
                Some(redirect) => redirects.push(redirect),
                None => break,
            }
        }
        Ok(Command { span: self.span_from(start), body, redirects })
    }

    /// A list and the keyword behind it.
    fn block(&mut self, keyword: &str) -> Result<List, Fault> {
        let list = self.nested(|reader| reader.list(Until::Keyword(&[keyword])))?;
        self.expect(keyword)?;
        Ok(list)
    }

    fn expect(&mut self, text: &str) -> Result<(), Fault> {
        if self.take(text) { Ok(()) } else { Err(self.broken()) }
    }

    fn conditional(&mut self) -> Result<Body, Fault> {
        self.at += "if".len();
        let mut lists = vec![self.block("then")?];
        loop {
            let branch = Until::Keyword(&["elif", "else", "fi"]);
            lists.push(self.nested(|reader| reader.list(branch))?);
            match self.keyword() {
                "elif" => {
                    self.at += "elif".len();
                    lists.push(self.block("then")?);
                }
                "else" => {
                    self.at += "else".len();
                    lists.push(self.block("fi")?);
                    return Ok(Body::If(lists));
                }
                _ => {
                    self.expect("fi")?;
                    return Ok(Body::If(lists));
                }
            }
        }
    }

    fn for_loop(&mut self) -> Result<Body, Fault> {
        let start = self.at;
        self.at += "for".len();
        self.blanks()?;
        let name = self.take_while(|byte| byte.is_ascii_alphanumeric() || byte == b'_').to_owned();
        if name.is_empty() && self.take("((") {
            return self.counting_loop();
        }
        if self.peek() == Some(b'(') || !is_name(&name) {
            return Err(self.construct(start, Construct::Keyword));
        }
        self.blanks()?;
        if self.keyword() != "in" {
            return Err(self.broken());
        }
        self.at += "in".len();
        let mut words = Vec::new();
        loop {
            self.blanks()?;
            match self.peek() {
                Some(b';') if self.ahead(1) != Some(b';') => {
                    self.at += 1;
                    break;
                }
                Some(b'\n') => break,
                Some(byte) if !ends_word(byte) || self.rest().starts_with("<(") => words.push(self.word()?),
                _ => return Err(self.broken()),
            }
        }
        self.lines()?;
        self.expect_keyword("do")?;
        Ok(Body::For { name, words, body: self.block("done")? })
    }

    /// `start; condition; step)); do …; done`
    fn counting_loop(&mut self) -> Result<Body, Fault> {
        let parts = self.nested(|reader| {
            Ok([reader.arithmetic(";")?, reader.arithmetic(";")?, reader.arithmetic("))")?])
        })?;
        self.blanks()?;
        if self.peek() == Some(b';') && self.ahead(1) != Some(b';') {
            self.at += 1;
        }
        self.lines()?;
        self.expect_keyword("do")?;
        Ok(Body::Count { parts, body: self.block("done")? })
    }

    /// `case word in (pattern | pattern) …;; esac`
    fn case(&mut self) -> Result<Body, Fault> {
        let start = self.at;
        // Old shells take the parenthesis behind a pattern for the end of the substitution.
        if self.substitutions > 0 {
            return Err(self.construct(start, Construct::Keyword));
        }
        self.at += "case".len();
        self.blanks()?;
        let word = self.whole_word()?;
        self.lines()?;
        self.expect_keyword("in")?;
        let (mut patterns, mut branches) = (Vec::new(), Vec::new());
        loop {
            self.lines()?;
            if self.keyword() == "esac" {
                self.at += "esac".len();
                return Ok(Body::Case { word, patterns, branches });
            }
            if self.take("(") {
                self.blanks()?;
            }
            loop {
                patterns.push(self.whole_word()?);
                self.blanks()?;
                if !self.take("|") {
                    break;
                }
                self.blanks()?;
            }
            self.expect(")")?;
            self.lines()?;
            if !self.rest().starts_with(";;") && self.keyword() != "esac" {
                branches.push(self.nested(|reader| reader.list(Until::Branch))?);
            }
            // `;&` and `;;&` go on with the next branch; shells differ in them.
            if self.take(";;") {
                if matches!(self.peek(), Some(b'&' | b';' | b'|')) {
                    return Err(self.broken());
                }
            } else if self.keyword() != "esac" {
                return Err(self.broken());
            }
        }
    }

    /// A word that is not empty.
    fn whole_word(&mut self) -> Result<super::Word, Fault> {
        if self.peek().is_none_or(ends_word) { Err(self.broken()) } else { self.word() }
    }

    fn expect_keyword(&mut self, keyword: &str) -> Result<(), Fault> {
        if self.keyword() == keyword { self.expect(keyword) } else { Err(self.broken()) }
    }

    fn simple(&mut self) -> Result<Command, Fault> {
        let start = self.at;
        let (mut assignments, mut words, mut redirects) = (Vec::new(), Vec::new(), Vec::new());
        let mut end = start;
        loop {
            self.blanks()?;
            if let Some(redirect) = self.redirect()? {
                redirects.push(redirect);
            } else if self.peek().is_none_or(ends_word) && !self.rest().starts_with("<(") {
                break;
            } else if let Some(assignment) = self.assignment(words.is_empty())? {
                assignments.push(assignment);
            } else {
                words.push(self.word()?);
            }
            end = self.at;
        }
        if self.peek() == Some(b'(') && words.len() == 1 {
            return Err(self.construct(start, Construct::Definition));
        }
        if end == start {
            return Err(self.broken());
        }
        let body = Body::Simple { assignments, words };
        Ok(Command { span: super::Span { start, end }, body, redirects })
    }

    /// `NAME=value` or `NAME+=value`, where an assignment may stand.
    fn assignment(&mut self, allowed: bool) -> Result<Option<Assignment>, Fault> {
        if !allowed {
            return Ok(None);
        }
        let start = self.at;
        let name = self.take_while(|byte| byte.is_ascii_alphanumeric() || byte == b'_').to_owned();
        let appends = self.rest().starts_with("+=");
        if !is_name(&name) || !(appends || self.peek() == Some(b'=')) {
            self.at = start;
            return Ok(None);
        }
        self.at += if appends { 2 } else { 1 };
        let value =
            if self.take("(") { Assigned::List(self.elements(start)?) } else { Assigned::Text(self.word()?) };
        Ok(Some(Assignment { name, appends, value, span: self.span_from(start) }))
    }

    /// `value …)`: the cursor stands behind the parenthesis.
    fn elements(&mut self, start: usize) -> Result<Vec<super::Word>, Fault> {
        let mut words = Vec::new();
        loop {
            self.lines()?;
            if self.take(")") {
                // `x=(a)b`
                return if self.peek().is_none_or(ends_word) && self.peek() != Some(b'(') {
                    Ok(words)
                } else {
                    Err(self.broken())
                };
            }
            // `[subscript]=value`: a subscript is evaluated.
            if self.peek() == Some(b'[') {
                return Err(self.construct(start, Construct::Array));
            }
            words.push(self.whole_word()?);
        }
    }
}

/// Whether a text is a shell name.
pub(in crate::glance) fn is_name(text: &str) -> bool {
    text.bytes().next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}
