//! Commands and their arguments (RFC 5321, section 4.1.1).
//!
//! smtp-proto parses most of them. It's stricter about paths than the programs that send mail are,
//! and takes a chunk size too large to count for a small one, so MAIL, RCPT and BDAT are done here.

use std::str;

use smtp_proto::{AUTH_CRAM_MD5, AUTH_LOGIN, AUTH_PLAIN, Error, Request};

use super::{auth::SaslMechanism, path::path};
use crate::{Reject, Stage};

#[derive(Debug, PartialEq, Eq)]
pub(super) enum SmtpCommand {
    Ehlo(String),
    Helo(String),
    Mail(Sender),
    Rcpt(String),
    Data,
    Bdat {
        size: u64,
        last: bool,
    },
    Auth {
        mechanism: SaslMechanism,
        /// Base64; `""` when there is none.
        initial: String,
    },
    StartTls,
    Rset,
    Noop,
    Help,
    Vrfy,
    Quit,
    /// A browser made to speak to this port.
    Http,
}

/// The arguments of MAIL.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Sender {
    pub(super) address: String,
    pub(super) size: Option<u64>,
    pub(super) eight_bit: bool,
    pub(super) smtputf8: bool,
    pub(super) require_tls: bool,
}

const CONTROL: Reject = Reject::fixed(501, (5, 5, 2), "control character in the command");
const NOT_UTF8: Reject = Reject::fixed(501, (5, 5, 2), "the command is not UTF-8");
const UNKNOWN: Reject = Reject::fixed(500, (5, 5, 1), "command not recognized");
const NOT_IMPLEMENTED: Reject = Reject::fixed(502, (5, 5, 1), "command not implemented");
const MAIL_SYNTAX: Reject = Reject::fixed(501, (5, 5, 4), "syntax: MAIL FROM:<address>");
const RCPT_SYNTAX: Reject = Reject::fixed(501, (5, 5, 4), "syntax: RCPT TO:<address>");
const BAD_SENDER: Reject = Reject::fixed(501, (5, 1, 7), "bad sender address syntax");
const BAD_RECIPIENT: Reject = Reject::fixed(501, (5, 1, 3), "bad recipient address syntax");
const BDAT_SYNTAX: Reject = Reject::fixed(501, (5, 5, 4), "syntax: BDAT octets [LAST]");
const BAD_PARAMETER: Reject = Reject::fixed(501, (5, 5, 4), "bad value of a parameter");
const NO_BINARY: Reject = Reject::fixed(555, (5, 5, 4), "BODY=BINARYMIME is not offered");
const UNKNOWN_MECHANISM: Reject =
    Reject::fixed(504, (5, 5, 4), "mechanism not supported, use PLAIN, LOGIN or CRAM-MD5");

/// Parses one line with its line end. Control characters are refused wherever they stand: in an
/// address, they would forge header fields further on.
pub(super) fn parse(line: &[u8]) -> Result<SmtpCommand, Reject> {
    let text = line.strip_suffix(b"\n").unwrap_or(line);
    let text = text.strip_suffix(b"\r").unwrap_or(text);
    if text.iter().any(|octet| octet.is_ascii_control() && *octet != b'\t') {
        return Err(CONTROL);
    }
    let text = str::from_utf8(text).map_err(|_| NOT_UTF8)?.trim_start();
    let verb = text.split([' ', '\t']).next().unwrap_or_default();
    let arguments = &text[verb.len()..];
    match verb.to_ascii_uppercase().as_str() {
        "MAIL" => mail(arguments),
        "RCPT" => rcpt(arguments),
        "BDAT" => bdat(arguments),
        "GET" | "HEAD" | "POST" | "PUT" | "OPTIONS" | "CONNECT" => Ok(SmtpCommand::Http),
        _ => other(line),
    }
}

/// What a line is about, though it may be faulty.
pub(super) fn stage(line: &[u8]) -> Stage {
    match line.get(..4).map(<[u8]>::to_ascii_uppercase).as_deref() {
        Some(b"AUTH") => Stage::Auth,
        Some(b"MAIL") => Stage::Mail,
        Some(b"RCPT") => Stage::Rcpt,
        Some(b"DATA" | b"BDAT") => Stage::Data,
        _ => Stage::Other,
    }
}

fn mail(arguments: &str) -> Result<SmtpCommand, Reject> {
    let from = after_keyword(arguments, "FROM").ok_or(MAIL_SYNTAX)?;
    let path = path(from).ok_or(BAD_SENDER)?;
    let mut sender = Sender { address: path.mailbox.to_owned(), ..Sender::default() };
    for (keyword, value) in path.parameters().ok_or(BAD_SENDER)? {
        sender.parameter(keyword, value)?;
    }
    Ok(SmtpCommand::Mail(sender))
}

impl Sender {
    /// Keeps the parameters that matter here. Others, of DSN or unknown, are taken and ignored.
    fn parameter(&mut self, keyword: &str, value: &str) -> Result<(), Reject> {
        match keyword.to_ascii_uppercase().as_str() {
            "SIZE" => self.size = Some(octets(value).ok_or(BAD_PARAMETER)?),
            "BODY" => self.eight_bit = eight_bit(value)?,
            "SMTPUTF8" => self.smtputf8 = true,
            "REQUIRETLS" => self.require_tls = true,
            _ => {}
        }
        Ok(())
    }
}

/// RFC 6152, section 2. BINARYMIME (RFC 3030) isn't offered.
fn eight_bit(body: &str) -> Result<bool, Reject> {
    match body.to_ascii_uppercase().as_str() {
        "8BITMIME" => Ok(true),
        "7BIT" => Ok(false),
        "BINARYMIME" => Err(NO_BINARY),
        _ => Err(BAD_PARAMETER),
    }
}

/// A number of octets; one too large to count is as good as the largest.
fn octets(digits: &str) -> Option<u64> {
    let valid = !digits.is_empty() && digits.bytes().all(|octet| octet.is_ascii_digit());
    valid.then(|| digits.parse().unwrap_or(u64::MAX))
}

/// RFC 3030, section 2.
fn bdat(arguments: &str) -> Result<SmtpCommand, Reject> {
    let mut words = arguments.split_ascii_whitespace();
    let size = words.next().and_then(octets).ok_or(BDAT_SYNTAX)?;
    match (words.next(), words.next()) {
        (None, _) => Ok(SmtpCommand::Bdat { size, last: false }),
        (Some(word), None) if word.eq_ignore_ascii_case("LAST") => {
            Ok(SmtpCommand::Bdat { size, last: true })
        }
        _ => Err(BDAT_SYNTAX),
    }
}

fn rcpt(arguments: &str) -> Result<SmtpCommand, Reject> {
    let to = after_keyword(arguments, "TO").ok_or(RCPT_SYNTAX)?;
    let path = path(to).filter(|path| !path.mailbox.is_empty() && path.parameters().is_some());
    path.map(|path| SmtpCommand::Rcpt(path.mailbox.to_owned())).ok_or(BAD_RECIPIENT)
}

/// What follows `keyword:`, with blanks around the keyword.
fn after_keyword<'t>(text: &'t str, keyword: &str) -> Option<&'t str> {
    let (word, rest) = text.trim_start().split_at_checked(keyword.len())?;
    if !word.eq_ignore_ascii_case(keyword) {
        return None;
    }
    rest.trim_start().strip_prefix(':')
}

fn other(line: &[u8]) -> Result<SmtpCommand, Reject> {
    match Request::parse(&mut line.iter()).map_err(|error| syntax(&error))? {
        Request::Ehlo { host } => Ok(SmtpCommand::Ehlo(host.into_owned())),
        Request::Helo { host } => Ok(SmtpCommand::Helo(host.into_owned())),
        Request::Data => Ok(SmtpCommand::Data),
        Request::Auth { mechanism, initial_response } => {
            let mechanism = supported(mechanism).ok_or(UNKNOWN_MECHANISM)?;
            Ok(SmtpCommand::Auth { mechanism, initial: initial_response.into_owned() })
        }
        Request::StartTls => Ok(SmtpCommand::StartTls),
        Request::Rset => Ok(SmtpCommand::Rset),
        Request::Noop { .. } => Ok(SmtpCommand::Noop),
        Request::Help { .. } => Ok(SmtpCommand::Help),
        Request::Vrfy { .. } => Ok(SmtpCommand::Vrfy),
        Request::Quit => Ok(SmtpCommand::Quit),
        _ => Err(NOT_IMPLEMENTED),
    }
}

const fn supported(mechanism: u64) -> Option<SaslMechanism> {
    match mechanism {
        AUTH_PLAIN => Some(SaslMechanism::Plain),
        AUTH_LOGIN => Some(SaslMechanism::Login),
        AUTH_CRAM_MD5 => Some(SaslMechanism::CramMd5),
        _ => None,
    }
}

fn syntax(error: &Error) -> Reject {
    match error {
        Error::SyntaxError { syntax } => Reject::new(501, (5, 5, 4), format!("syntax: {syntax}")),
        _ => UNKNOWN,
    }
}

#[cfg(test)]
mod tests;
