//! Checks of a message.

mod html;
mod overview;
mod spam;
mod unsubscribe;
