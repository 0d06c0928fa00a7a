//! One SMTP session as a state machine without I/O: octets go in, replies and questions come out.
//!
//! A driver feeds what it reads, does what each [`Step`] says, and answers each [`Question`].

mod auth;
mod command;
mod data;
mod dispatch;
mod line;
mod path;
mod reply;
mod transfer;

use std::{mem, net::IpAddr, sync::Arc};

use self::{
    auth::SaslExchange,
    data::DotReader,
    line::{Line, Lines},
    reply::Replies,
    transfer::{Body, Chunk, MailTransaction},
};
pub use crate::{BodyBuffer, Config, Hold, Login, Mail, Receipt, Reject, Reservation, Stage};

/// Replies of pipelined commands (RFC 2920) are sent together up to about this many octets.
const MAX_PENDING_REPLIES: usize = 4 << 10;

/// The most that's read before the commands in it are carried out.
const COMMAND_READ_SIZE: usize = 8 << 10;

/// The most that's read of a body at once.
const BODY_READ_SIZE: usize = 64 << 10;

/// Octets in memory that a recipient takes beside its address: what it resolved to.
const RECIPIENT_OVERHEAD: usize = 128;

/// Octets in memory of a recipient.
#[must_use]
pub fn octets_of(recipient: &str) -> usize {
    recipient.len() + RECIPIENT_OVERHEAD
}

/// The state of one session. `A` is who it belongs to after AUTH, `R` what a recipient resolves to.
#[derive(Debug)]
pub struct Session<A, R> {
    config: Arc<Config>,
    peer: IpAddr,
    tls: Tls,
    /// `""` before EHLO and HELO, which need an argument.
    helo: String,
    account: Option<A>,
    mailed: bool,
    transaction: Option<Box<MailTransaction<R>>>,
    phase: Phase,
    lines: Lines,
    replies: Replies,
    errors: u32,
    commands: u64,
    /// Of the command that was last.
    stage: Stage,
    refusals: Vec<(Stage, u16)>,
}

/// Whether the session is encrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tls {
    /// No, and it can't be.
    Unavailable,
    /// No, but STARTTLS is offered.
    Offered,
    /// Yes.
    Active,
}

/// What the next octets are.
#[derive(Debug, Default)]
enum Phase {
    #[default]
    Command,
    Sasl(SaslExchange),
    Data(DotReader),
    Chunk(Chunk),
    Closing,
}

/// What the driver does next.
#[derive(Debug)]
pub enum Step<R> {
    /// The input is used up. Send the replies, read on, and feed that.
    NeedMore,
    /// Send the replies, and feed the rest of the input.
    Reply,
    /// Answer, and feed the rest of the input. Replies so far may be sent before or after.
    Ask(Question<R>),
    /// Send the replies, drop the rest of the input (RFC 3207, section 4.2), shake hands, and call
    /// [`Session::tls_started`].
    StartTls,
    /// Send the replies and close the connection.
    Close,
}

/// What only the world outside the session knows.
#[derive(Debug)]
pub enum Question<R> {
    /// Random octets for a CRAM-MD5 challenge: [`Answer::Challenge`].
    Challenge,
    /// Whether the credentials are right: [`Answer::Authenticated`].
    Authenticate(Login),
    /// Whether who signed in may still send: [`Answer::Confirmed`].
    Confirm,
    /// What this recipient resolves to: [`Answer::Accepted`].
    Accept(String),
    /// A larger buffer, for a body of more octets than this: [`Answer::BodyBuffer`].
    BodyBuffer(usize),
    /// Whether the mail is kept: [`Answer::Delivered`]. Its memory is in use until the reservation
    /// is dropped.
    Deliver(Mail<R>, Reservation),
}

/// The answer to a [`Question`].
#[derive(Debug)]
pub enum Answer<A, R> {
    /// To [`Question::Challenge`].
    Challenge([u8; 16]),
    /// To [`Question::Authenticate`].
    Authenticated(Result<A, Reject>),
    /// To [`Question::Confirm`]. A permanent rejection signs the session out.
    Confirmed(Result<(), Reject>),
    /// To [`Question::Accept`], with the address that was asked about.
    Accepted(String, Result<R, Reject>),
    /// To [`Question::BodyBuffer`]; the last one holds a message of the largest size.
    BodyBuffer(BodyBuffer),
    /// To [`Question::Deliver`].
    Delivered(Result<Receipt, Reject>),
}

impl<A, R> Session<A, R> {
    /// A session that begins with the greeting among its replies.
    #[must_use]
    pub fn new(config: Arc<Config>, peer: IpAddr, tls: Tls) -> Self {
        let mut replies = Replies::default();
        replies.plain(220, &format!("{} ESMTP Trapline", config.hostname));
        Self {
            lines: Lines::new(config.limits.command_line),
            config,
            peer,
            tls,
            helo: String::new(),
            account: None,
            mailed: false,
            transaction: None,
            phase: Phase::Command,
            replies,
            errors: 0,
            commands: 0,
            stage: Stage::Other,
            refusals: Vec::new(),
        }
    }

    /// Takes what it can of `input` and moves the slice on. After [`Step::Ask`] it must be answered
    /// before it's fed again.
    pub fn feed(&mut self, input: &mut &[u8]) -> Step<R> {
        loop {
            let step = match mem::take(&mut self.phase) {
                Phase::Command => self.line(None, input),
                Phase::Sasl(exchange) => self.line(Some(exchange), input),
                Phase::Data(reader) => self.data(reader, input),
                Phase::Chunk(chunk) => self.chunk(chunk, input),
                Phase::Closing => {
                    self.phase = Phase::Closing;
                    Some(Step::Close)
                }
            };
            if let Some(step) = step {
                return step;
            }
            if self.replies.len() > MAX_PENDING_REPLIES {
                return Step::Reply;
            }
        }
    }

    /// Answers the question of the last [`Step::Ask`].
    pub fn answer(&mut self, answer: Answer<A, R>) {
        match answer {
            Answer::Challenge(nonce) => self.challenge(nonce),
            Answer::Authenticated(outcome) => self.authenticated(outcome),
            Answer::Confirmed(outcome) => self.confirmed(outcome),
            Answer::Accepted(recipient, outcome) => self.accepted(recipient, outcome),
            Answer::BodyBuffer(buffer) => self.enlarge(buffer),
            Answer::Delivered(outcome) => self.delivered(outcome),
        }
    }

    /// Starts over after the handshake that STARTTLS asked for (RFC 3207, section 4.2).
    pub fn tls_started(&mut self) {
        self.tls = Tls::Active;
        self.helo = String::new();
        self.account = None;
        self.transaction = None;
        self.phase = Phase::Command;
    }

    /// Ends the session with a last reply.
    pub fn terminate(&mut self, reject: &Reject) {
        self.replies.reject(reject);
        self.transaction = None;
        self.phase = Phase::Closing;
    }

    /// The replies that wait to be sent.
    pub fn take_replies(&mut self) -> Vec<u8> {
        self.replies.take()
    }

    /// What the body that comes in holds of the memory.
    #[must_use]
    pub fn hold(&self) -> Option<&Arc<Hold>> {
        match &self.transaction.as_ref()?.body {
            Body::Held(buffer) => buffer.hold(),
            Body::Empty | Body::TooLarge => None,
        }
    }

    /// What the first recipient of the mail that comes in resolved to.
    #[must_use]
    pub fn route(&self) -> Option<&R> {
        self.transaction.as_ref()?.recipients.first().map(|(_, route)| route)
    }

    /// The size that the client announced of the mail that comes in, in octets (RFC 1870).
    #[must_use]
    pub fn announced_size(&self) -> Option<u64> {
        self.transaction.as_ref()?.announced_size()
    }

    /// Octets in memory of the recipients of the mail that comes in.
    #[must_use]
    pub fn envelope(&self) -> usize {
        self.transaction.as_ref().map_or(0, |transaction| {
            transaction.envelope + transaction.recipients.len() * RECIPIENT_OVERHEAD
        })
    }

    /// What was refused without a question, since this was last asked; no more than there are replies.
    pub fn take_refusals(&mut self) -> Vec<(Stage, u16)> {
        mem::take(&mut self.refusals)
    }

    /// Who signed in.
    #[must_use]
    pub const fn account(&self) -> Option<&A> {
        self.account.as_ref()
    }

    /// Whether the client signed in or sent a mail.
    #[must_use]
    pub const fn is_established(&self) -> bool {
        self.account.is_some() || self.mailed
    }

    /// Whether a mail has begun to come in.
    #[must_use]
    pub fn is_receiving(&self) -> bool {
        matches!(self.phase, Phase::Data(_) | Phase::Chunk(_))
            || self.transaction.as_ref().is_some_and(|transaction| transaction.chunked)
    }

    /// Lines received so far. While this stands still, the client is idle however much it sends.
    #[must_use]
    pub const fn lines(&self) -> u64 {
        self.commands
    }

    /// The most octets that should be read and fed at once, so that little is left over when the
    /// session asks a question. At least 1.
    #[must_use]
    pub fn read_size(&self) -> usize {
        match (&self.phase, &self.transaction) {
            (Phase::Data(_) | Phase::Chunk(_), Some(transaction)) => {
                transaction.body.window(self.config.limits.message_size).clamp(1, BODY_READ_SIZE)
            }
            (Phase::Chunk(_), None) => BODY_READ_SIZE,
            _ => COMMAND_READ_SIZE,
        }
    }

    fn line(&mut self, exchange: Option<SaslExchange>, input: &mut &[u8]) -> Option<Step<R>> {
        match self.lines.next(input, exchange.is_some()) {
            Line::Unfinished => {
                self.phase = exchange.map_or(Phase::Command, Phase::Sasl);
                Some(Step::NeedMore)
            }
            Line::TooLong { again } => {
                self.too_long(again);
                None
            }
            Line::Whole(line) => {
                self.commands += 1;
                match exchange {
                    Some(exchange) => self.response(exchange, &line),
                    None => self.command(&line),
                }
            }
        }
    }

    /// Says no by the session's own rules.
    fn refuse(&mut self, reject: &Reject) {
        self.refusals.push((self.stage, reject.code));
        self.reject(reject);
    }

    /// Says no, and closes when that's what the code means (RFC 5321, section 4.2.2).
    fn reject(&mut self, reject: &Reject) {
        if reject.code == 421 { self.terminate(reject) } else { self.replies.reject(reject) }
    }

    /// Says no to a mistake of the client, which gets no more than a number of them.
    fn fault(&mut self, reject: &Reject) {
        self.refuse(reject);
        self.count_fault();
    }

    fn count_fault(&mut self) {
        const TOO_MANY: Reject = Reject::fixed(421, (4, 7, 0), "too many errors, closing");
        self.errors += 1;
        let closing = matches!(self.phase, Phase::Closing);
        if self.errors >= self.config.limits.errors && !closing {
            self.terminate(&TOO_MANY);
        }
    }

    fn too_long(&mut self, again: bool) {
        const TOO_LONG: Reject = Reject::fixed(500, (5, 5, 2), "line too long");
        if again { self.count_fault() } else { self.fault(&TOO_LONG) }
    }
}

#[cfg(test)]
mod tests;
