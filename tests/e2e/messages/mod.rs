//! Messages: listed, searched, read part by part, marked, removed.

mod lists;
mod many;
mod marks;
mod parts;
mod preview;
mod records;
mod samples;
