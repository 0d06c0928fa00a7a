//! Checks of a message.

mod auth;
mod engines;
mod html;
mod html_data;
mod links;
mod overview;
mod real_engines;
mod spam;
mod unsubscribe;
