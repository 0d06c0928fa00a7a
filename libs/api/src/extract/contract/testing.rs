//! Operations for tests, made from types.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use utoipa::openapi::{
    ContentBuilder, Required,
    path::{OperationBuilder, ParameterIn},
    request_body::RequestBodyBuilder,
};

use super::{CheckedRequest, compile::Parts, operation::Operation};

/// An operation that takes this query.
pub(in crate::extract) fn query_of<T: utoipa::IntoParams>() -> Operation {
    let parameters = T::into_params(|| Some(ParameterIn::Query));
    let described =
        parameters.into_iter().fold(OperationBuilder::new(), OperationBuilder::parameter);
    Operation::of(&described.build(), &Parts::new()).unwrap()
}

/// An operation that takes this body.
pub(in crate::extract) fn body_of<T: utoipa::ToSchema>() -> Operation {
    let mut parts = Vec::new();
    T::schemas(&mut parts);
    let content = ContentBuilder::new().schema(Some(T::schema())).build();
    let body = RequestBodyBuilder::new().content("application/json", content);
    let body = body.required(Some(Required::True)).build();
    let described = OperationBuilder::new().request_body(Some(body)).build();
    Operation::of(&described, &parts.into_iter().collect()).unwrap()
}

/// What a handler of this operation finds, after a good request.
pub(in crate::extract) fn taken(operation: Operation, query: &str) -> CheckedRequest {
    let (query, issues) = operation.read(query);
    assert_eq!(issues, []);
    CheckedRequest { operation: Arc::new(operation), query }
}
