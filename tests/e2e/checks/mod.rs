//! Checks of a message.

mod html;
mod spam;
mod unsubscribe;
