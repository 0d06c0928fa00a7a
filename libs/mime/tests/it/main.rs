//! The package from outside: mail as files, and properties of any bytes.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod cases;
mod corpus;
mod extraction;
mod properties;
mod shapes;
