//! Checks of a message.

mod html;
mod links;
mod overview;
mod spam;
mod unsubscribe;
