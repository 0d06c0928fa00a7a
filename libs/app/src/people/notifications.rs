//! What people are written about their accounts. In the HTML, inline styles are what mail clients agree
//! on.

use trapline_mime::escape_html;

use crate::mail::EmailTemplate;

/// Asks whoever signed up to confirm the address.
pub(super) fn sign_up(link: &str) -> EmailTemplate {
    letter(
        "Confirm your address",
        &["Somebody, we hope you, signed up with this address. Confirm it to sign in."],
        Some(("Confirm the address", link)),
        "If it was not you, do nothing: without the button on that page there is no account.",
    )
}

/// Tells somebody who signed up again that there is an account already.
pub(super) fn known_already(link: &str) -> EmailTemplate {
    letter(
        "You have an account already",
        &[
            "Somebody, we hope you, signed up with this address, which has an account already.",
            "If you do not know its password any more, choose a new one.",
        ],
        Some(("Choose a new password", link)),
        "If it was not you, do nothing: your account is as it was.",
    )
}

/// Lets somebody who is signed in confirm the address.
pub(super) fn verify(link: &str) -> EmailTemplate {
    letter(
        "Confirm your address",
        &["Confirm that this is the address of your account."],
        Some(("Confirm the address", link)),
        "If you have no account, do nothing.",
    )
}

/// Lets somebody choose a new password.
pub(super) fn reset(link: &str) -> EmailTemplate {
    letter(
        "Choose a new password",
        &["Somebody, we hope you, asked for a new password. The link works once, within an hour."],
        Some(("Choose a new password", link)),
        "If it was not you, do nothing: your password is as it was.",
    )
}

/// Tells somebody that the password was changed.
pub(super) fn changed() -> EmailTemplate {
    letter(
        "Your password was changed",
        &["The password of your account was changed, and all other sessions have ended."],
        None,
        "If it was not you, reset the password at once, or ask whoever runs the server.",
    )
}

fn letter(
    subject: &str,
    paragraphs: &[&str],
    button: Option<(&str, &str)>,
    end: &str,
) -> EmailTemplate {
    let in_html =
        format!("<p>{}</p>\n", escape_html(&paragraphs.join("\n\n"))).replace("\n\n", "</p>\n<p>");
    let (in_text, end_html) = (paragraphs.join("\n\n"), escape_html(end));
    let (link_text, link_html) = match button {
        None => (String::new(), String::new()),
        Some((label, link)) => (
            format!("\n\n{label}:\n{link}"),
            format!(
                "<p><a href=\"{}\" style=\"font-weight:bold\">{}</a></p>\n",
                escape_html(link),
                escape_html(label)
            ),
        ),
    };
    let text = format!("{in_text}{link_text}\n\n{end}\n");
    let html = format!("{in_html}{link_html}<p>{end_html}</p>\n");
    EmailTemplate { subject: subject.to_owned(), text, html }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_letter_has_its_link_in_both_forms() {
        let letter = reset("https://t/link?token=a&b");
        assert!(letter.text.contains("\nhttps://t/link?token=a&b\n"), "{}", letter.text);
        assert!(letter.html.contains("href=\"https://t/link?token=a&amp;b\""), "{}", letter.html);
        assert!(!changed().html.contains("href"));
    }
}
