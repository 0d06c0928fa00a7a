//! One operation: what it takes, and who may ask for it.

use std::sync::Arc;

use serde_json::{Map, Value};
use trapline_app::Issue;
use utoipa::openapi::{
    RefOr, Required,
    path::{Operation as Described, Parameter, ParameterIn},
    request_body::RequestBody,
    security::SecurityRequirement,
};

use super::{
    Field, Rule, RuleKind, UnsupportedSchema,
    compile::{Parts, compile},
    issue,
};

/// What an operation takes.
#[derive(Debug)]
pub(crate) struct Operation {
    fields: Vec<Field>,
    pub(super) body: Option<Rule>,
    pub(super) callers: AllowedCallers,
}

/// Who may call an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AllowedCallers {
    /// Everybody, or whoever comes in another way than by a key or a session.
    Everybody,
    /// Whoever has an API key or is signed in.
    Callers,
    /// Whoever is signed in.
    People,
}

/// What a request was found to carry, for the extractors of its handler.
#[derive(Debug, Clone)]
pub(in crate::extract) struct CheckedRequest {
    pub operation: Arc<Operation>,
    /// The query, as its parameters' types.
    pub query: Map<String, Value>,
}

impl Operation {
    pub(super) fn of(described: &Described, parts: &Parts) -> Result<Self, UnsupportedSchema> {
        let fields = described.parameters.iter().flatten().filter_map(|it| field(it, parts));
        let body = described.request_body.as_ref().map(|body| of_body(body, parts));
        Ok(Self {
            fields: fields.collect::<Result<_, _>>()?,
            body: body.transpose()?,
            callers: callers(described),
        })
    }

    /// The rule of its body. An operation without one has no handler that asks.
    pub(in crate::extract) fn body(&self) -> Option<&Rule> {
        self.body.as_ref()
    }

    /// The parameters of a query string, and what is wrong with them.
    pub(in crate::extract) fn read(&self, query: &str) -> (Map<String, Value>, Vec<Issue>) {
        let (mut members, mut issues, mut repeated) = (Map::new(), Vec::new(), Vec::new());
        for (name, text) in form_urlencoded::parse(query.as_bytes()) {
            let Some(field) = self.fields.iter().find(|field| field.name == name) else {
                issues.push(issue(&name, "unknown", "is not known here"));
                continue;
            };
            if members.insert(field.name.clone(), field.rule.of_text(&text)).is_some() {
                repeated.push(issue(&name, "repeated", "is given more than once"));
            }
        }
        let mut found = Vec::new();
        super::check::check_fields(&self.fields, &mut members, "", &mut found);
        found.append(&mut issues);
        found.append(&mut repeated);
        (members, found)
    }
}

impl Rule {
    /// The value that a parameter's text stands for; itself where it stands for none.
    fn of_text(&self, text: &str) -> Value {
        match (&self.kind, text) {
            (RuleKind::Integer { .. }, text) => {
                text.parse::<i64>().map_or(text.into(), Value::from)
            }
            (RuleKind::Boolean, "true" | "1") => true.into(),
            (RuleKind::Boolean, "false" | "0") => false.into(),
            (_, text) => text.into(),
        }
    }
}

fn field(parameter: &RefOr<Parameter>, parts: &Parts) -> Option<Result<Field, UnsupportedSchema>> {
    let RefOr::T(parameter) = parameter else {
        return Some(Err(UnsupportedSchema("a parameter is a reference".to_owned())));
    };
    let Parameter { name, required, schema, parameter_in, .. } = parameter;
    if *parameter_in != ParameterIn::Query {
        return None;
    }
    let Some(schema) = schema else {
        return Some(Err(UnsupportedSchema(format!("the parameter {name} has no schema"))));
    };
    let required = *required == Required::True;
    Some(compile(schema, parts).map(|rule| Field { name: name.clone(), required, rule }))
}

fn of_body(body: &RefOr<RequestBody>, parts: &Parts) -> Result<Rule, UnsupportedSchema> {
    let RefOr::T(body) = body else {
        return Err(UnsupportedSchema("a body is a reference".to_owned()));
    };
    let content = body.content.get("application/json").filter(|_| body.content.len() == 1);
    let Some(RefOr::T(content)) = content.filter(|_| body.required == Some(Required::True)) else {
        return Err(UnsupportedSchema("a body is not JSON alone, and required".to_owned()));
    };
    let schema = content.schema.as_ref();
    compile(schema.ok_or_else(|| UnsupportedSchema("a body has no schema".to_owned()))?, parts)
}

/// Who may call an operation. One without a security requirement of its own has the document's.
fn callers(described: &Described) -> AllowedCallers {
    let [key, session] = ["apiKey", "session"].map(|name| SecurityRequirement::new(name, [""; 0]));
    match described.security.as_deref() {
        None => AllowedCallers::Callers,
        Some(ways) if ways == [session.clone()] => AllowedCallers::People,
        Some(ways) if ways == [key.clone()] || ways == [key, session] => AllowedCallers::Callers,
        Some(_) => AllowedCallers::Everybody,
    }
}
