//! From a schema of the document to a rule.

use regex::Regex;
use utoipa::{
    IntoParams, Number, PartialSchema, ToSchema,
    openapi::{
        Array, Object, Ref, RefOr, Required, Schema,
        path::ParameterIn,
        schema::{AdditionalProperties, ArrayItems, OneOf, SchemaType, Type},
    },
};

use super::{Field, Kind, Rule, Text};

/// Schemas by the names that references use.
type Parts = [(String, RefOr<Schema>)];

const ANY: Rule = Rule { kind: Kind::Any, nullable: true };

impl Rule {
    /// The rule of a request body.
    pub(in crate::extract) fn of_body<T: ToSchema>() -> Self {
        let mut parts = Vec::new();
        T::schemas(&mut parts);
        compile(&<T as PartialSchema>::schema(), &parts)
    }

    /// The rule of a query string.
    pub(in crate::extract) fn of_query<T: IntoParams>() -> Self {
        let params = T::into_params(|| Some(ParameterIn::Query));
        let fields = params.into_iter().map(|param| Field {
            name: param.name,
            required: param.required == Required::True,
            rule: param.schema.map_or(ANY, |schema| compile(&schema, &[])),
        });
        Self { kind: Kind::Object { fields: fields.collect(), closed: true }, nullable: false }
    }
}

fn compile(schema: &RefOr<Schema>, parts: &Parts) -> Rule {
    match schema {
        RefOr::Ref(to) => referred(to, parts),
        RefOr::T(Schema::Object(object)) => of_object(object, parts),
        RefOr::T(Schema::OneOf(choice)) => of_choice(choice, parts),
        RefOr::T(Schema::Array(array)) => of_array(array, parts),
        RefOr::T(_) => ANY,
    }
}

fn referred(to: &Ref, parts: &Parts) -> Rule {
    let name = to.ref_location.rsplit('/').next().unwrap_or_default();
    let part = parts.iter().find(|(known, _)| known == name);
    part.map_or(ANY, |(_, schema)| compile(schema, parts))
}

/// `oneOf` with `null` is how the document writes a nullable reference.
fn of_choice(choice: &OneOf, parts: &Parts) -> Rule {
    let (nulls, others): (Vec<_>, Vec<_>) = choice.items.iter().partition(|item| is_null(item));
    match others.as_slice() {
        [only] => Rule { nullable: !nulls.is_empty(), ..compile(only, parts) },
        _ => ANY,
    }
}

fn of_array(array: &Array, parts: &Parts) -> Rule {
    let item = match &array.items {
        ArrayItems::RefOrSchema(schema) => compile(schema, parts),
        ArrayItems::False => ANY,
    };
    let min = array.min_items.unwrap_or(0);
    let max = array.max_items.unwrap_or(usize::MAX);
    let nullable =
        matches!(&array.schema_type, SchemaType::Array(kinds) if kinds.contains(&Type::Null));
    Rule { kind: Kind::Array { item: Box::new(item), min, max }, nullable }
}

fn is_null(schema: &RefOr<Schema>) -> bool {
    let null = SchemaType::Type(Type::Null);
    matches!(schema, RefOr::T(Schema::Object(object)) if object.schema_type == null)
}

fn of_object(object: &Object, parts: &Parts) -> Rule {
    let (kind, nullable) = match &object.schema_type {
        SchemaType::Type(kind) => (Some(kind), false),
        SchemaType::Array(kinds) => {
            (kinds.iter().find(|kind| **kind != Type::Null), kinds.contains(&Type::Null))
        }
        SchemaType::AnyValue => return ANY,
    };
    let kind = match kind {
        Some(Type::String) => Kind::Text(text(object)),
        Some(Type::Integer) => Kind::Integer {
            min: object.minimum.as_ref().map_or(i64::MIN, whole),
            max: object.maximum.as_ref().map_or(i64::MAX, whole),
        },
        Some(Type::Boolean) => Kind::Boolean,
        Some(Type::Object) => fields(object, parts),
        _ => Kind::Any,
    };
    Rule { kind, nullable }
}

fn text(object: &Object) -> Text {
    let one_of = object.enum_values.iter().flatten();
    Text {
        min: object.min_length.unwrap_or(0),
        max: object.max_length.unwrap_or(usize::MAX),
        pattern: object.pattern.as_deref().and_then(|pattern| Regex::new(pattern).ok()),
        one_of: one_of.filter_map(|value| Some(value.as_str()?.to_owned())).collect(),
    }
}

fn fields(object: &Object, parts: &Parts) -> Kind {
    let fields = object.properties.iter().map(|(name, schema)| Field {
        name: name.clone(),
        required: object.required.contains(name),
        rule: compile(schema, parts),
    });
    let closed = object.additional_properties.as_deref();
    let closed = matches!(closed, Some(AdditionalProperties::FreeForm(false)));
    Kind::Object { fields: fields.collect(), closed }
}

fn whole(number: &Number) -> i64 {
    match number {
        Number::Int(number) => i64::try_from(*number).unwrap_or(i64::MAX),
        Number::UInt(number) => i64::try_from(*number).unwrap_or(i64::MAX),
        #[expect(clippy::cast_possible_truncation, reason = "bounds of integers are whole")]
        Number::Float(number) => *number as i64,
    }
}
