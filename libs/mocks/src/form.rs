//! Forms with brackets: `a[b][0][c]=x`, `a[]=x` and repeated keys, within bounds.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

const MAX_DEPTH: usize = 8;
const MAX_KEYS: usize = 1_000;
/// The largest index of a list. Lists are never grown to an index: they hold what was sent.
const MAX_INDEX: usize = 1_000;

/// Why a form is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FormError {
    TooManyKeys,
    TooDeep,
    IndexTooLarge,
    /// A key is a value in one place, and has values in it in another.
    Mixed,
}

#[derive(Debug)]
enum FormNode {
    Leaf(String),
    Branch(BTreeMap<String, FormNode>),
}

/// Reads a form, as an object.
pub(crate) fn parse(body: &[u8]) -> Result<Value, FormError> {
    let mut root = BTreeMap::new();
    for (count, (key, value)) in form_urlencoded::parse(body).enumerate() {
        if count >= MAX_KEYS {
            return Err(FormError::TooManyKeys);
        }
        let parts = parts(&key)?;
        insert(&mut root, &parts, value.into_owned())?;
    }
    let object = root.into_iter().map(|(key, node)| Ok((key, value_of(node)?)));
    Ok(Value::Object(object.collect::<Result<Map<_, _>, FormError>>()?))
}

/// `a[b][]` is `a`, `b` and an empty part. A key whose brackets do not match is one part.
fn parts(key: &str) -> Result<Vec<&str>, FormError> {
    let Some((first, rest)) = key.split_once('[').filter(|(first, _)| !first.is_empty()) else {
        return Ok(vec![key]);
    };
    let Some(inner) = rest.strip_suffix(']') else { return Ok(vec![key]) };
    let mut parts = vec![first];
    parts.extend(inner.split("]["));
    if parts.len() > MAX_DEPTH { Err(FormError::TooDeep) } else { Ok(parts) }
}

fn insert(
    branch: &mut BTreeMap<String, FormNode>,
    parts: &[&str],
    value: String,
) -> Result<(), FormError> {
    let [part, rest @ ..] = parts else { return Ok(()) };
    let name = if part.is_empty() { branch.len().to_string() } else { (*part).to_owned() };
    if rest.is_empty() {
        return put(branch, name, value);
    }
    let empty = || FormNode::Branch(BTreeMap::new());
    match branch.entry(name).or_insert_with(empty) {
        FormNode::Branch(inner) => insert(inner, rest, value),
        FormNode::Leaf(_) => Err(FormError::Mixed),
    }
}

/// Puts a value; a key that is there already becomes a list of its values.
fn put(
    branch: &mut BTreeMap<String, FormNode>,
    name: String,
    value: String,
) -> Result<(), FormError> {
    match branch.get_mut(&name) {
        None => {
            branch.insert(name, FormNode::Leaf(value));
        }
        Some(FormNode::Branch(list)) if list.contains_key("0") => {
            list.insert(list.len().to_string(), FormNode::Leaf(value));
        }
        Some(FormNode::Branch(_)) => return Err(FormError::Mixed),
        Some(leaf @ FormNode::Leaf(_)) => {
            let first = std::mem::replace(leaf, FormNode::Branch(BTreeMap::new()));
            if let FormNode::Branch(list) = leaf {
                list.insert("0".to_owned(), first);
                list.insert("1".to_owned(), FormNode::Leaf(value));
            }
        }
    }
    Ok(())
}

/// A branch whose keys are all numbers is a list, in the order of the numbers.
fn value_of(node: FormNode) -> Result<Value, FormError> {
    let branch = match node {
        FormNode::Leaf(text) => return Ok(Value::String(text)),
        FormNode::Branch(branch) => branch,
    };
    let is_number = |key: &String| !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_digit());
    if !branch.keys().all(is_number) {
        let object = branch.into_iter().map(|(key, node)| Ok((key, value_of(node)?)));
        return Ok(Value::Object(object.collect::<Result<Map<_, _>, FormError>>()?));
    }
    let index = |key: String| key.parse().ok().filter(|index: &usize| *index <= MAX_INDEX);
    let mut list = branch
        .into_iter()
        .map(|(key, node)| Ok((index(key).ok_or(FormError::IndexTooLarge)?, value_of(node)?)))
        .collect::<Result<Vec<_>, FormError>>()?;
    list.sort_by_key(|(index, _)| *index);
    Ok(Value::Array(list.into_iter().map(|(_, value)| value).collect()))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn brackets_make_objects_and_lists() {
        let cases = [
            ("a=1&b=2", json!({"a": "1", "b": "2"})),
            ("a=1&a=2&a=3", json!({"a": ["1", "2", "3"]})),
            ("a[]=1&a[]=2", json!({"a": ["1", "2"]})),
            ("a[1][b]=x&a[0][b]=y", json!({"a": [{"b": "y"}, {"b": "x"}]})),
            ("a[b][c][0]=x", json!({"a": {"b": {"c": ["x"]}}})),
            ("metadata[order%20id]=6%2B7", json!({"metadata": {"order id": "6+7"}})),
            ("a[1000]=x", json!({"a": ["x"]})),
            ("[a]=1&b[=2", json!({"[a]": "1", "b[": "2"})),
            ("", json!({})),
        ];
        for (form, wanted) in cases {
            assert_eq!(parse(form.as_bytes()), Ok(wanted), "{form}");
        }
    }

    #[test]
    fn what_is_beyond_the_bounds_is_refused() {
        let deep = format!("a{}=x", "[b]".repeat(MAX_DEPTH));
        let many = "a=1&".repeat(MAX_KEYS + 1);
        let cases = [
            ("a[999999999]=x", FormError::IndexTooLarge),
            ("a[99999999999999999999999]=x", FormError::IndexTooLarge),
            ("a=1&a[b]=2", FormError::Mixed),
            ("a[b]=2&a=1", FormError::Mixed),
            (&deep, FormError::TooDeep),
            (&many, FormError::TooManyKeys),
        ];
        for (form, wanted) in cases {
            assert_eq!(parse(form.as_bytes()), Err(wanted), "{form}");
        }
    }

    proptest! {
        #[test]
        fn no_form_takes_more_than_it_sends(form in "[ab\\[\\]0-9=&%]{0,200}") {
            if let Ok(value) = parse(form.as_bytes()) {
                prop_assert!(value.is_object());
                prop_assert!(value.to_string().len() <= 32 + form.len() * 16);
            }
        }

        #[test]
        fn any_bytes_are_an_object_or_an_error(form in proptest::collection::vec(any::<u8>(), 0..400)) {
            if let Ok(value) = parse(&form) {
                prop_assert!(value.as_object().unwrap().len() <= MAX_KEYS);
            }
        }
    }
}
