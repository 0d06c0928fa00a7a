#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use serde_json::Map;
use utoipa::openapi::{
    AllOfBuilder, ArrayBuilder, ContentBuilder, ObjectBuilder, OneOfBuilder, Ref, Required,
    path::{OperationBuilder, ParameterIn},
    request_body::RequestBodyBuilder,
    schema::AnyOfBuilder,
};

use super::{super::operation::Operation, *};

fn texts() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::String)
}

fn schema(object: ObjectBuilder) -> RefOr<Schema> {
    object.into()
}

fn closed() -> ObjectBuilder {
    ObjectBuilder::new()
        .schema_type(Type::Object)
        .additional_properties(Some(AdditionalProperties::FreeForm(false)))
}

/// What a rule would let pass, there is no rule of.
#[test]
fn what_is_not_checked_makes_no_rule() {
    let two = SchemaType::Array(vec![Type::String, Type::Integer]);
    let null = || ObjectBuilder::new().schema_type(Type::Null);
    let number = || ObjectBuilder::new().schema_type(Type::Number);
    let in_itself = closed().property("again", Ref::from_schema_name("Again"));
    let parts = BTreeMap::from([("Again".to_owned(), schema(in_itself))]);
    let cases: Vec<(&str, RefOr<Schema>)> = vec![
        ("allOf", AllOfBuilder::new().item(texts()).into()),
        ("anyOf", AnyOfBuilder::new().item(texts()).into()),
        ("leads nowhere", Ref::from_schema_name("Missing").into()),
        ("leads nowhere", Ref::new("#/components/responses/Again").into()),
        ("contains itself", Ref::from_schema_name("Again").into()),
        ("a pattern is none", schema(texts().pattern(Some("(")))),
        ("a pattern is none", schema(texts().pattern(Some("(?=a)")))),
        ("oneOf", OneOfBuilder::new().item(texts()).item(number()).into()),
        ("oneOf", OneOfBuilder::new().item(null()).into()),
        ("type", schema(ObjectBuilder::new().schema_type(SchemaType::AnyValue))),
        ("type", schema(ObjectBuilder::new().schema_type(two))),
        ("type", schema(number())),
        ("format", schema(texts().format(Some(SchemaFormat::KnownFormat(KnownFormat::Email))))),
        ("one of something", schema(texts().enum_values(Some([1])))),
        ("keyword", schema(texts().exclusive_minimum(Some(1.0)))),
        ("fields that nobody", schema(ObjectBuilder::new().schema_type(Type::Object))),
        ("no bound", ArrayBuilder::new().items(texts()).into()),
        ("anyOf", schema(closed().property("in", AnyOfBuilder::new().item(texts())))),
    ];
    for (what, schema) in cases {
        let Err(UnsupportedSchema(told)) = compile(&schema, &parts) else {
            panic!("{what} made a rule")
        };
        assert!(told.contains(what), "{what}: {told}");
    }
}

#[test]
fn a_parameter_or_a_body_that_is_not_checked_makes_no_operation() {
    let text = || ContentBuilder::new().schema(Some(schema(texts()))).build();
    let required = || RequestBodyBuilder::new().required(Some(Required::True));
    let bodies = [
        required().content("text/plain", text()),
        required().content("application/json", ContentBuilder::new().build()),
        required().content("application/json", text()).content("text/plain", text()),
        RequestBodyBuilder::new().content("application/json", text()),
    ];
    for body in bodies {
        let described = OperationBuilder::new().request_body(Some(body.build())).build();
        assert!(Operation::of(&described, &Parts::new()).is_err());
    }
    let bare = utoipa::openapi::path::ParameterBuilder::new();
    let bare = bare.name("q").parameter_in(ParameterIn::Query).build();
    let described = OperationBuilder::new().parameter(bare).build();
    assert!(Operation::of(&described, &Parts::new()).is_err());
}

#[test]
fn an_operation_without_a_query_takes_none() {
    let operation = Operation::of(&OperationBuilder::new().build(), &Parts::new()).unwrap();
    assert_eq!(operation.read(""), (Map::new(), Vec::new()));
    assert_eq!(operation.read("&").1, []);
    assert_eq!(operation.read("a=1").1.len(), 1);
}
