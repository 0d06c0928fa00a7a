//! The arrangements XSW1 to XSW8 of a signed message and a forged one (Somorovsky et al., "On Breaking SAML: Be
//! Whoever You Want to Be", 2012, in the numbering that tools use).

use super::{
    fault::forge,
    xml::{Element, Namespace, Node},
};

const FORGED_ID: &str = "_forged";

/// Whether an arrangement is of a signed response, and not of a signed assertion.
pub(super) fn is_of_response(number: i64) -> bool {
    number <= 2
}

/// Moves what is signed aside for a forged copy of it.
pub(super) fn wrapped(response: Element, number: i64) -> Element {
    if is_of_response(number) {
        around_response(response, number)
    } else {
        of_assertion(response, number)
    }
}

/// The same element, without its signature.
fn unsigned(element: &Element) -> Element {
    let mut element = element.clone();
    element.take(Namespace::Ds, "Signature");
    element
}

fn around_response(response: Element, number: i64) -> Element {
    let original = Node::Element(unsigned(&response));
    let mut forged = response;
    forged.set("ID", FORGED_ID);
    forge(&mut forged);
    if number == 1 {
        if let Some(signature) = forged.find(Namespace::Ds, "Signature") {
            signature.children.push(original);
        }
    } else {
        // Behind the issuer, so that the signature comes next.
        forged.children.insert(1, original);
    }
    forged
}

fn of_assertion(mut response: Element, number: i64) -> Element {
    let Some(signed) = response.take(Namespace::Saml, "Assertion") else { return response };
    let original = unsigned(&signed);
    let mut forged = if matches!(number, 3 | 4 | 7) { original.clone() } else { signed.clone() };
    forge(&mut forged);
    if number < 7 {
        forged.set("ID", FORGED_ID);
    }
    match number {
        3 => return response.child(forged).child(signed),
        4 => return response.child(forged.child(signed)),
        5 => return response.child(forged).child(original),
        7 => {
            let extensions = Element::new(Namespace::Samlp, "Extensions").child(forged);
            // Behind the issuer, where the schema has it.
            response.children.insert(1, Node::Element(extensions));
            return response.child(signed);
        }
        _ => {}
    }
    if let Some(signature) = forged.find(Namespace::Ds, "Signature") {
        let inner = match number {
            6 => original,
            _ => Element::new(Namespace::Ds, "Object").child(original),
        };
        signature.children.push(Node::Element(inner));
    }
    response.child(forged)
}
