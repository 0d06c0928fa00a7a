//! Negative replies.

use std::borrow::Cow;

/// A negative reply: an SMTP code (RFC 5321, section 4.2), an enhanced status code (RFC 3463) and a
/// text for the person who reads the client's log. 421 also ends the session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reject {
    /// 400 to 599; anything else is sent as 451.
    pub code: u16,
    /// Class, subject and detail.
    pub enhanced: (u8, u8, u16),
    /// One line; characters that a reply can't carry are replaced, and it's cut to fit 512 octets.
    pub text: Cow<'static, str>,
}

impl Reject {
    /// A reply with a fixed text.
    #[must_use]
    pub const fn fixed(code: u16, enhanced: (u8, u8, u16), text: &'static str) -> Self {
        Self { code, enhanced, text: Cow::Borrowed(text) }
    }

    /// A reply with any text.
    pub fn new(code: u16, enhanced: (u8, u8, u16), text: impl Into<Cow<'static, str>>) -> Self {
        Self { code, enhanced, text: text.into() }
    }

    /// 451 4.3.0: the client should try again later.
    pub fn temporary(text: impl Into<Cow<'static, str>>) -> Self {
        Self::new(451, (4, 3, 0), text)
    }

    /// 554 5.7.1: trying again won't help.
    pub fn permanent(text: impl Into<Cow<'static, str>>) -> Self {
        Self::new(554, (5, 7, 1), text)
    }

    /// 535 5.7.8 (RFC 4954, section 6).
    #[must_use]
    pub const fn bad_credentials() -> Self {
        Self::fixed(535, (5, 7, 8), "authentication credentials invalid")
    }

    /// 454 4.7.0 (RFC 4954, section 6): the credentials could not be checked.
    #[must_use]
    pub const fn cannot_authenticate() -> Self {
        Self::fixed(454, (4, 7, 0), "temporary authentication failure")
    }

    /// 550 5.1.1: no mailbox has this address.
    #[must_use]
    pub const fn unknown_mailbox() -> Self {
        Self::fixed(550, (5, 1, 1), "no such mailbox here")
    }

    /// 550 5.2.1: the mailbox takes no more mail, as one that has expired.
    #[must_use]
    pub const fn disabled_mailbox() -> Self {
        Self::fixed(550, (5, 2, 1), "mailbox disabled, not accepting messages")
    }

    /// 452 4.2.2: the quota is used up.
    pub fn over_quota(text: impl Into<Cow<'static, str>>) -> Self {
        Self::new(452, (4, 2, 2), text)
    }

    /// Whether trying again may help.
    #[must_use]
    pub const fn is_temporary(&self) -> bool {
        self.code < 500
    }
}
