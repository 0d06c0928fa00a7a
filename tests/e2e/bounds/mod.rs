//! Clients that want too much, too slowly, or for too long.

mod beside;
mod http;
mod limits;
mod memory;
mod patience;
mod shares;
