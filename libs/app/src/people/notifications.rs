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

/// Lets somebody have this address in place of the one before.
pub(super) fn new_address(link: &str) -> EmailTemplate {
    Notification {
        subject: "Confirm your new address",
        paragraphs: &[
            "Somebody, we hope you, wants this to be the address of their account. It changes by the button \
             on that page, where you are signed in or say your password.",
        ],
        action: Some(Action { label: "Change the address", link }),
        closing: "If it was not you, do nothing: without the button nothing changes.",
    }
    .template()
}

/// Tells somebody that another person wants the address of their account for another one.
pub(super) fn taken_already() -> EmailTemplate {
    Notification {
        subject: "This is the address of your account already",
        paragraphs: &[
            "Somebody, we hope you, wants this to be the address of another account. It is that of yours, \
             so nothing was changed.",
        ],
        action: None,
        closing: "Change the address of this account first, if it is to be that of the other one.",
    }
    .template()
}

/// Tells somebody, at the address before, that the address was changed.
pub(super) fn address_changed() -> EmailTemplate {
    Notification {
        subject: "Your address was changed",
        paragraphs: &[
            "Your account has another address now. You sign in with that one, and all other sessions have \
             ended.",
        ],
        action: None,
        closing: "If it was not you, ask whoever runs the server at once.",
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
