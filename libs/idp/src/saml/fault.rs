//! What a response does wrong when somebody asked for it. The wrong values are fixed, so that tests can name them.

use trapline_app::{FaultScenario, FaultUse, Result, SamlKey};

use super::{
    response::{AssertionClaims, FailedStatus, SamlEnvelope, Signed, assembled},
    sign::{DigestMethod, SamlSigner},
    wrapping,
    xml::{Element, Namespace, Node},
};
use crate::faults::WRONG_ISSUER;

const WRONG_ACS: &str = "https://sp.invalid/acs";
const WRONG_ID: &str = "_wrong";
/// The name that nobody may return.
pub(super) const FORGED_NAME: &str = "attacker@forged.invalid";
/// Seconds that are beyond the leeway of any library.
const HOUR: i64 = 3_600;

/// The status that a response has in place of an assertion.
pub(crate) fn failed_status(fault: FaultUse) -> Option<FailedStatus> {
    let sub = match fault.scenario {
        FaultScenario::StatusResponder => None,
        FaultScenario::StatusAuthnFailed => Some("AuthnFailed"),
        FaultScenario::NoPassive => Some("NoPassive"),
        _ => return None,
    };
    Some(FailedStatus { top: "Responder", sub })
}

/// Changes what is said before it is signed.
pub(crate) fn spoil(fault: FaultUse, envelope: &mut SamlEnvelope, claims: &mut AssertionClaims) {
    let now = envelope.issued_at;
    let mut move_by = |seconds: i64| {
        let AssertionClaims { not_before, not_on_or_after, auth_instant, session_ends, .. } =
            claims;
        for time in
            [&mut envelope.issued_at, not_before, not_on_or_after, auth_instant, session_ends]
        {
            *time = time.saturating_add(seconds);
        }
    };
    match fault.scenario {
        FaultScenario::ClockSkew => move_by(fault.value),
        FaultScenario::Expired => {
            move_by(-2 * HOUR);
            claims.not_on_or_after = now - HOUR;
            claims.session_ends = now - HOUR;
        }
        FaultScenario::NotYetValid => {
            claims.not_before = now + HOUR;
            claims.not_on_or_after = claims.not_on_or_after.saturating_add(HOUR);
        }
        FaultScenario::WrongIssuer => WRONG_ISSUER.clone_into(&mut envelope.issuer),
        FaultScenario::WrongAudience => "wrong-audience".clone_into(&mut claims.audience),
        FaultScenario::MissingEmail => claims.attributes.retain(|(name, _)| name != "email"),
        FaultScenario::WrongRecipient => WRONG_ACS.clone_into(&mut claims.recipient),
        FaultScenario::WrongDestination => WRONG_ACS.clone_into(&mut envelope.destination),
        FaultScenario::WrongInResponseTo => envelope.in_response_to = Some(WRONG_ID.to_owned()),
        _ => {}
    }
}

/// The response as it is sent, signed as well or as badly as was asked for.
///
/// # Errors
///
/// Those of the key.
pub(crate) fn document(
    (envelope, claims): (&SamlEnvelope, &AssertionClaims),
    parts: Signed,
    fault: Option<FaultUse>,
    key: &SamlKey,
) -> Result<String> {
    let scenario = fault.map(|fault| fault.scenario);
    let sign = |message: &[u8]| {
        let mut signature = key.sign(message)?;
        if scenario == Some(FaultScenario::BadSignature)
            && let Some(byte) = signature.get_mut(10)
        {
            *byte ^= 1;
        }
        Ok(signature)
    };
    let digest = match scenario {
        Some(FaultScenario::Sha1) => DigestMethod::Sha1,
        _ => DigestMethod::Sha256,
    };
    let signer = SamlSigner { certificate: key.certificate(), digest, sign: &sign };
    let mut assertion = claims.assertion(envelope);
    if scenario == Some(FaultScenario::CommentInNameid)
        && let Some(name) = name_of(&mut assertion)
    {
        name.children.extend([Node::Comment, Node::Text(".forged.invalid".to_owned())]);
    }
    let parts = what_is_signed(parts, fault);
    let response = assembled(envelope.response(None), assertion, parts, &signer)?;
    Ok(moved(response, fault).document())
}

fn what_is_signed(configured: Signed, fault: Option<FaultUse>) -> Signed {
    let Some(fault) = fault else { return configured };
    match fault.scenario {
        FaultScenario::Unsigned => Signed { assertion: false, response: false },
        FaultScenario::SignatureOnlyOnResponse => Signed { assertion: false, response: true },
        FaultScenario::SignatureWrapping => {
            let is_of_response = wrapping::is_of_response(fault.value);
            Signed { assertion: !is_of_response, response: is_of_response }
        }
        _ => configured,
    }
}

/// Changes what was signed.
fn moved(mut response: Element, fault: Option<FaultUse>) -> Element {
    match fault.map(|fault| (fault.scenario, fault.value)) {
        Some((FaultScenario::Tampered, _)) => {
            forge(&mut response);
            response
        }
        Some((FaultScenario::SignatureWrapping, number)) => wrapping::wrapped(response, number),
        _ => response,
    }
}

/// The name in an assertion.
fn name_of(assertion: &mut Element) -> Option<&mut Element> {
    assertion.find(Namespace::Saml, "Subject")?.find(Namespace::Saml, "NameID")
}

/// Puts the forged name into a response or an assertion.
pub(super) fn forge(element: &mut Element) {
    let assertion = match element.find(Namespace::Saml, "Assertion") {
        Some(assertion) => assertion,
        None => element,
    };
    if let Some(name) = name_of(assertion) {
        name.children = vec![Node::Text(FORGED_NAME.to_owned())];
    }
}
