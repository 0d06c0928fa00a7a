//! What requests carry, checked before a handler sees it.

mod contract;
mod json;
mod path;
mod query;
mod token;

pub(crate) use contract::{BODY_TIMEOUT, Contract, enforce};
pub(crate) use json::{Body, given};
pub(crate) use path::PathParams;
pub(crate) use query::{Flag, Params, has_parameter};
pub(crate) use token::TokenInput;
