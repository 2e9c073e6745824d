//! The schema of a tool's input: a JSON Schema, in the part of it that the API takes.
//!
//! Checked is what the meta-schema of draft 2020-12 says about the keywords that tools use; unknown keywords mean
//! nothing, as the draft has it. References are not followed.

use serde_json::{Map, Value};

/// What is wrong, to stand behind the path of the schema.
pub(super) fn check(schema: &Value) -> Result<(), String> {
    let Some(map) = schema.as_object() else { return Err(INVALID.to_owned()) };
    if let Some(combined) = ["oneOf", "allOf", "anyOf"].iter().find(|keyword| map.contains_key(**keyword)) {
        return Err(format!(
            ": input_schema does not support oneOf, allOf, or anyOf at the top level (found {combined})"
        ));
    }
    if !is_schema(schema) {
        return Err(INVALID.to_owned());
    }
    let keys = map.get("properties").and_then(Value::as_object).into_iter().flat_map(Map::keys);
    match keys.into_iter().find(|key| !is_key(key)) {
        None => Ok(()),
        Some(_) => {
            Err(format!(".properties: Property keys should match pattern '^[a-zA-Z0-9_.-]{{1,{MOST_KEY}}}$'"))
        }
    }
}

const INVALID: &str = ": JSON schema is invalid. It must match JSON Schema draft 2020-12 \
                       (https://json-schema.org/draft/2020-12).";

/// Longest name of a property at the top level.
const MOST_KEY: usize = 64;

fn is_key(key: &str) -> bool {
    (1..=MOST_KEY).contains(&key.len())
        && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-'))
}

fn is_schema(value: &Value) -> bool {
    match value {
        Value::Bool(_) => true,
        Value::Object(map) => map.iter().all(|(keyword, value)| means_something(keyword, value)),
        _ => false,
    }
}

fn means_something(keyword: &str, value: &Value) -> bool {
    match keyword {
        // The client libraries let these be null.
        "properties" | "required" if value.is_null() => true,
        "type" => match value {
            Value::String(name) => is_type(name),
            Value::Array(names) => !names.is_empty() && unique(names) && all_strings(names, is_type),
            _ => false,
        },
        "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas" => {
            value.as_object().is_some_and(|schemas| schemas.values().all(is_schema))
        }
        "items"
        | "additionalProperties"
        | "unevaluatedProperties"
        | "unevaluatedItems"
        | "propertyNames"
        | "contains"
        | "not"
        | "if"
        | "then"
        | "else" => is_schema(value),
        "prefixItems" | "anyOf" | "allOf" | "oneOf" => {
            value.as_array().is_some_and(|schemas| !schemas.is_empty() && schemas.iter().all(is_schema))
        }
        "required" => value.as_array().is_some_and(|names| unique(names) && all_strings(names, |_| true)),
        "enum" | "examples" => value.is_array(),
        "title" | "description" | "$schema" | "$id" | "$ref" | "$anchor" | "$comment" | "format"
        | "pattern" | "contentEncoding" | "contentMediaType" => value.is_string(),
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => value.is_number(),
        "multipleOf" => value.as_f64().is_some_and(|number| number > 0.0),
        "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties"
        | "minContains" | "maxContains" => {
            value.as_f64().is_some_and(|number| number >= 0.0 && number.fract() == 0.0)
        }
        "uniqueItems" | "deprecated" | "readOnly" | "writeOnly" => value.is_boolean(),
        _ => true,
    }
}

fn is_type(name: &str) -> bool {
    matches!(name, "null" | "boolean" | "object" | "array" | "number" | "string" | "integer")
}

fn all_strings(values: &[Value], fits: impl Fn(&str) -> bool) -> bool {
    values.iter().all(|value| value.as_str().is_some_and(&fits))
}

/// Whether no string is there twice.
fn unique(values: &[Value]) -> bool {
    let mut seen = std::collections::HashSet::new();
    values.iter().filter_map(Value::as_str).all(|value| seen.insert(value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn schemas_that_the_api_takes() {
        for fields in [
            json!({}),
            json!({"$schema": "https://json-schema.org/draft/2020-12/schema", "additionalProperties": false}),
            json!({"properties": {"a": {"type": ["string", "null"], "enum": ["x", null], "default": 3}}, "required": ["a"]}),
            json!({"properties": {"a.b-c": true, "d": {"anyOf": [{"type": "string"}, {"$ref": "#/$defs/e"}]}}}),
            json!({"properties": {"type": {"type": "string"}, "required": {"type": "boolean"}}}),
            json!({"properties": {"list": {"type": "array", "items": {"type": "object"}, "minItems": 1}}}),
            json!({"properties": null, "required": null}),
            json!({"x-own": 1, "title": "T", "description": "d"}),
        ] {
            assert_eq!(verdict(&fields), Ok(()), "{fields}");
        }
    }

    #[test]
    fn schemas_that_it_refuses() {
        let key = ".properties: Property keys should match pattern";
        let combined = ": input_schema does not support oneOf, allOf, or anyOf at the top level";
        let invalid = ": JSON schema is invalid.";
        for (fields, expected) in [
            (json!({"properties": {"a": {"type": "text"}}}), invalid),
            (json!({"properties": {"a": {"type": []}}}), invalid),
            (json!({"properties": {"a": "string"}}), invalid),
            (json!({"properties": ["a"]}), invalid),
            (json!({"required": "a"}), invalid),
            (json!({"required": ["a", "a"]}), invalid),
            (json!({"required": [1]}), invalid),
            (json!({"properties": {"a": {"properties": {"b": {"items": 3}}}}}), invalid),
            (json!({"properties": {"a": {"enum": "x"}}}), invalid),
            (json!({"properties": {"a": {"minLength": -1}}}), invalid),
            (json!({"properties": {"a": {"anyOf": []}}}), invalid),
            (json!({"additionalProperties": "no"}), invalid),
            (json!({"description": 1}), invalid),
            (json!({"anyOf": [{"type": "object"}]}), combined),
            (json!({"oneOf": []}), combined),
            (json!({"properties": {"a b": {}}}), key),
            (json!({"properties": {"": {}}}), key),
            (json!({"properties": {"x".repeat(65): {}}}), key),
        ] {
            let answer = verdict(&fields).unwrap_err();
            assert!(answer.starts_with(expected), "{fields}\n  said: {answer}");
        }
    }

    fn verdict(fields: &Value) -> Result<(), String> {
        let mut schema = fields.clone();
        schema["type"] = "object".into();
        check(&schema)
    }
}
