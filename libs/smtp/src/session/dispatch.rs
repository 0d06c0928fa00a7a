//! What each command does.

use std::{fmt::Write, str};

use super::{
    Phase, Question, Session, Step, Tls,
    auth::{SaslExchange, SaslMechanism, SaslStep},
    command::{self, Sender, SmtpCommand},
    data::DotReader,
    transfer::MailTransaction,
};
use crate::Reject;

const NO_HELLO: Reject = Reject::fixed(503, (5, 5, 1), "send EHLO first");
const NO_MAIL: Reject = Reject::fixed(503, (5, 5, 1), "send MAIL first");
const NO_RECIPIENTS: Reject = Reject::fixed(554, (5, 5, 1), "no valid recipients");
const NESTED_MAIL: Reject = Reject::fixed(503, (5, 5, 1), "sender already given");
const IN_CHUNKS: Reject = Reject::fixed(503, (5, 5, 1), "a BDAT transfer is under way");
const AUTH_REQUIRED: Reject = Reject::fixed(530, (5, 7, 0), "authentication required");
const ENCRYPT: Reject = Reject::fixed(538, (5, 7, 11), "encryption required, send STARTTLS first");
const SIGNED_IN: Reject = Reject::fixed(503, (5, 5, 1), "already authenticated");
const AUTH_IN_MAIL: Reject =
    Reject::fixed(503, (5, 5, 1), "AUTH not allowed in a mail transaction");
const NO_INITIAL: Reject = Reject::fixed(501, (5, 5, 4), "CRAM-MD5 takes no initial response");
const NO_TLS: Reject = Reject::fixed(502, (5, 5, 1), "TLS not available");
const TLS_ACTIVE: Reject = Reject::fixed(503, (5, 5, 1), "TLS already active");
const TOO_MANY_RECIPIENTS: Reject = Reject::fixed(452, (4, 5, 3), "too many recipients");
const NOT_UTF8: Reject = Reject::fixed(501, (5, 5, 2), "response is not base64");
const HTTP: Reject = Reject::fixed(421, (4, 7, 0), "this is an SMTP server");
/// RFC 1870, section 6.1.
pub(super) const TOO_LARGE: Reject =
    Reject::fixed(552, (5, 3, 4), "message exceeds the maximum size");

impl<A, R> Session<A, R> {
    pub(super) fn command(&mut self, line: &[u8]) -> Option<Step<R>> {
        self.stage = command::stage(line);
        match command::parse(line) {
            Ok(SmtpCommand::Auth { mechanism, initial }) => return self.auth(mechanism, &initial),
            Ok(SmtpCommand::StartTls) => return self.start_tls(),
            Ok(SmtpCommand::Rcpt(recipient)) => return self.rcpt(recipient),
            Ok(SmtpCommand::Mail(sender)) => return self.mail(sender),
            Ok(SmtpCommand::Data) => self.open_data(),
            Ok(SmtpCommand::Bdat { size, last }) => self.open_chunk(size, last),
            Ok(SmtpCommand::Ehlo(host)) => self.ehlo(host),
            Ok(SmtpCommand::Helo(host)) => self.helo(host),
            Ok(SmtpCommand::Rset) => self.rset(),
            Ok(SmtpCommand::Noop) => self.replies.ok(250, (0, 0), "OK"),
            Ok(SmtpCommand::Vrfy) => self.replies.ok(252, (5, 0), "send a mail and see"),
            Ok(SmtpCommand::Help) => self.replies.ok(214, (0, 0), "see RFC 5321"),
            Ok(SmtpCommand::Quit) => self.quit(),
            Ok(SmtpCommand::Http) => self.terminate(&HTTP),
            Err(reject) => self.fault(&reject),
        }
        None
    }

    fn helo(&mut self, host: String) {
        self.helo = host;
        self.transaction = None;
        self.replies.plain(250, &self.config.hostname);
    }

    /// Also clears the transaction, as RSET does (RFC 5321, section 4.1.4); who signed in stays.
    fn ehlo(&mut self, host: String) {
        self.helo = host;
        self.transaction = None;
        self.replies.more(250, &self.config.hostname);
        for extension in ["PIPELINING", "8BITMIME", "SMTPUTF8", "CHUNKING", "DSN"] {
            self.replies.more(250, extension);
        }
        self.replies.more(250, &format!("SIZE {}", self.config.limits.message_size));
        if self.tls == Tls::Offered {
            self.replies.more(250, "STARTTLS");
        }
        if self.may_authenticate() {
            self.replies.more(250, "AUTH PLAIN LOGIN CRAM-MD5");
        }
        self.replies.plain(250, "ENHANCEDSTATUSCODES");
    }

    fn may_authenticate(&self) -> bool {
        self.tls == Tls::Active || !self.config.auth_requires_tls
    }

    fn start_tls(&mut self) -> Option<Step<R>> {
        match self.tls {
            Tls::Unavailable => self.fault(&NO_TLS),
            Tls::Active => self.fault(&TLS_ACTIVE),
            Tls::Offered => {
                self.replies.ok(220, (0, 0), "ready to start TLS");
                return Some(Step::StartTls);
            }
        }
        None
    }

    fn auth(&mut self, mechanism: SaslMechanism, initial: &str) -> Option<Step<R>> {
        if let Some(reject) = self.auth_refusal() {
            self.fault(&reject);
            return None;
        }
        match mechanism {
            SaslMechanism::Plain => self.begin(SaslExchange::Plain, initial),
            SaslMechanism::Login => self.begin(SaslExchange::Username, initial),
            SaslMechanism::CramMd5 if initial.is_empty() => Some(Step::Ask(Question::Challenge)),
            SaslMechanism::CramMd5 => {
                self.fault(&NO_INITIAL);
                None
            }
        }
    }

    fn auth_refusal(&self) -> Option<Reject> {
        if self.helo.is_empty() {
            Some(NO_HELLO)
        } else if self.account.is_some() {
            Some(SIGNED_IN)
        } else if self.transaction.is_some() {
            Some(AUTH_IN_MAIL)
        } else if !self.may_authenticate() {
            Some(ENCRYPT)
        } else {
            None
        }
    }

    fn begin(&mut self, exchange: SaslExchange, initial: &str) -> Option<Step<R>> {
        if initial.is_empty() {
            self.prompt(exchange);
            return None;
        }
        self.advance(exchange, initial)
    }

    /// A challenge that nobody can foresee, in the form of a message id (RFC 2195, section 2).
    pub(super) fn challenge(&mut self, nonce: [u8; 16]) {
        let mut challenge = String::from("<");
        for octet in nonce {
            // Writing to a string can't fail.
            write!(challenge, "{octet:02x}").ok();
        }
        challenge.push('@');
        challenge.push_str(&self.config.hostname);
        challenge.push('>');
        self.prompt(SaslExchange::CramMd5 { challenge });
    }

    fn prompt(&mut self, exchange: SaslExchange) {
        self.replies.plain(334, &exchange.prompt());
        self.phase = Phase::Sasl(exchange);
    }

    pub(super) fn response(&mut self, exchange: SaslExchange, line: &[u8]) -> Option<Step<R>> {
        let Ok(line) = str::from_utf8(line) else {
            self.fault(&NOT_UTF8);
            return None;
        };
        self.advance(exchange, line.trim_end_matches(['\r', '\n']))
    }

    fn advance(&mut self, exchange: SaslExchange, response: &str) -> Option<Step<R>> {
        match exchange.respond(response) {
            Ok(SaslStep::Complete(login)) => return Some(Step::Ask(Question::Authenticate(login))),
            Ok(SaslStep::Prompt(exchange)) => self.prompt(exchange),
            Err(reject) => self.fault(&reject),
        }
        None
    }

    pub(super) fn authenticated(&mut self, outcome: Result<A, Reject>) {
        match outcome {
            Ok(account) => {
                self.account = Some(account);
                self.replies.ok(235, (7, 0), "authentication succeeded");
            }
            Err(reject) => {
                self.reject(&reject);
                self.count_fault();
            }
        }
    }

    fn mail(&mut self, sender: Sender) -> Option<Step<R>> {
        let limit = self.config.limits.message_size as u64;
        if self.helo.is_empty() {
            self.fault(&NO_HELLO);
        } else if self.config.require_auth && self.account.is_none() {
            self.fault(&AUTH_REQUIRED);
        } else if self.transaction.is_some() {
            self.fault(&NESTED_MAIL);
        } else if sender.size.is_some_and(|size| size > limit) {
            self.refuse(&TOO_LARGE);
        } else {
            self.transaction = Some(Box::new(MailTransaction::new(sender)));
            if self.account.is_some() {
                return Some(Step::Ask(Question::Confirm));
            }
            self.confirmed(Ok(()));
        }
        None
    }

    pub(super) fn confirmed(&mut self, outcome: Result<(), Reject>) {
        match outcome {
            Ok(()) => self.replies.ok(250, (1, 0), "sender accepted"),
            Err(reject) => {
                self.transaction = None;
                if !reject.is_temporary() {
                    self.account = None;
                }
                self.reject(&reject);
            }
        }
    }

    fn rcpt(&mut self, recipient: String) -> Option<Step<R>> {
        let limits = &self.config.limits;
        match &self.transaction {
            None => self.fault(&NO_MAIL),
            Some(transaction) if transaction.chunked => self.fault(&IN_CHUNKS),
            Some(transaction)
                if transaction.recipients.len() >= limits.recipients
                    || transaction.envelope + recipient.len() > limits.envelope =>
            {
                self.refuse(&TOO_MANY_RECIPIENTS);
            }
            Some(_) => return Some(Step::Ask(Question::Accept(recipient))),
        }
        None
    }

    pub(super) fn accepted(&mut self, recipient: String, outcome: Result<R, Reject>) {
        match (outcome, &mut self.transaction) {
            (Ok(route), Some(transaction)) => {
                transaction.add(recipient, route);
                self.replies.ok(250, (1, 5), "recipient accepted");
            }
            (Err(reject), _) => self.reject(&reject),
            (Ok(_), None) => self.fault(&NO_MAIL),
        }
    }

    fn open_data(&mut self) {
        match self.ready_for_body() {
            Ok(transaction) if transaction.chunked => self.fault(&IN_CHUNKS),
            Ok(_) => {
                self.replies.plain(354, "end with <CRLF>.<CRLF>");
                self.phase = Phase::Data(DotReader::default());
            }
            Err(reject) => self.fault(&reject),
        }
    }

    /// The transaction, when a body may follow.
    pub(super) fn ready_for_body(&mut self) -> Result<&mut MailTransaction<R>, Reject> {
        match self.transaction.as_deref_mut() {
            None => Err(NO_MAIL),
            Some(transaction) if transaction.recipients.is_empty() => Err(NO_RECIPIENTS),
            Some(transaction) => Ok(transaction),
        }
    }

    fn rset(&mut self) {
        self.transaction = None;
        self.replies.ok(250, (0, 0), "OK");
    }

    fn quit(&mut self) {
        self.transaction = None;
        self.replies.ok(221, (0, 0), "closing");
        self.phase = Phase::Closing;
    }
}
