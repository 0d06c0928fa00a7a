//! Drives one session over a connection.
//!
//! Thousands of clients connect and say nothing, so a connection that waits for input holds no
//! buffer: octets are read into one that belongs to the thread, and fed to the session at once.

mod input;
mod open;
mod replies;

use std::{future::pending, io, net::IpAddr, sync::Arc};

use tokio::{
    io::AsyncWriteExt,
    net::TcpStream,
    time::{self, Duration, Instant},
};

use self::{
    input::{BUFFER, read},
    open::ObservedSession,
};
use crate::{
    BodyBuffer, Hold, Implicit, Login, Mail, Mailroom, Observation, Reject, Reservation, Server,
    envelopes::CountedEnvelope,
    listener::Shutdown,
    session::{Answer, Question, Session, Step, Tls, octets_of},
    stream::Stream,
};

/// How long, and how much, a closed session goes on reading. To close with input unread resets the
/// connection, and the client might never see the last reply.
const LINGER: Duration = Duration::from_secs(1);
const LINGER_OCTETS: usize = 1 << 20;

const SHUTTING_DOWN: Reject = Reject::fixed(421, (4, 3, 2), "the server is shutting down");
const IDLE: Reject = Reject::fixed(421, (4, 4, 2), "timeout, closing");
const TOO_SLOW: Reject =
    Reject::fixed(421, (4, 3, 1), "too slow while others wait for memory, try again later");
const NO_ROOM: Reject =
    Reject::fixed(452, (4, 3, 1), "out of memory for recipients, send to fewer or try again later");
const NO_MEMORY: Reject = Reject::fixed(421, (4, 3, 1), "out of memory for mail, try again later");

type SessionOf<M> = Session<<M as Mailroom>::Account, <M as Mailroom>::Route>;
type StepOf<M> = Step<<M as Mailroom>::Route>;
type AnswerOf<M> = Answer<<M as Mailroom>::Account, <M as Mailroom>::Route>;

struct Connection<'s, M: Mailroom> {
    server: &'s Server<M>,
    peer: IpAddr,
    stream: Stream,
    session: SessionOf<M>,
    envelope: CountedEnvelope,
    /// Input that was read before the session asked a question, and how much of it is used.
    pending: Vec<u8>,
    used: usize,
    times: SessionTimes,
}

/// The times that deadlines follow from.
struct SessionTimes {
    opened: Instant,
    /// When the last line was complete, and how many there were.
    line: Instant,
    lines: u64,
    /// When the mail that is coming in began.
    mail: Option<Instant>,
}

/// Runs a session to its end.
pub(crate) async fn run<M: Mailroom>(
    server: &Server<M>,
    stream: TcpStream,
    peer: IpAddr,
    implicit: Implicit,
    shutdown: Shutdown,
) {
    let _open = ObservedSession::new(&*server.mailroom, peer);
    let session = async {
        let mut connection = Connection::open(server, stream, peer, implicit).await?;
        connection.drive(&shutdown).await?;
        connection.close().await
    };
    let ended = tokio::select! {
        ended = session => ended,
        () = shutdown.now.cancelled() => Ok(()),
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "an SMTP connection broke");
    }
}

impl<'s, M: Mailroom> Connection<'s, M> {
    async fn open(
        server: &'s Server<M>,
        stream: TcpStream,
        peer: IpAddr,
        implicit: Implicit,
    ) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        let tls = match (&server.tls, implicit) {
            (_, Implicit::Yes) => Tls::Active,
            (Some(_), Implicit::No) => Tls::Offered,
            (None, Implicit::No) => Tls::Unavailable,
        };
        let (now, config) = (Instant::now(), server.config.clone());
        let mut connection = Self {
            server,
            peer,
            stream: Stream::Plain(stream),
            session: Session::new(config, peer, tls),
            envelope: server.envelopes.envelope(peer),
            pending: Vec::new(),
            used: 0,
            times: SessionTimes { opened: now, line: now, lines: 0, mail: None },
        };
        if implicit == Implicit::Yes {
            connection.handshake().await?;
        }
        Ok(connection)
    }

    async fn drive(&mut self, shutdown: &Shutdown) -> io::Result<()> {
        let mut step = Step::NeedMore;
        loop {
            // What is over is given back; what grew was asked for.
            let _counted = self.envelope.resize(self.session.envelope());
            for (stage, code) in self.session.take_refusals() {
                self.observe(Observation::Refused { stage, code });
            }
            step = match step {
                Step::NeedMore => {
                    self.send().await?;
                    self.next(shutdown).await?
                }
                Step::Reply => {
                    self.send().await?;
                    self.resume()
                }
                Step::Ask(question) => {
                    self.ask(question).await?;
                    self.resume()
                }
                Step::StartTls => {
                    self.send().await?;
                    self.handshake().await?;
                    self.session.tls_started();
                    Step::NeedMore
                }
                Step::Close => return self.send().await,
            };
        }
    }

    /// Waits for input, as long as the client may take. A shutdown lets a mail finish.
    async fn next(&mut self, shutdown: &Shutdown) -> io::Result<StepOf<M>> {
        let receiving = self.session.is_receiving();
        if shutdown.soon.is_cancelled() && !receiving {
            return Ok(self.end(&SHUTTING_DOWN));
        }
        let deadline = self.deadline(receiving);
        let hold = self.session.hold().cloned();
        tokio::select! {
            biased;
            () = revoked(hold.as_deref()) => {
                self.observe(Observation::TooSlow);
                Ok(self.end(&TOO_SLOW))
            }
            step = self.receive() => {
                if let Some(hold) = &hold {
                    hold.touch();
                }
                step
            }
            () = shutdown.soon.cancelled(), if !receiving => Ok(self.end(&SHUTTING_DOWN)),
            () = time::sleep_until(deadline) => {
                self.observe(Observation::TimedOut);
                Ok(self.end(&IDLE))
            }
        }
    }

    fn observe(&self, event: Observation) {
        self.server.mailroom.observe(self.peer, event);
    }

    fn end(&mut self, reject: &Reject) -> StepOf<M> {
        self.session.terminate(reject);
        Step::Close
    }

    fn deadline(&mut self, receiving: bool) -> Instant {
        let (limits, now) = (&self.server.config.limits, Instant::now());
        if self.times.lines != self.session.lines() {
            self.times.lines = self.session.lines();
            self.times.line = now;
        }
        if receiving {
            return self.mail_deadline().min(now + limits.data_idle);
        }
        self.times.mail = None;
        let established = self.session.is_established();
        let idle = if established { limits.idle } else { limits.idle_before_auth };
        (self.times.line + idle).min(self.times.opened + limits.session_total)
    }

    fn mail_deadline(&mut self) -> Instant {
        *self.times.mail.get_or_insert_with(Instant::now) + self.server.config.limits.data_total
    }

    async fn receive(&mut self) -> io::Result<StepOf<M>> {
        let Self { stream, session, pending, .. } = self;
        read(stream, session.read_size(), |mut input| {
            if input.is_empty() {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let step = session.feed(&mut input);
            pending.extend_from_slice(input);
            Ok(step)
        })
        .await?
    }

    /// Feeds what was left over.
    fn resume(&mut self) -> StepOf<M> {
        let mut input = &self.pending[self.used..];
        let step = self.session.feed(&mut input);
        self.used = self.pending.len() - input.len();
        if input.is_empty() {
            (self.pending, self.used) = (Vec::new(), 0);
        }
        step
    }

    async fn send(&mut self) -> io::Result<()> {
        let replies = self.session.take_replies();
        if replies.is_empty() {
            return Ok(());
        }
        for code in replies::codes(&replies) {
            self.observe(Observation::Replied(code));
        }
        let Self { stream, session, server, peer, .. } = self;
        let sent = async {
            stream.write_all(&replies).await?;
            stream.flush().await
        };
        tokio::select! {
            sent = time::timeout(server.config.limits.write, sent) => sent?,
            () = revoked(session.hold().map(Arc::as_ref)) => {
                server.mailroom.observe(*peer, Observation::TooSlow);
                Err(io::ErrorKind::TimedOut.into())
            }
        }
    }

    async fn ask(&mut self, question: Question<M::Route>) -> io::Result<()> {
        let answer = match question {
            Question::Challenge => Answer::Challenge(nonce()?),
            Question::Authenticate(login) => self.authenticate(login).await?,
            Question::Confirm => {
                let outcome = match self.session.account() {
                    Some(account) => self.server.mailroom.confirm(account).await,
                    None => Ok(()),
                };
                Answer::Confirmed(outcome)
            }
            Question::Accept(recipient) => self.accept(recipient).await,
            Question::Deliver(mail, reservation) => self.deliver(mail, reservation).await?,
            Question::BodyBuffer(held) => {
                let Some(buffer) = self.body_buffer(held).await? else {
                    self.session.terminate(&NO_MEMORY);
                    return Ok(());
                };
                Answer::BodyBuffer(buffer)
            }
        };
        self.session.answer(answer);
        Ok(())
    }

    async fn authenticate(&mut self, login: Login) -> io::Result<AnswerOf<M>> {
        self.send().await?;
        let outcome = self.server.mailroom.authenticate(&login, self.peer).await;
        self.observe(match &outcome {
            Ok(_) => Observation::Authenticated,
            Err(reject) => Observation::AuthenticationFailed(reject.code),
        });
        Ok(Answer::Authenticated(outcome))
    }

    /// Replies so far wait, so that those to a pipelined envelope are sent together.
    async fn accept(&mut self, recipient: String) -> AnswerOf<M> {
        if !self.envelope.resize(self.session.envelope() + octets_of(&recipient)) {
            self.observe(Observation::RecipientRejected(NO_ROOM.code));
            return Answer::Accepted(recipient, Err(NO_ROOM));
        }
        let mailroom = &self.server.mailroom;
        let outcome = mailroom.accept(self.session.account(), &recipient, self.peer).await;
        let outcome = match (outcome, self.session.announced_size()) {
            (Ok(route), Some(octets)) => mailroom.may_come(&route, octets).await.map(|()| route),
            (outcome, _) => outcome,
        };
        if let Err(reject) = &outcome {
            self.observe(Observation::RecipientRejected(reject.code));
        }
        Answer::Accepted(recipient, outcome)
    }

    async fn deliver(
        &mut self,
        mail: Mail<M::Route>,
        reservation: Reservation,
    ) -> io::Result<AnswerOf<M>> {
        self.send().await?;
        let (began, octets, mailroom) = (Instant::now(), mail.body.len(), &self.server.mailroom);
        let outcome = mailroom.deliver(self.session.account(), mail).await;
        drop(reservation);
        self.observe(match &outcome {
            Ok(_) => Observation::MessageAccepted { octets, elapsed: began.elapsed() },
            Err(reject) => Observation::MessageRejected(reject.code),
        });
        Ok(Answer::Delivered(outcome))
    }

    /// Waits for memory as long as the mail may take; nothing is read meanwhile.
    async fn body_buffer(&mut self, held: usize) -> io::Result<Option<BodyBuffer>> {
        if held == 0 {
            self.times.mail = Some(Instant::now());
        }
        let (memory, mailroom) = (&self.server.memory, &self.server.mailroom);
        let inbox = self.session.route().map_or(0, |route| mailroom.inbox(route));
        let payers = memory.payers(self.peer, inbox);
        if let Some(buffer) = memory.try_reserve(&payers, held) {
            return Ok(Some(buffer));
        }
        if let Some(hold) = self.session.hold() {
            hold.excuse();
        }
        self.send().await?;
        let reserving = Box::pin(memory.reserve(&payers, held));
        let deadline = self.mail_deadline();
        let buffer = tokio::select! {
            buffer = time::timeout_at(deadline, reserving) => buffer.ok(),
            () = revoked(self.session.hold().map(Arc::as_ref)) => None,
        };
        if buffer.is_none() {
            self.observe(Observation::OutOfMemory);
        }
        Ok(buffer)
    }

    /// Drops what was read before (RFC 3207, section 4.2), for anyone could have put it there.
    async fn handshake(&mut self) -> io::Result<()> {
        (self.pending, self.used) = (Vec::new(), 0);
        let Some(acceptor) = &self.server.tls else {
            return Err(io::Error::other("there is no TLS configuration"));
        };
        let encrypted = Box::pin(self.stream.encrypt(acceptor));
        let outcome = time::timeout(self.server.config.limits.handshake, encrypted).await;
        let outcome = outcome.unwrap_or_else(|elapsed| Err(elapsed.into()));
        if outcome.is_err() {
            self.observe(Observation::HandshakeFailed);
        }
        outcome
    }

    async fn close(mut self) -> io::Result<()> {
        let rest = async {
            self.stream.shutdown().await?;
            let mut left = LINGER_OCTETS;
            while left > 0 {
                match read(&mut self.stream, BUFFER, <[u8]>::len).await? {
                    0 => break,
                    octets => left = left.saturating_sub(octets),
                }
            }
            Ok(())
        };
        time::timeout(LINGER, rest).await.unwrap_or(Ok(()))
    }
}

/// Waits until the memory that a mail holds is wanted back; for ever when it holds none.
async fn revoked(hold: Option<&Hold>) {
    match hold {
        Some(hold) => hold.revoked().await,
        None => pending().await,
    }
}

fn nonce() -> io::Result<[u8; 16]> {
    let mut nonce = [0; 16];
    getrandom::fill(&mut nonce).map_err(io::Error::other)?;
    Ok(nonce)
}

#[cfg(test)]
mod tests;
