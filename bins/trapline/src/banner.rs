//! What a start prints: everything that somebody needs to send a first mail and see it.

use std::net::SocketAddr;

use trapline_app::{Settings, Start};

use crate::config::Roles;

const OPEN: &str =
    "  Sign in  nobody does: whoever reaches this server is its owner (--sign-in none)";

/// The text for the standard output. Whoever `has_key` knows all secrets already, so there are none
/// in it.
pub(crate) fn banner(
    settings: &Settings,
    start: &Start,
    has_key: bool,
    https: Option<SocketAddr>,
) -> String {
    let base = &settings.base_url;
    let mut lines = vec![
        "Trapline is running.".to_owned(),
        String::new(),
        format!("  API      {base}/api   (documentation at {base}/docs)"),
    ];
    lines.extend(https.map(https_line));
    lines.extend(smtp_lines(settings));
    lines.extend(inbox_lines(start, has_key));
    if start.inbox.is_some() && settings.catch_all {
        lines.push("           (mail without credentials lands in this inbox too)".to_owned());
    }
    lines.push(key_line(start, has_key));
    lines.push(if settings.sign_in { sign_in_line(start) } else { OPEN.to_owned() });
    lines.push(String::new());
    if let Some(inbox) = &start.inbox {
        let key = start.new_key.as_deref().unwrap_or("$TRAPLINE_API_KEY");
        lines.push("  Send a mail, then:".to_owned());
        lines.push(format!(
            "  curl -H \"Authorization: Bearer {key}\" {base}/api/inboxes/{}/messages",
            inbox.id
        ));
        lines.push(String::new());
    }
    text(&lines)
}

/// The text of a process that is one of a cluster.
pub(crate) fn roles_banner(
    settings: &Settings,
    http: SocketAddr,
    https: Option<SocketAddr>,
    roles: Roles,
) -> String {
    let what = if roles.api { "API and probes" } else { "probes" };
    let mut lines = vec![
        format!("Trapline is running: {}.", roles.names().join(", ")),
        String::new(),
        format!("  HTTP     {http}   ({what})"),
    ];
    lines.extend(https.map(https_line));
    if roles.edge {
        lines.extend(smtp_lines(settings));
    }
    lines.push(String::new());
    text(&lines)
}

/// The text of a migration.
pub(crate) fn migrated(start: &Start, has_key: bool) -> String {
    let mut lines = vec![
        "The services are ready for `trapline api`, `smtp` and `worker`.".to_owned(),
        String::new(),
    ];
    lines.extend(inbox_lines(start, has_key));
    lines.push(key_line(start, has_key));
    lines.push(sign_in_line(start));
    lines.push(String::new());
    text(&lines)
}

fn https_line(address: SocketAddr) -> String {
    format!("  HTTPS    {address}")
}

fn smtp_lines(settings: &Settings) -> Vec<String> {
    let host = &settings.smtp_host;
    // An IPv6 address has colons of its own (RFC 3986, section 3.2.2).
    let host = if host.contains(':') { format!("[{host}]") } else { host.clone() };
    let mut lines = vec![format!("  SMTP     {host}:{}", settings.smtp_port)];
    lines.extend(settings.smtp_tls_port.map(|port| format!("  SMTPS    {host}:{port}")));
    lines
}

fn inbox_lines(start: &Start, has_key: bool) -> Vec<String> {
    let Some(inbox) = &start.inbox else { return Vec::new() };
    let password = if has_key { "(ask the API for the inbox)" } else { &inbox.smtp.password };
    vec![
        format!("  Inbox    {} ({})", inbox.name, inbox.id),
        format!("  User     {}   Password {password}", inbox.smtp.username),
    ]
}

fn key_line(start: &Start, has_key: bool) -> String {
    match &start.new_key {
        _ if has_key => "  API key  the one that was configured".to_owned(),
        Some(key) => format!("  API key  {key}   (shown this once)"),
        None => "  API key  made earlier; `trapline key create` makes another".to_owned(),
    }
}

fn sign_in_line(start: &Start) -> String {
    match &start.owners_link {
        Some(link) => format!("  Sign in  {link}   (makes you the owner; once, within 24 hours)"),
        None => "  Sign in  `trapline link` makes a link for the owner".to_owned(),
    }
}

fn text(lines: &[String]) -> String {
    lines.join("\n") + "\n"
}
