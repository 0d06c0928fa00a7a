//! The use cases over the embedded adapters, with a clock that tests move.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod access;
mod accounts;
mod audit;
mod bounds;
mod catch_all;
mod clocks;
mod damaged;
mod deletes;
mod doubles;
mod first_steps;
mod forwarding;
mod inbox_pages;
mod janitor;
mod janitor_faults;
mod keys;
mod live;
mod mail;
mod many;
mod open;
mod people;
mod plans;
mod previews;
mod queues;
mod searches;
mod segments;
mod sso;
mod status;
mod stuck;
mod support;
mod tasks;
mod team_removal;
mod teams;
mod upgrades;
mod watched;
mod webhooks;
