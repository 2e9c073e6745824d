//! `awk` programs, token by token.
//!
//! A program may run commands (`system`, `|`), write files (`>`, `>>` behind `print`), read others in a
//! loop that never ends (`getline <`), include code (`@`) and loop for ever. Whether `/` begins a pattern
//! and whether `>` compares or writes depends on what stands before it; where that is not certain, the
//! program is refused.

mod loops;

use super::printf::is_wide;
use super::refused;
use crate::glance::options::Call;
use crate::glance::reason::Reason;
use crate::glance::value::Arg;

/// Judges the program of a call of `awk`: the first operand, which must be known but for numbers.
pub(in crate::glance) fn judge(call: &Call<'_>) -> Result<(), Reason> {
    let Some(program) = call.operands.first() else { return Ok(()) };
    let Some(texts) = program.outlines() else {
        return Err(Reason::Dynamic { program: call.name.clone(), word: program.shown().to_owned() });
    };
    // `x=1` among the files sets a variable.
    let is_file = |arg: &&&Arg| !arg.exact().is_some_and(|text| text.contains('='));
    let named = call.operands.iter().skip(1).filter(is_file).count() > 0;
    if !named && !call.context.fed && texts.iter().any(|text| !only_begins(text)) {
        return Err(call.no_input());
    }
    let given = call
        .options
        .iter()
        .filter_map(|(_, value)| value.as_ref())
        .chain(call.operands.iter().skip(1).copied());
    let counts_far = given.into_iter().any(|arg| match arg {
        Arg::Exact(text) => text.split_once('=').is_some_and(|(_, value)| loops::is_large(value)),
        Arg::Open(open) => open.origin.large,
    });
    texts.iter().try_for_each(|text| {
        judge_program(text)?;
        let counts = counts_far && loops::count(&tokens(text)?);
        if counts { Err(refused("awk", "a loop to a large number")) } else { Ok(()) }
    })
}

/// Whether a program is over before it reads: all of it is behind `BEGIN`.
fn only_begins(program: &str) -> bool {
    let Ok(tokens) = tokens(program) else { return true };
    let mut depth = 0_u32;
    let mut begins = false;
    for token in &tokens {
        match token {
            Token::Word("getline") => return false,
            Token::Sign("{") if depth == 0 && !begins => return false,
            Token::Sign("{") => (depth, begins) = (depth + 1, false),
            Token::Sign("}") => depth = depth.saturating_sub(1),
            Token::Word("BEGIN") if depth == 0 => begins = true,
            Token::Sign(";" | "\n") => {}
            _ if depth == 0 => return false,
            _ => {}
        }
    }
    true
}

fn judge_program(program: &str) -> Result<(), Reason> {
    let tokens = tokens(program)?;
    if !loops::all_end(&tokens) {
        return Err(refused("awk", "a loop that may never end"));
    }
    // `printf "%*s"` takes its width from a number.
    let is_far = |token: &Token<'_>| matches!(token, Token::Value(number) if loops::is_large(number));
    if program.contains("%*") && tokens.iter().any(is_far) {
        return Err(refused("awk", "%*"));
    }
    for (at, token) in tokens.iter().enumerate() {
        match token {
            // It takes the next line of the input; with `<` it may read the same nothing for ever.
            Token::Word("getline") => {
                let named = usize::from(matches!(tokens.get(at + 1), Some(Token::Word(_))));
                if !matches!(tokens.get(at + 1 + named), None | Some(Token::Sign(";" | "}" | ")" | "\n"))) {
                    return Err(refused("awk", "getline"));
                }
            }
            Token::Word("print" | "printf") => prints_to_standard_output(&tokens, at)?,
            // A record of so many fields, most of them empty.
            Token::Value(number) if loops::is_large(number) && counts_fields(&tokens, at) => {
                return Err(refused("awk", number));
            }
            Token::Word(name) if doubles(&tokens, at) => return Err(refused("awk", name)),
            // What is read may be named by the program: `ARGV[1] = "/dev/zero"`.
            Token::Word("system" | "function" | "func" | "do" | "ARGV" | "ARGC")
            | Token::Sign("|" | "@" | ">>") => {
                return Err(refused("awk", token.text()));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Whether the number at `at` says how many fields there are: `$1000000000`, `$(1e9)`, `NF = 1e9`.
fn counts_fields(tokens: &[Token<'_>], at: usize) -> bool {
    matches!(
        tokens.get(..at).unwrap_or_default(),
        [.., Token::Sign("$")]
            | [.., Token::Sign("$"), Token::Sign("(")]
            | [.., Token::Word("NF"), Token::Sign("=" | "+=" | "*=")]
    )
}

/// Whether `x = x x` begins at `at`: a text that doubles each time.
fn doubles(tokens: &[Token<'_>], at: usize) -> bool {
    let Some([Token::Word(name), Token::Sign("="), rest @ ..]) = tokens.get(at..) else { return false };
    let mut joined = 0;
    for token in rest {
        match token {
            Token::Word(word) if word == name => joined += 1,
            Token::Word(_) | Token::Value(_) => {}
            Token::Sign(_) | Token::Closed => break,
        }
    }
    joined > 1
}

/// `print a > "file"` writes; `print (a > b)` compares.
fn prints_to_standard_output(tokens: &[Token<'_>], at: usize) -> Result<(), Reason> {
    let mut depth = 0_i32;
    for token in tokens.iter().skip(at + 1) {
        match token {
            Token::Sign("(" | "[") => depth += 1,
            Token::Sign(")" | "]") | Token::Closed => depth -= 1,
            Token::Sign(">") if depth <= 0 => return Err(refused("awk", ">")),
            // No newline: behind a comma the statement goes on.
            Token::Sign(";" | "}") if depth <= 0 => return Ok(()),
            _ => {}
        }
    }
    Ok(())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token<'a> {
    /// A name, a keyword or a function.
    Word(&'a str),
    /// A number, or the text of a string or a pattern, which is left out.
    Value(&'a str),
    /// An operator or a newline.
    Sign(&'a str),
    /// The parenthesis that closes the condition of `if`, `while` or `for`.
    Closed,
}

impl<'a> Token<'a> {
    fn text(&self) -> &'a str {
        match self {
            Self::Word(text) | Self::Sign(text) | Self::Value(text) => text,
            Self::Closed => ")",
        }
    }

    /// Whether a slash behind this token divides; `None` when it may be either.
    fn divides(self) -> Option<bool> {
        match self {
            Self::Word("print" | "printf" | "return" | "exit" | "in" | "case" | "else") => Some(false),
            // Words behind which one awk divides and another matches; in `if (…) /x/` and `x++ /x/` it is
            // not plain either.
            Self::Word(
                "getline" | "length" | "next" | "nextfile" | "break" | "continue" | "BEGIN" | "END"
                | "delete" | "switch" | "default" | "if" | "while" | "for",
            )
            | Self::Closed
            | Self::Sign("$" | "++" | "--") => None,
            Self::Word(_) | Self::Value(_) | Self::Sign("]" | ")") => Some(true),
            Self::Sign(_) => Some(false),
        }
    }
}

fn tokens(program: &str) -> Result<Vec<Token<'_>>, Reason> {
    let mut tokens: Vec<Token<'_>> = Vec::new();
    let mut rest = program;
    // For each open parenthesis: does it hold a condition.
    let mut open: Vec<bool> = Vec::new();
    while let Some(first) = rest.chars().next() {
        let length = match first {
            ' ' | '\t' => 1,
            '\\' if rest.starts_with("\\\n") => 2,
            '#' => rest.find('\n').unwrap_or(rest.len()),
            '"' => {
                tokens.push(Token::Value(""));
                let length = string(rest)?;
                let text = rest.get(..length).unwrap_or_default();
                if is_wide(text) {
                    return Err(refused("awk", text));
                }
                length
            }
            '/' => match tokens.last().map_or(Some(false), |last| last.divides()) {
                Some(true) => {
                    tokens.push(Token::Sign("/"));
                    1
                }
                Some(false) => {
                    tokens.push(Token::Value(""));
                    pattern(rest)?
                }
                None => return Err(refused("awk", rest)),
            },
            c if c.is_ascii_alphabetic() || c == '_' => {
                let length = rest
                    .bytes()
                    .position(|byte| !(byte.is_ascii_alphanumeric() || byte == b'_'))
                    .unwrap_or(rest.len());
                tokens.push(Token::Word(rest.get(..length).unwrap_or_default()));
                length
            }
            c if c.is_ascii_digit() || c == '.' => {
                let length = rest
                    .bytes()
                    .position(|byte| !(byte.is_ascii_alphanumeric() || byte == b'.'))
                    .unwrap_or(rest.len());
                tokens.push(Token::Value(rest.get(..length).unwrap_or_default()));
                length
            }
            _ => {
                let signs = [
                    "||", "&&", ">=", "<=", "==", "!=", "!~", "++", "--", "+=", "-=", "*=", "%=", "^=", "**",
                    ">>",
                ];
                let known = signs.iter().find(|sign| rest.starts_with(*sign));
                let one = "{}()[];,<>=!~+-*%^?:$|&@\n";
                match (known, one.find(first)) {
                    (Some(sign), _) => {
                        tokens.push(Token::Sign(sign));
                        sign.len()
                    }
                    (None, Some(_)) if first == '(' => {
                        open.push(matches!(tokens.last(), Some(Token::Word("if" | "while" | "for"))));
                        tokens.push(Token::Sign("("));
                        1
                    }
                    (None, Some(_)) if first == ')' => {
                        tokens.push(if open.pop() == Some(true) { Token::Closed } else { Token::Sign(")") });
                        1
                    }
                    (None, Some(_)) => {
                        tokens.push(Token::Sign(rest.get(..1).unwrap_or_default()));
                        1
                    }
                    (None, None) => return Err(refused("awk", rest)),
                }
            }
        };
        rest = rest.get(length..).unwrap_or_default();
    }
    Ok(tokens)
}

/// The length of a string with its quotes.
fn string(text: &str) -> Result<usize, Reason> {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '\n' => break,
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return Ok(at + 1),
            _ => {}
        }
    }
    Err(refused("awk", text))
}

/// The length of a pattern with its slashes. A slash inside brackets ends the pattern for one awk and not for
/// another.
fn pattern(text: &str) -> Result<usize, Reason> {
    let (mut escaped, mut in_brackets) = (false, false);
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '\n' => break,
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '/' if in_brackets => break,
            '/' => return Ok(at + 1),
            '[' => in_brackets = true,
            ']' => in_brackets = false,
            _ => {}
        }
    }
    Err(refused("awk", text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(program: &str, passes: bool) {
        assert_eq!(judge_program(program).is_ok(), passes, "{program:?}");
    }

    #[test]
    fn programs_that_select_and_count_pass() {
        for program in [
            "{print $1}",
            "NR==1",
            "NR>=5 && NR<=10",
            "$3 > 100 {print $1, $2}",
            "/foo/ {print}",
            "!/^#/",
            "{s+=$1} END {print s}",
            "{print $NF}",
            "END{print NR}",
            "BEGIN{FS=\",\"} {print $2}",
            "{c[$1]++} END{for (k in c) print c[k], k}",
            "{for(i=1;i<=NF;i++) printf \"%s \", $i; print \"\"}",
            "length > 80",
            "{print ($1 > 5)}",
            "$1 ~ /system|exec/ {print}",
            "/a/{getline; print}",
            "{print $1/1024 \" MB\"}",
            "{print a/b/c}",
            "{print ($1+$2)/2}",
            "{if ($1) print}",
            "$5 > 1000000000",
            "{x = x $1} END{print x}",
            "{m = m > $1 ? m : $1}",
            "{for(i=2;i<=NF;i++) s += $i; print s / 1073741824}",
            "NR==FNR{a[$1];next} $1 in a",
            "{ if ($2 > 5) print $1; else print $2 }",
            "{print substr($0, 1, 80)}",
            "{x = $1 > 3 ? \"a\" : \"b\"; print x}",
            "/a\\/b/",
            "# note\n{print}",
            "{for(i=NF;i>0;i--) printf \"%s \", $i; print \"\"}",
            "{for(i=1;i<=NF;i++) if ($i ~ /x/) {print $i; n++} else m++; print n}",
            "{for(i=1;i<=NF;i++) $i=toupper($i); for(i=1;i<=3;i++) print $i}",
            "{for(i=1;i<=NF;i++) gsub(/x/,\"\",$i)}1",
            "{i=1; while(i<=NF){print $i; i++}}",
            "{i=1\nwhile (i <= 3) {\nif (i in a)\nprint i\ni += 1\n}\n}",
            "/a/{while((getline l) > 0) print l}",
            "BEGIN{for(i=0;i<3;i++){for(j=0;j<2;j++) print i,j}}",
            "",
        ] {
            check(program, true);
        }
    }

    #[test]
    fn programs_that_run_write_or_loop_do_not() {
        for program in [
            "{system(\"touch victim\")}",
            "BEGIN{system(\"x\")}",
            "{print > \"victim\"}",
            "{print >> \"victim\"}",
            "{print | \"sh\"}",
            "{print $1 > $2}",
            "{printf \"x\" > \"victim\"}",
            "BEGIN{\"date\" | getline d}",
            "BEGIN{while ((getline l < \"f\") > 0) print l}",
            "BEGIN{while(1);}",
            "BEGIN{for(;;);}",
            "BEGIN{do x++; while(1)}",
            "@load \"x\"",
            "@include \"x\"",
            "{f = \"system\"; @f(\"x\")}",
            "BEGIN{while(x==x);}",
            "BEGIN{for(i=0;i<1;){}}",
            "BEGIN{for(i=0;i<1;i--);}",
            "BEGIN{for(i=0;i<1;i+=0);}",
            "BEGIN{for(i=0;i<1;i++) i=0}",
            "BEGIN{for(i=0;i<1;i++) {x; --i}}",
            "BEGIN{for(i=0;i<n;i++) n++}",
            "BEGIN{for(i=0;i<1||1;i++) print}",
            "BEGIN{for(i=0;i<1;i++) if (x) y; else i=0}",
            "BEGIN{for(i=0;j<1;i++) print}",
            "{for(i=1;i<=NF;i++) $(NF+1)=1}",
            "{for(i=1;i<=NF;i++) $0=$0 \" x\"}",
            "{for(i=1;i<=NF;i++) gsub(/a/,\"a a\")}",
            "{for(i=1;i<=NF;i++) split(\"0\",a,i)}",
            "BEGIN{i=0; while(i<5) print i}",
            "BEGIN{i=0; while(i<5) {if (0) i++}}",
            "BEGIN{i=0; while(i<5) {if (0)\ni++\n}}",
            "BEGIN{i=0; while(i<5) {i++; i=0}}",
            "BEGIN{i=0; while(i<5) {continue; i++}}",
            "BEGIN{i=0; while(i<5) {i--}}",
            "BEGIN{while((getline l < \"f\") > 0) print l}",
            "BEGIN{while(getline || 1) print}",
            "BEGIN{ARGV[1]=\"/dev/zero\";ARGC=2}{print}",
            "function f(){f()} BEGIN{f()}",
            "{print \"a\" |& \"cmd\"}",
            "{if (1) /2; system(\"x\") /1/}",
            "{x++ /2; system(\"x\") /1/}",
            "{exit /\"/; system(\"x\") #\"/\n}",
            "{print a,\n b > \"victim\"}",
            "BEGIN{for(i=0;i<1e12;i++);}",
            "BEGIN{for(i=0;i<99999*99999;i++);}",
            "BEGIN{for(i=0;i<2^40;i++);}",
            "BEGIN{n=999999999; for(i=0;i<n;i++);}",
            "BEGIN{for(i=0;i<99999;i++) for(j=0;j<99999;j++);}",
            "{x = x x}",
            "{x = x \" \" x}",
            "{$1000000000 = 1}",
            "{NF=1e9}",
            "{printf \"%99999999s\", $1}",
            "/[/]system(\"x\")/",
            "{print (1) > \"victim\"}",
            "{print a, b > \"victim\"}",
            "{print \"unclosed}",
            "{ print $1 ; print $2 > \"v\" }",
            "/x/ { print a[1] > \"v\" }",
            "`id`",
        ] {
            check(program, false);
        }
    }
}
