//! Checks of a message.

mod auth;
mod engines;
mod html;
mod links;
mod overview;
mod spam;
mod unsubscribe;
