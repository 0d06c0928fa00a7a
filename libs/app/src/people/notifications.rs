//! Mails to people about their accounts.

use crate::mail::{Action, EmailTemplate, Notification};

/// Asks whoever signed up to confirm the address.
pub(super) fn sign_up(link: &str) -> EmailTemplate {
    Notification {
        subject: "Confirm your address",
        paragraphs: &["Somebody, we hope you, signed up with this address. Confirm it to sign in."],
        action: Some(Action { label: "Confirm the address", link }),
        closing: "If it was not you, do nothing: without the button on that page there is no account.",
    }
    .template()
}

/// Tells somebody who signed up again that there is an account already.
pub(super) fn known_already(link: &str) -> EmailTemplate {
    Notification {
        subject: "You have an account already",
        paragraphs: &[
            "Somebody, we hope you, signed up with this address, which has an account already.",
            "If you do not know its password any more, choose a new one.",
        ],
        action: Some(Action { label: "Choose a new password", link }),
        closing: "If it was not you, do nothing: your account is as it was.",
    }
    .template()
}

/// Lets somebody who is signed in confirm the address.
pub(super) fn verify(link: &str) -> EmailTemplate {
    Notification {
        subject: "Confirm your address",
        paragraphs: &["Confirm that this is the address of your account."],
        action: Some(Action { label: "Confirm the address", link }),
        closing: "If you have no account, do nothing.",
    }
    .template()
}

/// Lets somebody choose a new password.
pub(super) fn reset(link: &str) -> EmailTemplate {
    Notification {
        subject: "Choose a new password",
        paragraphs: &[
            "Somebody, we hope you, asked for a new password. The link works once, within an hour.",
        ],
        action: Some(Action { label: "Choose a new password", link }),
        closing: "If it was not you, do nothing: your password is as it was.",
    }
    .template()
}

/// Tells somebody that the password was changed.
pub(super) fn changed() -> EmailTemplate {
    Notification {
        subject: "Your password was changed",
        paragraphs: &[
            "The password of your account was changed, and all other sessions have ended.",
        ],
        action: None,
        closing: "If it was not you, reset the password at once, or ask whoever runs the server.",
    }
    .template()
}
