//! What a start prints: everything that somebody needs to send a first mail and see it.

use std::fmt::Write;

use trapline_app::{Settings, Start};

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
    match &start.new_key {
        Some(key) => line(&format!("  API key  {key}   (shown this once)")),
        None => line("  API key  made earlier; `trapline key create` makes another"),
    }
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
