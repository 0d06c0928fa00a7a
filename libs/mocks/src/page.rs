//! The pages on which a person decides, and the addresses of these: each carries a proof that the mock made it.

use aws_lc_rs::hmac;
use data_encoding::HEXLOWER;
use subtle::ConstantTimeEq as _;

use crate::{
    Provider, StoredObject,
    flow::{self, StepActor},
};

/// Hexadecimal digits of a proof: 128 bits.
const PROOF_DIGITS: usize = 32;

/// A page for a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostedPage {
    /// What is asked.
    pub title: String,
    /// What is said of it, by name.
    pub lines: Vec<(&'static str, String)>,
    /// What a person can decide: a state and the word for it. Empty once that is done.
    pub buttons: Vec<(&'static str, &'static str)>,
    /// Where a person goes who decides nothing.
    pub cancel: Option<String>,
    /// Where a person goes who has decided.
    pub back: Option<String>,
}

/// The page of an object; none for what has no page.
#[must_use]
pub fn page(provider: &Provider, object: &StoredObject) -> Option<HostedPage> {
    let flow = flow::flow_of(provider, &object.kind)?;
    let page = flow.page?;
    let text = (page.show)(object);
    let steps = flow.steps_from(object.state.as_deref().unwrap_or_default());
    let button = |step: &'static flow::FlowStep| match step.by {
        StepActor::Person(label) => Some((step.to, label)),
        StepActor::Time | StepActor::Test => None,
    };
    let buttons: Vec<_> = steps.filter_map(button).collect();
    let cancel = (page.back)(object, false).filter(|_| !buttons.is_empty());
    let back = (page.back)(object, true);
    Some(HostedPage { title: text.title, lines: text.lines, buttons, cancel, back })
}

/// The path of the page of an object, below the mock's address. `key` is a secret of the mock.
pub(crate) fn page_path(key: &str, kind: &str, id: &str) -> String {
    format!("/_/{kind}/{id}?k={}", proof(key, kind, id))
}

/// Whether a proof is that of the page of an object.
#[must_use]
pub fn is_page_proof(key: &str, kind: &str, id: &str, given: &str) -> bool {
    proof(key, kind, id).as_bytes().ct_eq(given.as_bytes()).into()
}

fn proof(key: &str, kind: &str, id: &str) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, key.as_bytes());
    let tag = hmac::sign(&key, format!("{kind}/{id}").as_bytes());
    let mut text = HEXLOWER.encode(tag.as_ref());
    text.truncate(PROOF_DIGITS);
    text
}
