//! Who somebody is to a service provider: the name, and the attributes.

use serde_json::Value;
use trapline_app::{IdpHandle, IdpUserRecord, SamlSession};
use trapline_model::NameIdFormat;

use super::xml::{Element, Namespace};
use crate::state::IdpState;

/// The name of a user in a session.
pub(crate) fn name_of(
    idp: &IdpState,
    provider: &IdpHandle,
    user: &IdpUserRecord,
    (sp, format, sid): (&str, NameIdFormat, &str),
) -> SamlSession {
    let pseudonym = |of: &str| idp.idps().saml_pseudonym(provider, user.id, of);
    let name = match format {
        NameIdFormat::EmailAddress => user.email.clone(),
        NameIdFormat::Unspecified => user.subject.clone(),
        NameIdFormat::Persistent => pseudonym(&format!("sp|{sp}")),
        NameIdFormat::Transient => format!("_{}", &pseudonym(&format!("session|{sid}|{sp}"))[..32]),
    };
    SamlSession { sp: sp.to_owned(), format, name }
}

/// A name as messages have it; persistent ones say between whom they hold (saml-core, section 8.3.7).
pub(crate) fn name_id(known: &SamlSession, entity_id: &str) -> Element {
    let element = Element::new(Namespace::Saml, "NameID").with("Format", known.format.urn());
    let element = match known.format {
        NameIdFormat::Persistent => {
            element.with("NameQualifier", entity_id).with("SPNameQualifier", known.sp.as_str())
        }
        _ => element,
    };
    element.text(known.name.as_str())
}

/// The attributes of a user, each with its values: the mail address, the name, the groups, then the user's own
/// claims. What is no string, number or boolean, and no list of these, is left out, and its name is returned.
pub(crate) fn attributes(user: &IdpUserRecord) -> (Vec<(String, Vec<String>)>, Vec<String>) {
    let mut all = vec![
        ("email".to_owned(), vec![user.email.clone()]),
        ("name".to_owned(), vec![user.name.clone()]),
        ("groups".to_owned(), user.groups.clone()),
    ];
    let mut left_out = Vec::new();
    for (name, value) in &user.claims {
        match values(value) {
            Some(values) => {
                all.retain(|(known, _)| known != name);
                all.push((name.clone(), values));
            }
            None => left_out.push(name.clone()),
        }
    }
    (all, left_out)
}

fn values(value: &Value) -> Option<Vec<String>> {
    match value {
        Value::Array(items) => items.iter().map(plain).collect(),
        value => Some(vec![plain(value)?]),
    }
}

fn plain(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(is_so) => Some(is_so.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}
