//! The ports: everything the product needs from a backend, the records kept behind them, and the
//! suite that each adapter must pass.

#![warn(clippy::missing_errors_doc)]

mod clock;
mod fanout;
pub mod ports;
pub mod records;
pub mod segment;

#[cfg(feature = "conformance")]
pub mod conformance;

pub use clock::Clock;
pub use fanout::Fanout;
pub use ports::*;
