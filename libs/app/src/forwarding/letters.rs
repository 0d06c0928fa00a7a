//! What the owner of an address is written. In the HTML, tables and inline styles are what mail clients
//! agree on.

use trapline_mime::escape_html;

use crate::mail::Letter;

/// A stranger reads the team's name: it must not be a message of its own.
const MAX_NAME: usize = 60;

/// Asks whether mail may be forwarded.
pub(super) fn confirm(team_name: &str, email: &str, link: &str) -> Letter {
    let team = shown(team_name);
    let text =
        format!(include_str!("letters/confirm.txt"), team = team, email = email, link = link);
    let html = format!(
        include_str!("letters/confirm.html"),
        team = escape_html(&team),
        email = escape_html(email),
        link = escape_html(link)
    );
    Letter { subject: "Confirm your forwarding address".to_owned(), text, html }
}

/// A name without what could pass for more than one: control characters, and the dots and slashes
/// that mail clients make links of.
fn shown(name: &str) -> String {
    let one = |c: char| match c {
        c if c.is_control() => ' ',
        '.' | '/' | ':' => '·',
        c => c,
    };
    name.chars().take(MAX_NAME).map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_teams_name_stays_a_name() {
        let letter =
            confirm("<b>https://evil.example</b>\r\nX: y", "a@b.example", "https://t/?x=1&y");
        assert!(letter.text.contains("\"<b>https···evil·example<·b>  X· y\""), "{}", letter.text);
        assert!(letter.html.contains("&lt;b&gt;https···evil·example"), "{}", letter.html);
        assert!(letter.html.contains("href=\"https://t/?x=1&amp;y\""), "{}", letter.html);
        assert!(letter.text.contains("\nhttps://t/?x=1&y\n"), "{}", letter.text);
        assert!(confirm(&"x".repeat(500), "a@b.example", "l").text.len() < 500);
    }
}
