//! The end-to-end suite: one module for each part of what the product promises.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod backup;
mod bounds;
mod broken_listener;
mod browser;
mod checks;
mod clients;
mod crash;
mod delivery_crash;
mod errors;
mod flood;
mod forwarding;
mod full_disk;
mod https;
mod idle;
mod idps;
mod inboxes;
mod isolation;
mod keys;
mod live;
mod manual;
mod messages;
mod mime_cases;
mod mocks;
mod openapi;
mod operate;
mod people;
mod plans;
mod probes;
mod projects;
mod proxies;
mod schemathesis;
mod sso;
mod status;
mod teams;
mod tools;
mod upgrade;
mod wait_race;
mod webhooks;
mod wire;
