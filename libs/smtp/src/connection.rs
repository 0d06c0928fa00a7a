//! Drives one session over a connection.
//!
//! Thousands of clients connect and say nothing, so a connection that waits for input holds no
//! buffer: octets are read into one that belongs to the thread, and fed to the session at once.

use std::{
    cell::RefCell,
    future::poll_fn,
    io,
    net::IpAddr,
    pin::Pin,
    task::{Poll, ready},
};

use tokio::{
    io::{AsyncRead, AsyncWriteExt, ReadBuf},
    net::TcpStream,
    time::{self, Duration, Instant},
};

use crate::{
    Implicit, Login, Mail, Mailroom, Observation, Reject, Reservation, Room, Server,
    listener::Shutdown,
    session::{Answer, Question, Session, Step, Tls},
    stream::Stream,
};

/// Of the buffer that each thread reads into.
const BUFFER: usize = 64 << 10;

/// How long, and how much, a closed session goes on reading. To close with input unread resets the
/// connection, and the client might never see the last reply.
const LINGER: Duration = Duration::from_secs(1);
const LINGER_OCTETS: usize = 1 << 20;

const SHUTTING_DOWN: Reject = Reject::fixed(421, (4, 3, 2), "the server is shutting down");
const IDLE: Reject = Reject::fixed(421, (4, 4, 2), "timeout, closing");
const NO_MEMORY: Reject = Reject::fixed(421, (4, 3, 1), "out of memory for mail, try again later");

thread_local! {
    static INPUT: RefCell<Box<[u8]>> = RefCell::new(vec![0; BUFFER].into_boxed_slice());
}

type SessionOf<M> = Session<<M as Mailroom>::Account, <M as Mailroom>::Route>;
type StepOf<M> = Step<<M as Mailroom>::Route>;
type AnswerOf<M> = Answer<<M as Mailroom>::Account, <M as Mailroom>::Route>;

struct Connection<'s, M: Mailroom> {
    server: &'s Server<M>,
    peer: IpAddr,
    stream: Stream,
    session: SessionOf<M>,
    /// Input that was read before the session asked a question, and how much of it is used.
    pending: Vec<u8>,
    used: usize,
    clock: Clock,
}

/// When things began.
struct Clock {
    opened: Instant,
    /// The last complete line, and how many there were.
    line: Instant,
    lines: u64,
    /// The mail that is coming in.
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
    let _open = Open::new(&*server.mailroom);
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

/// Tells of a session's end however it ends, by a panic too.
struct Open<'m, M: Mailroom> {
    mailroom: &'m M,
    since: Instant,
}

impl<'m, M: Mailroom> Open<'m, M> {
    fn new(mailroom: &'m M) -> Self {
        mailroom.observe(Observation::SessionOpened);
        Self { mailroom, since: Instant::now() }
    }
}

impl<M: Mailroom> Drop for Open<'_, M> {
    fn drop(&mut self) {
        self.mailroom.observe(Observation::SessionClosed(self.since.elapsed()));
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
            pending: Vec::new(),
            used: 0,
            clock: Clock { opened: now, line: now, lines: 0, mail: None },
        };
        if implicit == Implicit::Yes {
            connection.handshake().await?;
        }
        Ok(connection)
    }

    async fn drive(&mut self, shutdown: &Shutdown) -> io::Result<()> {
        let mut step = Step::NeedMore;
        loop {
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
        tokio::select! {
            biased;
            step = self.receive() => step,
            () = shutdown.soon.cancelled(), if !receiving => Ok(self.end(&SHUTTING_DOWN)),
            () = time::sleep_until(deadline) => {
                self.server.mailroom.observe(Observation::TimedOut);
                Ok(self.end(&IDLE))
            }
        }
    }

    fn end(&mut self, reject: &Reject) -> StepOf<M> {
        self.session.terminate(reject);
        Step::Close
    }

    fn deadline(&mut self, receiving: bool) -> Instant {
        let (limits, now) = (&self.server.config.limits, Instant::now());
        if self.clock.lines != self.session.lines() {
            self.clock.lines = self.session.lines();
            self.clock.line = now;
        }
        if receiving {
            return self.mail_deadline().min(now + limits.data_idle);
        }
        self.clock.mail = None;
        let established = self.session.is_established();
        let idle = if established { limits.idle } else { limits.idle_before_auth };
        (self.clock.line + idle).min(self.clock.opened + limits.session_total)
    }

    fn mail_deadline(&mut self) -> Instant {
        *self.clock.mail.get_or_insert_with(Instant::now) + self.server.config.limits.data_total
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
        let sent = async {
            self.stream.write_all(&replies).await?;
            self.stream.flush().await
        };
        time::timeout(self.server.config.limits.write, sent).await?
    }

    async fn ask(&mut self, question: Question<M::Route>) -> io::Result<()> {
        let answer = match question {
            Question::Challenge => Answer::Challenge(nonce()?),
            Question::Authenticate(login) => self.authenticate(login).await?,
            Question::Accept(recipient) => self.accept(recipient).await,
            Question::Deliver(mail, reservation) => self.deliver(mail, reservation).await?,
            Question::Room(held) => {
                let Some(room) = self.room(held).await? else {
                    self.session.terminate(&NO_MEMORY);
                    return Ok(());
                };
                Answer::Room(room)
            }
        };
        self.session.answer(answer);
        Ok(())
    }

    async fn authenticate(&mut self, login: Login) -> io::Result<AnswerOf<M>> {
        self.send().await?;
        let outcome = self.server.mailroom.authenticate(&login, self.peer).await;
        self.server.mailroom.observe(match &outcome {
            Ok(_) => Observation::Authenticated,
            Err(reject) => Observation::AuthenticationFailed(reject.code),
        });
        Ok(Answer::Authenticated(outcome))
    }

    /// Replies so far wait, so that those to a pipelined envelope are sent together.
    async fn accept(&mut self, recipient: String) -> AnswerOf<M> {
        let mailroom = &self.server.mailroom;
        let outcome = mailroom.accept(self.session.account(), &recipient).await;
        if let Err(reject) = &outcome {
            mailroom.observe(Observation::RecipientRejected(reject.code));
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
        mailroom.observe(match &outcome {
            Ok(_) => Observation::MessageAccepted { octets, elapsed: began.elapsed() },
            Err(reject) => Observation::MessageRejected(reject.code),
        });
        Ok(Answer::Delivered(outcome))
    }

    /// Waits for memory as long as the mail may take; nothing is read meanwhile.
    async fn room(&mut self, held: usize) -> io::Result<Option<Room>> {
        if held == 0 {
            self.clock.mail = Some(Instant::now());
        }
        if let Some(room) = self.server.memory.try_reserve(held) {
            return Ok(Some(room));
        }
        self.send().await?;
        let (memory, deadline) = (&self.server.memory, self.mail_deadline());
        let room = time::timeout_at(deadline, memory.reserve(held)).await.ok();
        if room.is_none() {
            self.server.mailroom.observe(Observation::OutOfMemory);
        }
        Ok(room)
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
            self.server.mailroom.observe(Observation::HandshakeFailed);
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

/// Passes on what there is to read, at most `size` octets, and none at the end of the stream.
/// Nothing is held while there's nothing to read.
async fn read<T>(
    stream: &mut Stream,
    size: usize,
    mut take: impl FnMut(&[u8]) -> T,
) -> io::Result<T> {
    poll_fn(|cx| {
        INPUT.with_borrow_mut(|buffer| {
            let mut buffer = ReadBuf::new(&mut buffer[..size.min(BUFFER)]);
            ready!(Pin::new(&mut *stream).poll_read(cx, &mut buffer))?;
            Poll::Ready(Ok(take(buffer.filled())))
        })
    })
    .await
}

fn nonce() -> io::Result<[u8; 16]> {
    let mut nonce = [0; 16];
    getrandom::fill(&mut nonce).map_err(io::Error::other)?;
    Ok(nonce)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use std::sync::Arc;

    use tokio::net::TcpListener;

    use super::*;
    use crate::{Config, mailroom::tests::Nobody};

    #[tokio::test]
    async fn an_idle_connection_costs_little() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let server = Server::new(Arc::new(Nobody), Config::new("mx.test"), None);
        let peer = IpAddr::from([127, 0, 0, 1]);
        let session = run(&server, stream, peer, Implicit::No, Shutdown::default());
        let size = size_of_val(&session);
        assert!(size < 4096, "{size} octets");
    }
}
