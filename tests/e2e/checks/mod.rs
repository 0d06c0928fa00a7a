//! Checks of a message.

mod auth;
mod html;
mod links;
mod overview;
mod spam;
mod unsubscribe;
