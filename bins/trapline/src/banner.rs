//! What a start prints: everything that somebody needs to send a first mail and see it.

use std::{fmt::Write, net::SocketAddr};

use trapline_app::{Settings, Start};

use crate::config::Roles;

/// The text for the standard output.
pub(crate) fn banner(settings: &Settings, start: &Start) -> String {
    let mut text = String::new();
    let mut line = |line: &str| {
        // Writing into a String does not fail.
        let _infallible = writeln!(text, "{line}");
    };
    line("Trapline is running.");
    line("");
    line(&format!("  API      {0}/api   (documentation at {0}/docs)", settings.base_url));
    line(&format!("  SMTP     {}:{}", settings.smtp_host, settings.smtp_port));
    if let Some(port) = settings.smtp_tls_port {
        line(&format!("  SMTPS    {}:{port}", settings.smtp_host));
    }
    if let Some(inbox) = &start.inbox {
        line(&format!("  Inbox    {} ({})", inbox.name, inbox.id));
        line(&format!("  User     {}   Password {}", inbox.smtp.username, inbox.smtp.password));
        if settings.catch_all {
            line("           (mail without credentials lands in this inbox too)");
        }
    }
    line(&key_line(start));
    line("");
    if let Some(inbox) = &start.inbox {
        let key = start.new_key.as_deref().unwrap_or("$TRAPLINE_API_KEY");
        line("  Send a mail, then:");
        line(&format!(
            "  curl -H 'Authorization: Bearer {key}' {}/api/inboxes/{}/messages",
            settings.base_url, inbox.id
        ));
        line("");
    }
    text
}

/// The text of a process that is one of a cluster.
pub(crate) fn roles_banner(settings: &Settings, http: SocketAddr, roles: Roles) -> String {
    let mut text = format!("Trapline is running: {}.\n\n", roles.names().join(", "));
    let what = if roles.api { "API and probes" } else { "probes" };
    let mut line = |line: &str| {
        // Writing into a String does not fail.
        let _infallible = writeln!(text, "{line}");
    };
    line(&format!("  HTTP     {http}   ({what})"));
    if roles.edge {
        line(&format!("  SMTP     {}:{}", settings.smtp_host, settings.smtp_port));
        if let Some(port) = settings.smtp_tls_port {
            line(&format!("  SMTPS    {}:{port}", settings.smtp_host));
        }
    }
    line("");
    text
}

/// The text of a migration.
pub(crate) fn migrated(start: &Start) -> String {
    let mut text = "The services are ready for `trapline api`, `smtp` and `worker`.\n\n".to_owned();
    let mut line = |line: &str| {
        // Writing into a String does not fail.
        let _infallible = writeln!(text, "{line}");
    };
    if let Some(inbox) = &start.inbox {
        line(&format!("  Inbox    {} ({})", inbox.name, inbox.id));
        line(&format!("  User     {}   Password {}", inbox.smtp.username, inbox.smtp.password));
    }
    line(&key_line(start));
    line("");
    text
}

fn key_line(start: &Start) -> String {
    match &start.new_key {
        Some(key) => format!("  API key  {key}   (shown this once)"),
        None => "  API key  made earlier; `trapline key create` makes another".to_owned(),
    }
}
