//! Bodies: the text after DATA, and the chunks of BDAT (RFC 3030).

use super::{DotReader, Phase, Question, Receipt, Session, Step, Tls, command::Sender, dispatch};
use crate::{BodyBuffer, Mail, Reject};

/// A mail in the making.
#[derive(Debug)]
pub(super) struct MailTransaction<R> {
    sender: Sender,
    pub(super) recipients: Vec<(String, R)>,
    /// Octets of all recipients' addresses.
    pub(super) envelope: usize,
    /// Whether a BDAT was taken.
    pub(super) chunked: bool,
    pub(super) body: Body,
}

impl<R> MailTransaction<R> {
    pub(super) fn new(sender: Sender) -> Self {
        let recipients = Vec::new();
        Self { sender, recipients, envelope: 0, chunked: false, body: Body::Empty }
    }

    /// The size that MAIL announced, in octets (RFC 1870).
    pub(super) fn announced_size(&self) -> Option<u64> {
        self.sender.size
    }

    pub(super) fn add(&mut self, recipient: String, route: R) {
        self.envelope += recipient.len();
        self.recipients.push((recipient, route));
    }
}

/// What has come of a body.
#[derive(Debug)]
pub(super) enum Body {
    Empty,
    Held(BodyBuffer),
    /// It passed the limit; the rest is dropped as it comes.
    TooLarge,
}

impl Body {
    /// How many octets may be read before a larger buffer is needed. One less than what's free, because
    /// the text after DATA may come out one octet longer than the piece it's read from.
    pub(super) fn window(&self, limit: usize) -> usize {
        match self {
            Self::Held(buffer) if buffer.size() < limit => buffer.free().saturating_sub(1),
            Self::Held(_) | Self::TooLarge => usize::MAX,
            Self::Empty => 0,
        }
    }

    fn size(&self) -> usize {
        if let Self::Held(buffer) = self { buffer.size() } else { 0 }
    }

    fn push(&mut self, octets: &[u8], limit: usize) {
        if let Self::Held(buffer) = self {
            if buffer.len() + octets.len() > limit {
                *self = Self::TooLarge;
            } else {
                buffer.push(octets);
            }
        }
    }
}

/// The rest of a chunk.
#[derive(Debug)]
pub(super) struct Chunk {
    size: u64,
    left: u64,
    last: bool,
    /// Why the chunk is dropped, said once all of it has come.
    refusal: Option<Reject>,
}

impl<A, R> Session<A, R> {
    /// The octets of a chunk follow whether or not it's welcome (RFC 3030, section 2).
    pub(super) fn open_chunk(&mut self, size: u64, last: bool) {
        let refusal = match self.ready_for_body() {
            Ok(transaction) => {
                transaction.chunked = true;
                None
            }
            Err(reject) => Some(reject),
        };
        self.phase = Phase::Chunk(Chunk { size, left: size, last, refusal });
    }

    pub(super) fn data(&mut self, mut reader: DotReader, input: &mut &[u8]) -> Option<Step<R>> {
        let limit = self.config.limits.message_size;
        let body = &mut self.transaction.as_mut()?.body;
        let (window, size) = (body.window(limit), body.size());
        if window == 0 || input.is_empty() {
            self.phase = Phase::Data(reader);
            // Memory is taken for octets that are here, so that a client's promise costs none.
            let awaited = input.is_empty();
            return Some(if awaited {
                Step::NeedMore
            } else {
                Step::Ask(Question::BodyBuffer(size))
            });
        }
        let piece = &input[..input.len().min(window)];
        let (taken, ended) = reader.read(piece, |text| body.push(text, limit));
        *input = &input[taken..];
        if ended {
            return self.complete();
        }
        self.phase = Phase::Data(reader);
        input.is_empty().then_some(Step::NeedMore)
    }

    pub(super) fn chunk(&mut self, mut chunk: Chunk, input: &mut &[u8]) -> Option<Step<R>> {
        let limit = self.config.limits.message_size;
        let mut window = input.len().min(usize::try_from(chunk.left).unwrap_or(usize::MAX));
        if let (Some(transaction), None) = (&mut self.transaction, &chunk.refusal) {
            let free = transaction.body.window(limit);
            if free == 0 && window > 0 {
                let size = transaction.body.size();
                self.phase = Phase::Chunk(chunk);
                return Some(Step::Ask(Question::BodyBuffer(size)));
            }
            window = window.min(free);
            transaction.body.push(&input[..window], limit);
        }
        *input = &input[window..];
        chunk.left -= window as u64;
        if chunk.left == 0 {
            return self.chunk_complete(chunk);
        }
        self.phase = Phase::Chunk(chunk);
        input.is_empty().then_some(Step::NeedMore)
    }

    fn chunk_complete(&mut self, chunk: Chunk) -> Option<Step<R>> {
        let too_large = |t: &MailTransaction<R>| matches!(t.body, Body::TooLarge);
        if let Some(reject) = chunk.refusal {
            self.refuse(&reject);
        } else if chunk.last || self.transaction.as_deref().is_some_and(too_large) {
            return self.complete();
        } else {
            self.replies.ok(250, (0, 0), &format!("{} octets received", chunk.size));
        }
        None
    }

    /// Moves the body into the larger buffer that was asked for.
    pub(super) fn enlarge(&mut self, buffer: BodyBuffer) {
        let Some(transaction) = &mut self.transaction else { return };
        let buffer = match std::mem::replace(&mut transaction.body, Body::Empty) {
            Body::Held(smaller) => buffer.replace(smaller),
            Body::Empty | Body::TooLarge => buffer,
        };
        transaction.body = Body::Held(buffer);
    }

    /// The transaction is over, whatever the mailroom says of the mail.
    fn complete(&mut self) -> Option<Step<R>> {
        let transaction = *self.transaction.take()?;
        let buffer = match transaction.body {
            Body::Held(buffer) => buffer,
            Body::Empty => BodyBuffer::default(),
            Body::TooLarge => {
                self.refuse(&dispatch::TOO_LARGE);
                return None;
            }
        };
        let (body, reservation) = buffer.into_parts();
        let mail = Mail {
            from: transaction.sender.address,
            recipients: transaction.recipients,
            body,
            eight_bit: transaction.sender.eight_bit,
            smtputf8: transaction.sender.smtputf8,
            require_tls: transaction.sender.require_tls,
            tls: self.tls == Tls::Active,
            helo: self.helo.clone(),
            peer: self.peer,
        };
        Some(Step::Ask(Question::Deliver(mail, reservation)))
    }

    pub(super) fn delivered(&mut self, outcome: Result<Receipt, Reject>) {
        match outcome {
            Ok(receipt) => {
                self.mailed = true;
                self.replies.accepted(&receipt);
            }
            Err(reject) => self.reject(&reject),
        }
    }
}
