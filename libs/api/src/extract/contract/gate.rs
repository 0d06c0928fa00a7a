//! The one place through which every request passes on its way to a handler.

use std::{collections::HashMap, sync::Arc, time::Duration};

use axum::{
    body::{Body, HttpBody, to_bytes},
    extract::{MatchedPath, Request},
    http::Method,
};
use serde_json::{Map, Value};
use tokio::time::timeout;
use trapline_app::Error as AppError;
use utoipa::openapi::{OpenApi, PathItem};

use super::{
    UnsupportedSchema, issue,
    operation::{AllowedCallers, CheckedRequest, Operation},
};
use crate::{
    auth,
    error::{Error, Result},
    layers::{Next, ResponseFuture, immediate},
};

/// Bytes at most of a body that counts as empty.
const MAX_EMPTY_BODY: usize = 64;
/// How long a request's body may take; less than its answer may.
pub(crate) const BODY_TIMEOUT: Duration = Duration::from_secs(20);

/// What every operation takes.
#[derive(Debug)]
pub(crate) struct Contract(HashMap<String, Vec<(Method, Arc<Operation>)>>);

impl Contract {
    /// The contract that the document describes.
    ///
    /// # Panics
    ///
    /// When the document says something that is not checked: a service that would let it pass must
    /// not start.
    #[expect(clippy::panic, reason = "a fault of ours, which every test of the router shows")]
    pub(crate) fn of(document: &OpenApi) -> Self {
        Self::new(document)
            .unwrap_or_else(|UnsupportedSchema(what)| panic!("the API's document: {what}"))
    }

    fn new(document: &OpenApi) -> Result<Self, UnsupportedSchema> {
        let none = std::collections::BTreeMap::new();
        let parts = document.components.as_ref().map_or(&none, |parts| &parts.schemas);
        let mut paths = HashMap::new();
        for (path, item) in &document.paths.paths {
            let mut operations = Vec::new();
            for (method, described) in described(item) {
                let operation =
                    Operation::of(described, parts).map_err(|UnsupportedSchema(what)| {
                        UnsupportedSchema(format!("{method} {path}: {what}"))
                    })?;
                operations.push((method, Arc::new(operation)));
            }
            paths.insert(path.clone(), operations);
        }
        Ok(Self(paths))
    }

    /// Every path that it describes.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    fn find(&self, request: &Request) -> Option<Arc<Operation>> {
        let path = request.extensions().get::<MatchedPath>()?;
        let method = if request.method() == Method::HEAD { &Method::GET } else { request.method() };
        let mut operations = self.0.get(path.as_str())?.iter();
        operations.find(|(known, _)| known == method).map(|(_, operation)| operation.clone())
    }
}

fn described(item: &PathItem) -> impl Iterator<Item = (Method, &utoipa::openapi::path::Operation)> {
    [
        (Method::GET, &item.get),
        (Method::POST, &item.post),
        (Method::PUT, &item.put),
        (Method::PATCH, &item.patch),
        (Method::DELETE, &item.delete),
    ]
    .into_iter()
    .filter_map(|(method, operation)| Some((method, operation.as_ref()?)))
}

/// Enforces the contract: unknown or repeated parameters, values against their rules and a body that
/// nobody reads are refused. Extractors find what was checked.
pub(crate) fn enforce(contract: Arc<Contract>) -> impl Fn(Request, Next) -> ResponseFuture + Clone {
    move |request, next| {
        // The path may not take this method, which the router says.
        let Some(operation) = contract.find(&request) else { return next.run(request) };
        let examined = Box::pin(examine(operation, request));
        Box::pin(async move {
            let work = match examined.await {
                Ok(request) => next.run(request),
                Err(error) => immediate(error),
            };
            work.await
        })
    }
}

async fn examine(operation: Arc<Operation>, request: Request) -> Result<Request> {
    let (mut parts, mut body) = request.into_parts();
    let (query, mut issues) = operation.read(parts.uri.query().unwrap_or_default());
    if operation.body.is_none() {
        if !is_empty_body(body).await? {
            issues.push(issue("", "unexpected_body", "is a body, and this operation takes none"));
        }
        body = Body::empty();
    }
    if !issues.is_empty() {
        // Whoever may not do it at all is told that, and no more.
        match operation.callers {
            AllowedCallers::Everybody => {}
            AllowedCallers::Callers => auth::permits(&parts, false)?,
            AllowedCallers::People => auth::permits(&parts, true)?,
        }
        return Err(Error::App(AppError::Invalid(issues)));
    }
    parts.extensions.insert(CheckedRequest { operation, query });
    Ok(Request::from_parts(parts, body))
}

/// Whether a body is empty, or an empty JSON object as clients send that always send one.
async fn is_empty_body(body: Body) -> Result<bool> {
    if body.is_end_stream() {
        return Ok(true);
    }
    if body.size_hint().lower() > MAX_EMPTY_BODY as u64 {
        return Ok(false);
    }
    let read = timeout(BODY_TIMEOUT, to_bytes(body, MAX_EMPTY_BODY)).await;
    let Ok(bytes) = read.map_err(|_elapsed| Error::BodyTimeout)? else { return Ok(false) };
    let is_empty = |object: Map<String, Value>| object.is_empty();
    Ok(bytes.trim_ascii().is_empty() || serde_json::from_slice(&bytes).is_ok_and(is_empty))
}
