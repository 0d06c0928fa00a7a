//! Messages of service providers, read with bounds, without a DTD, and with nothing fetched.

#[cfg(test)]
mod tests;

use jiff::Timestamp;
use roxmltree::{Document, Node, ParsingOptions};

use super::{Refusal, xml::Namespace};

/// Nodes of a message, and its levels: a real request has about ten of each.
const MAX_NODES: u32 = 10_000;
const MAX_DEPTH: u32 = 64;
/// Attributes and namespaces, which the parser holds against each other.
const MAX_ATTRIBUTES: usize = 1_000;
/// Characters of an ID; our answer says it again.
const MAX_ID: usize = 256;
/// Bytes of an entity id (saml-core, section 8.3.6).
const MAX_ENTITY_ID: usize = 1_024;
/// Seconds by which a clock may be wrong before the log says so.
const MAX_SKEW: i64 = 600;

/// What every request says (saml-core, section 3.2.1).
#[derive(Debug, Clone)]
pub(crate) struct SamlRequestHead {
    pub(crate) id: String,
    pub(crate) issuer: Option<String>,
    pub(crate) destination: Option<String>,
    /// What is odd about it, and does no harm.
    pub(crate) note: Option<String>,
}

/// A request that somebody be signed in (saml-core, section 3.4.1).
#[derive(Debug, Clone)]
pub(crate) struct AuthnRequest {
    pub(crate) head: SamlRequestHead,
    pub(crate) acs: Option<String>,
    /// The binding of the answer.
    pub(crate) binding: Option<String>,
    pub(crate) name_id_format: Option<String>,
    /// Whoever is signed in is asked again.
    pub(crate) is_forced: bool,
    /// Nobody may be asked.
    pub(crate) is_passive: bool,
    /// The first authentication context that it wants.
    pub(crate) class: Option<String>,
    /// Who it wants to be signed in.
    pub(crate) subject: Option<String>,
}

/// A request that somebody be signed out (saml-core, section 3.7.1).
#[derive(Debug, Clone)]
pub(crate) struct LogoutRequest {
    pub(crate) head: SamlRequestHead,
    pub(crate) name_id: Option<String>,
    pub(crate) session_index: Option<String>,
}

/// The answer of a service provider to our own logout request.
#[derive(Debug, Clone)]
pub(crate) struct LogoutResponse {
    pub(crate) issuer: Option<String>,
    /// The last word of its status, such as `Success`.
    pub(crate) status: String,
}

fn malformed(hint: impl Into<String>) -> Refusal {
    Refusal::new("malformed_message", hint)
}

impl AuthnRequest {
    /// Reads a request; `now` is in seconds since 1970.
    pub(crate) fn read(xml: &str, now: i64) -> Result<Self, Refusal> {
        let document = parsed(xml)?;
        let root = root(&document, "AuthnRequest")?;
        let policy = child(root, Namespace::Samlp, "NameIDPolicy");
        let context = child(root, Namespace::Samlp, "RequestedAuthnContext");
        let class = context.and_then(|it| child(it, Namespace::Saml, "AuthnContextClassRef"));
        let subject = child(root, Namespace::Saml, "Subject");
        let subject = subject.and_then(|it| child(it, Namespace::Saml, "NameID"));
        let text = |name| root.attribute(name).map(str::to_owned);
        Ok(Self {
            head: SamlRequestHead::read(root, now)?,
            acs: text("AssertionConsumerServiceURL"),
            binding: text("ProtocolBinding"),
            name_id_format: policy.and_then(|it| it.attribute("Format")).map(str::to_owned),
            is_forced: is_true(root, "ForceAuthn"),
            is_passive: is_true(root, "IsPassive"),
            class: class.map(content).filter(|class| class.len() <= MAX_ENTITY_ID),
            subject: subject.map(content),
        })
    }
}

impl LogoutRequest {
    /// Reads a request; `now` is in seconds since 1970.
    pub(crate) fn read(xml: &str, now: i64) -> Result<Self, Refusal> {
        let document = parsed(xml)?;
        let root = root(&document, "LogoutRequest")?;
        Ok(Self {
            head: SamlRequestHead::read(root, now)?,
            name_id: child(root, Namespace::Saml, "NameID").map(content),
            session_index: child(root, Namespace::Samlp, "SessionIndex").map(content),
        })
    }
}

impl LogoutResponse {
    pub(crate) fn read(xml: &str) -> Result<Self, Refusal> {
        let document = parsed(xml)?;
        let root = root(&document, "LogoutResponse")?;
        let status = child(root, Namespace::Samlp, "Status");
        let code = status.and_then(|it| child(it, Namespace::Samlp, "StatusCode"));
        let value = code.and_then(|it| it.attribute("Value")).unwrap_or_default();
        let status = value.rsplit(':').next().unwrap_or_default().to_owned();
        Ok(Self { issuer: child(root, Namespace::Saml, "Issuer").map(content), status })
    }
}

impl SamlRequestHead {
    fn read(root: Node<'_, '_>, now: i64) -> Result<Self, Refusal> {
        if root.attribute("Version") != Some("2.0") {
            return Err(malformed("Version must be 2.0"));
        }
        let id = root.attribute("ID").unwrap_or_default();
        if !is_ncname(id) || id.len() > MAX_ID {
            let hint = format!(
                "ID must be an NCName of at most {MAX_ID} bytes, which begins with a letter or _"
            );
            return Err(malformed(hint));
        }
        let issuer = child(root, Namespace::Saml, "Issuer").map(content);
        if issuer.as_ref().is_some_and(|issuer| issuer.len() > MAX_ENTITY_ID) {
            return Err(malformed(format!("Issuer must have at most {MAX_ENTITY_ID} bytes")));
        }
        let destination = root.attribute("Destination").filter(|it| !it.is_empty());
        let note = late(root.attribute("IssueInstant").unwrap_or_default(), now);
        Ok(Self { id: id.to_owned(), issuer, destination: destination.map(str::to_owned), note })
    }
}

/// What is to be said about the time of a request.
fn late(instant: &str, now: i64) -> Option<String> {
    let Ok(at) = instant.parse::<Timestamp>() else {
        return Some("IssueInstant is no time".to_owned());
    };
    let off = at.as_second().saturating_sub(now);
    (off.abs() > MAX_SKEW).then(|| format!("IssueInstant is {off} s from our time"))
}

fn parsed(xml: &str) -> Result<Document<'_>, Refusal> {
    // Before the parser, which works in squares of both.
    if xml.bytes().filter(|byte| *byte == b'=').count() > MAX_ATTRIBUTES {
        return Err(malformed(format!("the message has more than {MAX_ATTRIBUTES} attributes")));
    }
    let options = ParsingOptions { nodes_limit: MAX_NODES, ..ParsingOptions::default() };
    let document = Document::parse_with_options(xml, options)
        .map_err(|error| malformed(format!("the message is no XML that is taken here: {error}")))?;
    let depth = |node: Node<'_, '_>| node.ancestors().take(MAX_DEPTH as usize + 2).count();
    if document.descendants().any(|node| depth(node) > MAX_DEPTH as usize + 1) {
        return Err(malformed(format!("the message has more than {MAX_DEPTH} levels")));
    }
    Ok(document)
}

fn root<'d>(document: &'d Document<'_>, name: &str) -> Result<Node<'d, 'd>, Refusal> {
    let root = document.root_element();
    if root.has_tag_name((Namespace::Samlp.uri(), name)) {
        return Ok(root);
    }
    let (found, uri) = (root.tag_name().name(), root.tag_name().namespace().unwrap_or("none"));
    Err(malformed(format!(
        "the message must be {name} of {}, and is {found} of {uri}",
        Namespace::Samlp.uri()
    )))
}

fn child<'d>(node: Node<'d, 'd>, namespace: Namespace, name: &str) -> Option<Node<'d, 'd>> {
    node.children().find(|child| child.has_tag_name((namespace.uri(), name)))
}

/// All text of an element, across comments.
fn content(node: Node<'_, '_>) -> String {
    let parts = node.children().filter(Node::is_text).filter_map(|text| text.text());
    parts.collect::<String>().trim().to_owned()
}

fn is_true(root: Node<'_, '_>, name: &str) -> bool {
    root.attribute(name).is_some_and(|value| ["true", "1"].contains(&value.trim()))
}

fn is_ncname(text: &str) -> bool {
    let is_first = |letter: char| letter.is_alphabetic() || letter == '_';
    let is_next = |letter: char| is_first(letter) || letter.is_numeric() || ".-".contains(letter);
    text.starts_with(is_first) && text.chars().all(is_next)
}
