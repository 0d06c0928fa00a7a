//! From a schema of the document to a rule. A word that is not understood is an error: what is not
//! checked must not look as if it were.

use std::collections::BTreeMap;

use regex::Regex;
use utoipa::{
    Number,
    openapi::{
        Array, KnownFormat, Object, RefOr, Schema, SchemaFormat,
        schema::{AdditionalProperties, ArrayItems, OneOf, SchemaType, Type},
    },
};

use super::{Field, Format, Rule, RuleKind, Text, UnsupportedSchema};

/// Schemas by the names that references use.
pub(super) type Parts = BTreeMap<String, RefOr<Schema>>;

/// Deeper than any input is, and a bound for schemas that contain themselves.
const MAX_DEPTH: usize = 8;

pub(super) fn compile(schema: &RefOr<Schema>, parts: &Parts) -> Result<Rule, UnsupportedSchema> {
    Compiler { parts, depth: 0 }.rule(schema)
}

#[derive(Clone, Copy)]
struct Compiler<'a> {
    parts: &'a Parts,
    depth: usize,
}

fn unsupported<T>(what: impl Into<String>) -> Result<T, UnsupportedSchema> {
    Err(UnsupportedSchema(what.into()))
}

impl Compiler<'_> {
    fn rule(mut self, schema: &RefOr<Schema>) -> Result<Rule, UnsupportedSchema> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return unsupported("a schema is too deep, or contains itself");
        }
        match schema {
            RefOr::Ref(to) => self.referred(&to.ref_location),
            RefOr::T(Schema::Object(object)) => self.of_object(object),
            RefOr::T(Schema::OneOf(choice)) => self.of_choice(choice),
            RefOr::T(Schema::Array(array)) => self.of_array(array),
            RefOr::T(Schema::AllOf(_)) => unsupported("allOf is not checked"),
            RefOr::T(Schema::AnyOf(_)) => unsupported("anyOf is not checked"),
            RefOr::T(_) => unsupported("a kind of schema is not checked"),
        }
    }

    fn referred(self, to: &str) -> Result<Rule, UnsupportedSchema> {
        let name = to.strip_prefix("#/components/schemas/").unwrap_or_default();
        match self.parts.get(name) {
            Some(schema) => self.rule(schema),
            None => unsupported(format!("{to} leads nowhere")),
        }
    }

    /// `oneOf` with `null` is how the document writes a nullable reference.
    fn of_choice(self, choice: &OneOf) -> Result<Rule, UnsupportedSchema> {
        let (nulls, others): (Vec<_>, Vec<_>) = choice.items.iter().partition(|item| is_null(item));
        match (nulls.as_slice(), others.as_slice()) {
            ([_], [only]) => Ok(Rule { nullable: true, ..self.rule(only)? }),
            _ => unsupported("oneOf is checked only between null and something"),
        }
    }

    fn of_array(self, array: &Array) -> Result<Rule, UnsupportedSchema> {
        let ArrayItems::RefOrSchema(item) = &array.items else {
            return unsupported("the items of an array have no schema");
        };
        if array.unique_items || !array.prefix_items.is_empty() {
            return unsupported("an array has a keyword that is not checked");
        }
        let Some(max) = array.max_items else { return unsupported("an array has no bound") };
        let nullable =
            matches!(&array.schema_type, SchemaType::Array(kinds) if kinds.contains(&Type::Null));
        let item = Box::new(self.rule(item)?);
        let kind = RuleKind::Array { item, min: array.min_items.unwrap_or(0), max };
        Ok(Rule { kind, nullable })
    }

    fn of_object(self, object: &Object) -> Result<Rule, UnsupportedSchema> {
        let kinds = match &object.schema_type {
            SchemaType::Type(kind) => std::slice::from_ref(kind),
            SchemaType::Array(kinds) => kinds,
            SchemaType::AnyValue => &[],
        };
        let (nulls, kinds): (Vec<_>, Vec<_>) = kinds.iter().partition(|kind| **kind == Type::Null);
        if unchecked(object) {
            return unsupported("a schema has a keyword that is not checked");
        }
        let kind = match kinds.as_slice() {
            [Type::String] => RuleKind::Text(text(object)?),
            [Type::Integer] => integer(object),
            [Type::Boolean] => RuleKind::Boolean,
            [Type::Object] if is_any(object) => RuleKind::AnyObject,
            [Type::Object] => RuleKind::Object(self.fields(object)?),
            other => {
                return unsupported(format!("a type is one of {} that are checked", other.len()));
            }
        };
        Ok(Rule { kind, nullable: !nulls.is_empty() })
    }

    fn fields(self, object: &Object) -> Result<Vec<Field>, UnsupportedSchema> {
        let rest = object.additional_properties.as_deref();
        if !matches!(rest, Some(AdditionalProperties::FreeForm(false))) {
            return unsupported("an object takes fields that nobody reads");
        }
        let field = |(name, schema): (&String, _)| {
            let required = object.required.contains(name);
            Ok(Field { name: name.clone(), required, rule: self.rule(schema)? })
        };
        object.properties.iter().map(field).collect()
    }
}
fn is_null(schema: &RefOr<Schema>) -> bool {
    let null = SchemaType::Type(Type::Null);
    matches!(schema, RefOr::T(Schema::Object(object)) if object.schema_type == null)
}

/// Whether it says that its fields are anybody's.
fn is_any(object: &Object) -> bool {
    let rest = object.additional_properties.as_deref();
    object.properties.is_empty() && matches!(rest, Some(AdditionalProperties::FreeForm(true)))
}

/// Whether the schema has a keyword beside those that become a part of its rule.
fn unchecked(object: &Object) -> bool {
    object.multiple_of.is_some()
        || object.exclusive_maximum.is_some()
        || object.exclusive_minimum.is_some()
        || object.min_properties.is_some()
        || object.max_properties.is_some()
        || object.property_names.is_some()
        || object.content_schema.is_some()
        || !object.content_encoding.is_empty()
}

fn integer(object: &Object) -> RuleKind {
    RuleKind::Integer {
        min: object.minimum.as_ref().map_or(i64::MIN, whole),
        max: object.maximum.as_ref().map_or(i64::MAX, whole),
    }
}

fn text(object: &Object) -> Result<Text, UnsupportedSchema> {
    let pattern = object.pattern.as_deref().map(Regex::new).transpose();
    let texts = object.enum_values.iter().flatten().filter(|value| !value.is_null());
    let texts = texts.map(|value| value.as_str().map(str::to_owned)).collect::<Option<_>>();
    Ok(Text {
        min: object.min_length.unwrap_or(0),
        max: object.max_length.unwrap_or(usize::MAX),
        pattern: pattern
            .map_err(|error| UnsupportedSchema(format!("a pattern is none: {error}")))?,
        format: object.format.as_ref().map(format).transpose()?,
        one_of: texts
            .ok_or_else(|| UnsupportedSchema("a text is one of something else".to_owned()))?,
    })
}

fn format(format: &SchemaFormat) -> Result<Format, UnsupportedSchema> {
    match format {
        SchemaFormat::KnownFormat(KnownFormat::DateTime) => Ok(Format::DateTime),
        _ => unsupported("a format is not checked"),
    }
}

fn whole(number: &Number) -> i64 {
    match number {
        Number::Int(number) => i64::try_from(*number).unwrap_or(i64::MAX),
        Number::UInt(number) => i64::try_from(*number).unwrap_or(i64::MAX),
        #[expect(clippy::cast_possible_truncation, reason = "bounds of integers are whole")]
        Number::Float(number) => *number as i64,
    }
}

#[cfg(test)]
mod tests;
