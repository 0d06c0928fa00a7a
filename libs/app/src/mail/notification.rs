//! What the service writes to people, in one form. In the HTML, tables and inline styles are what mail
//! clients agree on.

use trapline_mime::escape_html;

use super::EmailTemplate;

/// What a mail tells somebody. All of it is plain text; the HTML is made from it.
pub(crate) struct Notification<'a> {
    pub(crate) subject: &'a str,
    pub(crate) paragraphs: &'a [&'a str],
    /// The page on which somebody can do something about it.
    pub(crate) action: Option<Action<'a>>,
    /// What somebody does who did not expect the mail.
    pub(crate) closing: &'a str,
}

/// A page, and the words of the button that leads to it.
pub(crate) struct Action<'a> {
    pub(crate) label: &'a str,
    pub(crate) link: &'a str,
}

impl Notification<'_> {
    pub(crate) fn template(&self) -> EmailTemplate {
        EmailTemplate { subject: self.subject.to_owned(), text: self.text(), html: self.html() }
    }

    fn text(&self) -> String {
        let action = self.action.as_ref();
        let action = action.map(|Action { label, link }| format!("{label}:\n{link}"));
        let parts = self.paragraphs.iter().map(|&part| part.to_owned());
        let parts = parts.chain(action).chain([self.closing.to_owned()]);
        parts.collect::<Vec<_>>().join("\n\n") + "\n"
    }

    fn html(&self) -> String {
        let paragraph =
            |text: &&str| format!("<p style=\"margin:0 0 16px\">{}</p>\n", escape_html(text));
        format!(
            include_str!("templates/notification.html"),
            subject = escape_html(self.subject),
            paragraphs = self.paragraphs.iter().map(paragraph).collect::<String>(),
            action = self.action.as_ref().map(Action::html).unwrap_or_default(),
            closing = escape_html(self.closing)
        )
    }
}

impl Action<'_> {
    fn html(&self) -> String {
        format!(
            include_str!("templates/action.html"),
            label = escape_html(self.label),
            link = escape_html(self.link)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_text_and_its_link_are_in_both_forms() {
        let action = Some(Action { label: "Choose", link: "https://t/link?token=a&b" });
        let (subject, paragraphs, closing) = ("Choose <one>", &["One & all.", "Two."], "Or not.");
        let template = Notification { subject, paragraphs, action, closing }.template();
        let text = "One & all.\n\nTwo.\n\nChoose:\nhttps://t/link?token=a&b\n\nOr not.\n";
        assert_eq!((template.subject.as_str(), template.text.as_str()), (subject, text));
        for part in ["<title>Choose &lt;one&gt;</title>", ">One &amp; all.</p>", "Or not.</p>"] {
            assert!(template.html.contains(part), "{part}: {}", template.html);
        }
        assert!(template.html.contains("href=\"https://t/link?token=a&amp;b\""));
        let told = Notification { subject, paragraphs, action: None, closing }.template();
        assert!(!told.html.contains("href") && told.text.ends_with("Two.\n\nOr not.\n"));
    }
}
