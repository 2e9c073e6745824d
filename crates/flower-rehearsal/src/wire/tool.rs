//! Tool definitions and the choice among them.

use super::block::CacheControl;
use super::refusal::Refusal;
use super::shape::{Fields, unknown_tag};
use serde_json::Value;

/// A tool definition.
#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    /// The tool's name; server tools have one too. A toolset has none and goes by its type.
    pub name: String,
    /// `input_schema`; `None` for server tools, which the API defines itself.
    pub schema: Option<Value>,
    /// Not in the prompt until a tool search finds it.
    pub deferred: bool,
    /// A breakpoint behind this tool.
    pub cache_control: Option<CacheControl>,
    /// The definition as it was sent, without its breakpoint.
    pub canonical: String,
}

/// `tool_choice`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolChoice {
    /// The model decides.
    Auto,
    /// Some tool must be called.
    Any,
    /// This tool must be called.
    Named(String),
    /// No tool may be called.
    None,
}

/// The tools that the API defines itself: type without date, and the names that it may have (from the vendor's
/// client libraries). No names: the entry is a toolset and has none.
const OF_THE_API: &[(&str, &[&str])] = &[
    ("advisor", &["advisor"]),
    ("bash", &["bash"]),
    ("browser_toolset", &[]),
    ("code_execution", &["code_execution"]),
    ("computer", &["computer"]),
    ("computer_toolset", &[]),
    ("mcp_toolset", &[]),
    ("memory", &["memory"]),
    ("text_editor", &["str_replace_editor", "str_replace_based_edit_tool"]),
    ("tool_search_tool_bm25", &["tool_search_tool_bm25"]),
    ("tool_search_tool_regex", &["tool_search_tool_regex"]),
    ("web_fetch", &["web_fetch"]),
    ("web_search", &["web_search"]),
];

/// The type of a tool that the caller defines.
const CUSTOM: &str = "custom";

impl Tool {
    pub(super) fn read(index: usize, value: &Value) -> Result<Self, Refusal> {
        let fields = Fields::of(format!("tools.{index}"), value)?;
        let kind = fields.nullable_string("type")?.unwrap_or(CUSTOM);
        let (name, schema) = if kind == CUSTOM {
            Self::read_custom(&Fields::of(fields.at(kind), value)?)?
        } else {
            let Some((_, names)) = OF_THE_API.iter().find(|(family, _)| is_dated(kind, family)) else {
                let families = OF_THE_API.iter().map(|(family, _)| *family);
                let tags: Vec<_> = std::iter::once(CUSTOM).chain(families).collect();
                return Err(unknown_tag(fields.path(), kind, &tags));
            };
            (Self::read_name(&Fields::of(fields.at(kind), value)?, kind, names)?, None)
        };
        let fields = fields.tagged(kind);
        let mut canonical = fields.map().clone();
        canonical.shift_remove("cache_control");
        Ok(Self {
            name,
            schema,
            deferred: fields.optional_bool("defer_loading")?.unwrap_or(false),
            cache_control: CacheControl::read(&fields)?,
            canonical: Value::Object(canonical).to_string(),
        })
    }

    fn read_name(fields: &Fields<'_>, kind: &str, names: &[&str]) -> Result<String, Refusal> {
        if names.is_empty() {
            return Ok(kind.to_owned());
        }
        fields.word("name", names)?;
        fields.string("name").map(str::to_owned)
    }

    fn read_custom(fields: &Fields<'_>) -> Result<(String, Option<Value>), Refusal> {
        let name = fields.string("name")?.to_owned();
        let schema = Fields::of(fields.at("input_schema"), fields.required("input_schema")?)?;
        schema.word("type", &["object"])?;
        fields.optional_string("description")?;
        fields.optional_bool("strict")?;
        if fields.nullable("eager_input_streaming").is_some() {
            fields.optional_bool("eager_input_streaming")?;
        }
        fields.optional_list("allowed_callers")?;
        fields.optional_list("input_examples")?;
        fields.only(&[&[
            "type",
            "name",
            "description",
            "input_schema",
            "cache_control",
            "defer_loading",
            "strict",
            "eager_input_streaming",
            "allowed_callers",
            "input_examples",
        ]])?;
        Ok((name, Some(Value::Object(schema.map().clone()))))
    }
}

/// Whether `kind` is the family with a date (`bash_20250124`), or the family itself.
fn is_dated(kind: &str, family: &str) -> bool {
    kind.strip_prefix(family).is_some_and(|rest| match rest.strip_prefix('_') {
        None => rest.is_empty(),
        Some(date) => date.len() == 8 && date.bytes().all(|byte| byte.is_ascii_digit()),
    })
}

impl ToolChoice {
    pub(super) fn read(fields: &Fields<'_>) -> Result<Option<Self>, Refusal> {
        let Some(value) = fields.optional("tool_choice") else { return Ok(None) };
        let choice = Fields::of("tool_choice", value)?;
        let kind = choice.string("type")?;
        let choice = choice.tagged(kind);
        let (read, known): (_, &[&str]) = match kind {
            "auto" => (Self::Auto, &["type", "disable_parallel_tool_use"]),
            "any" => (Self::Any, &["type", "disable_parallel_tool_use"]),
            "tool" => (
                Self::Named(choice.string("name")?.to_owned()),
                &["type", "name", "disable_parallel_tool_use"],
            ),
            "none" => (Self::None, &["type"]),
            other => return Err(unknown_tag("tool_choice", other, &["any", "auto", "none", "tool"])),
        };
        choice.only(&[known])?;
        choice.optional_bool("disable_parallel_tool_use")?;
        Ok(Some(read))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn verdict(tool: &Value) -> String {
        Tool::read(0, tool).map_or_else(|refusal| refusal.message, |tool| tool.name)
    }

    #[test]
    fn tools_of_the_api_are_known_by_type_and_name() {
        for (tool, expected) in [
            (json!({"type": "bash_20250124", "name": "bash"}), "bash"),
            (json!({"type": "web_search_20250305", "name": "web_search", "max_uses": 3}), "web_search"),
            (json!({"type": "browser_toolset_20260801"}), "browser_toolset_20260801"),
            (
                json!({"type": "tool_search_tool_regex", "name": "tool_search_tool_regex"}),
                "tool_search_tool_regex",
            ),
            (
                json!({"type": "web_search_20250305", "name": "search"}),
                "tools.0.web_search_20250305.name: Input should be 'web_search'",
            ),
            (
                json!({"type": "function", "name": "f", "input_schema": {"type": "object"}}),
                "tools.0: Input tag 'function' found using 'type' does not match any of the expected tags: 'custom', ",
            ),
            (json!({"type": "bash_latest", "name": "bash"}), "tools.0: Input tag 'bash_latest'"),
            (json!({"type": null, "name": "a", "input_schema": {"type": "object"}}), "a"),
            (
                json!({"name": "a", "input_schema": {"type": "object"}, "description": null}),
                "tools.0.custom.description: Input should be a valid string",
            ),
            (
                json!({"name": "a", "input_schema": {"type": "object"}, "strict": "yes"}),
                "tools.0.custom.strict: Input should be a valid boolean",
            ),
        ] {
            let answer = verdict(&tool);
            assert!(answer.starts_with(expected), "{tool}\n  said: {answer}\n  want: {expected}");
        }
    }

    #[test]
    fn a_choice_has_the_fields_of_its_kind() {
        for (choice, expected) in [
            (json!({"type": "auto", "disable_parallel_tool_use": true}), "ok"),
            (json!({"type": "tool", "name": "a", "disable_parallel_tool_use": false}), "ok"),
            (json!({"type": "none"}), "ok"),
            (json!({"type": "tool"}), "tool_choice.tool.name: Field required"),
            (json!({"type": "auto", "name": "a"}), "tool_choice.auto.name: Extra inputs are not permitted"),
            (
                json!({"type": "none", "disable_parallel_tool_use": true}),
                "tool_choice.none.disable_parallel_tool_use: Extra inputs are not permitted",
            ),
            (
                json!({"type": "any", "disable_parallel_tool_use": "no"}),
                "tool_choice.any.disable_parallel_tool_use: Input should be a valid boolean",
            ),
            (json!("auto"), "tool_choice: Input should be a valid dictionary"),
            (json!(null), "tool_choice: Input should be a valid dictionary"),
        ] {
            let body = json!({ "tool_choice": choice });
            let fields = Fields::of("", &body).unwrap();
            let answer =
                ToolChoice::read(&fields).map_or_else(|refusal| refusal.message, |_| "ok".to_owned());
            assert_eq!(answer, expected, "{choice}");
        }
    }
}
