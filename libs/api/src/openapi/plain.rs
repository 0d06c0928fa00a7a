//! Makes the document one that generators of clients understand: texts are texts rather than types
//! of their own, and constants have names that are unlike any other.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use utoipa::openapi::{
    Object, OpenApi, Ref, RefOr, Schema,
    path::Operation,
    schema::{ArrayItems, OneOf, SchemaType, Type},
};

use super::common::operations;

/// Texts that have a name in the code, such as ids.
type Texts = BTreeMap<String, Object>;

const SCHEMAS: &str = "#/components/schemas/";

pub(super) fn simplify(document: &mut OpenApi) {
    let schemas = &mut document.components.get_or_insert_default().schemas;
    let mut texts = Texts::new();
    schemas.retain(|name, schema| match schema {
        RefOr::T(Schema::Object(object)) if is_plain(object) => {
            texts.insert(name.clone(), object.clone());
            false
        }
        _ => true,
    });
    for (name, schema) in schemas.iter_mut() {
        if let RefOr::T(Schema::Object(object)) = schema {
            name_constants(name, object);
        }
        inline(schema, &texts);
    }
    for item in document.paths.paths.values_mut() {
        for (_, operation) in operations(item) {
            of_operation(operation, &mut |schema| inline(schema, &texts));
        }
    }
}

/// A text that may be anything of its form, no choice of a few; or bytes, which have no schema.
fn is_plain(object: &Object) -> bool {
    let is_text = object.schema_type == SchemaType::Type(Type::String);
    object.schema_type == SchemaType::AnyValue || is_text && object.enum_values.is_none()
}

/// Generators give constants the names of their values, and two types may have one in common.
fn name_constants(name: &str, object: &mut Object) {
    let Some(values) = &object.enum_values else { return };
    let name = upper_snake(name);
    let texts = values.iter().filter_map(Value::as_str);
    let names = texts.map(|text| format!("{name}_{}", upper_snake(text)));
    let names = json!(names.collect::<Vec<_>>());
    object.extensions.get_or_insert_default().insert("x-enum-varnames".to_owned(), names);
}

/// `WEBHOOK_EVENT` of `WebhookEvent`, `MESSAGE_RECEIVED` of `message.received`.
fn upper_snake(text: &str) -> String {
    let mut name = String::new();
    for letter in text.chars() {
        if letter.is_ascii_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.push(if letter.is_alphanumeric() { letter.to_ascii_uppercase() } else { '_' });
    }
    name
}

fn of_operation(operation: &mut Operation, change: &mut impl FnMut(&mut RefOr<Schema>)) {
    for parameter in operation.parameters.iter_mut().flatten() {
        let RefOr::T(parameter) = parameter else { continue };
        parameter.schema.iter_mut().for_each(&mut *change);
        if let Some(RefOr::T(Schema::Object(object))) = &mut parameter.schema {
            name_constants(&parameter.name, object);
        }
    }
    if let Some(RefOr::T(body)) = &mut operation.request_body {
        body.content.values_mut().for_each(|content| of_content(content, change));
    }
    for response in operation.responses.responses.values_mut() {
        if let RefOr::T(response) = response {
            response.content.values_mut().for_each(|content| of_content(content, change));
        }
    }
}

fn of_content(
    content: &mut RefOr<utoipa::openapi::Content>,
    change: &mut impl FnMut(&mut RefOr<Schema>),
) {
    if let RefOr::T(content) = content {
        content.schema.iter_mut().for_each(change);
    }
}

/// Puts texts where references to them are, at any depth.
fn inline(schema: &mut RefOr<Schema>, texts: &Texts) {
    match schema {
        RefOr::Ref(reference) => {
            if let Some(object) = text_of(reference, texts) {
                *schema = RefOr::T(Schema::Object(object));
            }
        }
        RefOr::T(Schema::Object(object)) => {
            object.properties.values_mut().for_each(|property| inline(property, texts));
        }
        RefOr::T(Schema::Array(array)) => {
            if let ArrayItems::RefOrSchema(item) = &mut array.items {
                inline(item, texts);
            }
        }
        RefOr::T(Schema::OneOf(choice)) => {
            if let Some(object) = nullable(choice, texts) {
                *schema = RefOr::T(Schema::Object(object));
            }
        }
        RefOr::T(_) => {}
    }
}

/// The text that is referred to, in the words of who refers to it.
fn text_of(reference: &Ref, texts: &Texts) -> Option<Object> {
    let mut object = texts.get(reference.ref_location.strip_prefix(SCHEMAS)?)?.clone();
    if !reference.description.is_empty() {
        object.description = Some(reference.description.clone());
    }
    Some(object)
}

/// `oneOf` between `null` and a text, as a text that may be null.
fn nullable(choice: &OneOf, texts: &Texts) -> Option<Object> {
    let text = |item: &RefOr<Schema>| match item {
        RefOr::Ref(reference) => text_of(reference, texts),
        RefOr::T(_) => None,
    };
    let mut object = choice.items.iter().find_map(text)?;
    object.schema_type = SchemaType::Array(vec![Type::String, Type::Null]);
    if choice.description.is_some() {
        object.description.clone_from(&choice.description);
    }
    if choice.example.is_some() {
        object.examples = Vec::new();
        object.example.clone_from(&choice.example);
    }
    Some(object)
}
