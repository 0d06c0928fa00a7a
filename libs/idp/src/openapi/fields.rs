//! Fields by name, as the standards give them: parameters of a query, and members of a form or of an answer.

use utoipa::openapi::{
    RefOr, Required, Schema,
    path::{Parameter, ParameterBuilder, ParameterIn},
    schema::{AdditionalProperties, ArrayBuilder, Object, ObjectBuilder, Type},
};

/// What a field holds.
#[derive(Debug, Clone, Copy)]
pub(super) enum FieldKind {
    Text,
    /// One of these texts.
    OneOf(&'static [&'static str]),
    Integer,
    Boolean,
    /// Texts in a list.
    Texts,
    /// Objects in a list.
    Objects,
}

/// A field, and what is to be said of it in Markdown.
#[derive(Debug, Clone, Copy)]
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) kind: FieldKind,
    pub(super) is_required: bool,
    pub(super) description: &'static str,
}

impl Field {
    /// A text that may be left out.
    pub(super) const fn text(name: &'static str, description: &'static str) -> Self {
        Self { name, kind: FieldKind::Text, is_required: false, description }
    }

    /// The same field with other contents.
    pub(super) const fn of(self, kind: FieldKind) -> Self {
        Self { kind, ..self }
    }

    /// The same field, which must be there.
    pub(super) const fn required(self) -> Self {
        Self { is_required: true, ..self }
    }

    fn object(&self) -> ObjectBuilder {
        let object = ObjectBuilder::new().description(Some(self.description));
        match self.kind {
            FieldKind::OneOf(texts) => {
                object.schema_type(Type::String).enum_values(Some(texts.iter().copied()))
            }
            FieldKind::Integer => object.schema_type(Type::Integer),
            FieldKind::Boolean => object.schema_type(Type::Boolean),
            FieldKind::Text | FieldKind::Texts | FieldKind::Objects => {
                object.schema_type(Type::String)
            }
        }
    }

    fn schema(&self) -> RefOr<Schema> {
        let items: Object = match self.kind {
            FieldKind::Texts => ObjectBuilder::new().schema_type(Type::String).build(),
            FieldKind::Objects => any_object(),
            _ => return self.object().into(),
        };
        ArrayBuilder::new().description(Some(self.description)).items(items).into()
    }

    fn parameter(&self) -> Parameter {
        let required = if self.is_required { Required::True } else { Required::False };
        ParameterBuilder::new()
            .name(self.name)
            .parameter_in(ParameterIn::Query)
            .required(required)
            .description(Some(self.description))
            .schema(Some(self.schema()))
            .build()
    }
}

fn any_object() -> Object {
    let members = AdditionalProperties::FreeForm(true);
    ObjectBuilder::new().schema_type(Type::Object).additional_properties(Some(members)).build()
}

/// Fields as parameters of a query.
pub(super) fn parameters(fields: &[Field]) -> Vec<Parameter> {
    fields.iter().map(Field::parameter).collect()
}

/// Fields as members of an object, which may have others: the standards have clients and providers leave alone
/// what they do not know.
pub(super) fn object(fields: &[Field], description: &str) -> RefOr<Schema> {
    let object = ObjectBuilder::new().schema_type(Type::Object).description(Some(description));
    let object = fields.iter().fold(object, |object, field| {
        let object = object.property(field.name, field.schema());
        if field.is_required { object.required(field.name) } else { object }
    });
    object.into()
}

/// Gives tables of fields the types by which attributes of handlers name them.
macro_rules! described {
    ($($(#[doc = $description:literal])+ $name:ident = $fields:expr;)+) => {$(
        $(#[doc = $description])+
        pub(crate) struct $name;

        impl utoipa::PartialSchema for $name {
            fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
                $crate::openapi::fields::object(&$fields, concat!($($description),+).trim())
            }
        }

        impl utoipa::ToSchema for $name {}

        impl utoipa::IntoParams for $name {
            fn into_params(
                _place: impl Fn() -> Option<utoipa::openapi::path::ParameterIn>,
            ) -> Vec<utoipa::openapi::path::Parameter> {
                $crate::openapi::fields::parameters(&$fields)
            }
        }
    )+};
}
pub(super) use described;
