//! Checks of a message.

mod spam;
