//! Which messages a search or a wait is about. All texts are compared decoded and case-folded.

use trapline_mime::fold;
use trapline_model::{Address, Time};
use trapline_store::records::Message;

/// Who a message is from and for, as filters see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Parties {
    /// The author and the envelope's sender.
    pub from: Vec<String>,
    /// Header and envelope recipients.
    pub to: Vec<String>,
}

impl Parties {
    pub(crate) fn of(message: &Message) -> Self {
        let mut from: Vec<_> = message.from.iter().map(written).collect();
        push_new(&mut from, &message.envelope.from);
        let headers = message.to.iter().chain(&message.cc).chain(&message.bcc);
        let mut to: Vec<_> = headers.map(written).collect();
        for recipient in &message.envelope.to {
            push_new(&mut to, recipient);
        }
        Self { from, to }
    }
}

fn written(address: &Address) -> String {
    if address.name.is_empty() {
        address.address.clone()
    } else {
        format!("{} <{}>", address.name, address.address)
    }
}

fn push_new(list: &mut Vec<String>, address: &str) {
    if !address.is_empty() && !list.iter().any(|known| known == address) {
        list.push(address.to_owned());
    }
}

/// The folded text that `q` looks at: subject, sender, recipients.
pub(crate) fn search_text(message: &Message) -> String {
    let Parties { from, to } = Parties::of(message);
    let mut text = fold(&message.subject);
    for party in from.iter().chain(&to) {
        text.push('\n');
        text.push_str(&fold(party));
    }
    // JSON would escape control characters, which a folded search text has none of.
    text.replace(|c: char| c.is_control(), " ")
}

/// What a wait looks for; every given part must hold.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// A recipient contains this.
    pub to: Option<String>,
    /// The sender contains this.
    pub from: Option<String>,
    /// The subject contains this.
    pub subject: Option<String>,
    /// Received then or later.
    pub since: Option<Time>,
    /// A one-time code is in the message.
    pub has_code: bool,
}

/// A filter with its texts folded once.
pub(crate) struct Matcher {
    to: Option<String>,
    from: Option<String>,
    subject: Option<String>,
    pub since: Option<Time>,
    pub has_code: bool,
}

impl Matcher {
    pub(crate) fn new(filter: &Filter) -> Self {
        let folded = |text: &Option<String>| text.as_deref().map(fold);
        Self {
            to: folded(&filter.to),
            from: folded(&filter.from),
            subject: folded(&filter.subject),
            since: filter.since,
            has_code: filter.has_code,
        }
    }

    /// Whether sender, recipients and subject are those looked for.
    pub(crate) fn matches(&self, from: &[String], to: &[String], subject: &str) -> bool {
        self.failures(from, to, subject).is_empty()
    }

    /// What does not hold, for people.
    pub(crate) fn failures(&self, from: &[String], to: &[String], subject: &str) -> Vec<String> {
        let mut failures = Vec::new();
        let mut check = |part: &str, wanted: &Option<String>, found: &[String]| {
            if let Some(wanted) = wanted
                && !found.iter().any(|text| fold(text).contains(wanted))
            {
                let found = found.join(", ");
                failures.push(format!("{part} \"{found}\" does not contain \"{wanted}\""));
            }
        };
        check("to", &self.to, to);
        check("from", &self.from, from);
        check("subject", &self.subject, &[subject.to_owned()]);
        failures
    }
}
