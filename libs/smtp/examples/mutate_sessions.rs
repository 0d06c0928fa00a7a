//! Many mutated SMTP sessions, cut up at random: none panics, hangs or grows, and each says the same
//! however its octets come in. Arguments: how many, and a seed number.

#[path = "../../../tests/fuzz/campaign.rs"]
mod campaign;
#[path = "../../../tests/fuzz/mutation.rs"]
mod mutation;

use std::{net::Ipv4Addr, process::ExitCode, sync::Arc};

use mutation::{Mutator, Random};
use trapline_smtp::{
    BodyBuffer, Config, Login, Receipt, Reject,
    session::{Answer, Question, Session, Step, Tls},
};

/// Whole sessions. `AGFkYQBzZWNyZXQ=` is ada's PLAIN response, `YWRhIDAw…` one to CRAM-MD5.
const SEEDS: &[&str] = &[
    "EHLO c.test\r\nMAIL FROM:<a@x.test>\r\nRCPT TO:<b@y.test>\r\nDATA\r\nSubject: hi\r\n\r\n\
     ..dot\r\n...\r\n.x\r\n.\r\nQUIT\r\n",
    "EHLO c.test\r\nAUTH PLAIN AGFkYQBzZWNyZXQ=\r\nMAIL FROM:<> BODY=8BITMIME SMTPUTF8 SIZE=300 \
     RET=HDRS ENVID=q+2B1\r\nRCPT TO:<b@y.test> NOTIFY=SUCCESS,DELAY ORCPT=rfc822;b@y.test\r\n\
     RCPT TO:<\"q \\\" u\"@[IPv6:::1]>\r\nDATA\r\nx\r\n.\r\nQUIT\r\n",
    "EHLO [127.0.0.1]\r\nAUTH LOGIN\r\nYWRh\r\nc2VjcmV0\r\nAUTH PLAIN\r\n*\r\nNOOP\r\nVRFY a\r\nHELP\r\n\
     QUIT\r\n",
    "EHLO c.test\r\nAUTH CRAM-MD5\r\nYWRhIDAwMDEwMjAzMDQwNTA2MDcwODA5MGEwYjBjMGQwZTBm\r\n\
     MAIL FROM:<@r.test,@s.test:a@x.test> REQUIRETLS AUTH=<>\r\nRCPT TO:<b@y.test>\r\nRSET\r\n\
     MAIL FROM:<a@x.test>\r\nRCPT TO:b@y.test\r\nDATA\r\n\r\n.\r\n",
    "EHLO c.test\r\nMAIL FROM:<a@x.test>\r\nRCPT TO:<b@y.test>\r\nBDAT 10\r\n0123456\r\n.BDAT 3 LAST\r\n\
     ab\nMAIL FROM:<a@x.test>\r\nRCPT TO:<c@y.test>\r\nBDAT 5\r\nhelloRSET\r\nBDAT 0 LAST\r\nQUIT\r\n",
    "HELO c\r\nMAIL FROM:<a@x.test>\r\nRCPT TO:<b@y.test>\r\nRCPT TO:<c@y.test>\r\nDATA\r\nfirst\r\n.\r\n\
     MAIL FROM:<d@x.test>\r\nRCPT TO:<e@y.test>\r\nDATA\r\nsecond\r\n.\r\nRSET\r\nQUIT\r\n",
    "EHLO c.test\r\nSTARTTLS\r\nEHLO c.test\r\nMAIL FROM:<\u{fc}@x.test> SMTPUTF8\r\n\
     RCPT TO:<\u{4e00}@y.test>\r\nDATA\r\n\u{e9}\n.\nbare\r.\r\n.\r\nquit\r\n",
];

/// Parts of commands, and what ends a line or doesn't.
#[rustfmt::skip]
const TOKENS: &[&[u8]] = &[
    b"\r\n", b"\n", b"\r", b"\r\r\n", b"\0", b"\xFF", b"\xC3\xA9", b"\r\n.\r\n", b"\n.\n", b"\r\n.\n",
    b"\r.\r", b".", b"..", b"EHLO c\r\n", b"HELO c\r\n", b"LHLO c\r\n", b"MAIL FROM:<a@x.test>\r\n",
    b"RCPT TO:<b@y.test>\r\n", b"DATA\r\n", b"BDAT 7\r\n", b"BDAT 0 LAST\r\n", b"BDAT 99999\r\n", b"*\r\n",
    b"BDAT 18446744073709551616\r\n", b"BDAT 2000 LAST\r\n", b"RSET\r\n", b"NOOP x\r\n", b"QUIT\r\n",
    b"STARTTLS\r\n", b"AUTH PLAIN\r\n", b"AUTH LOGIN\r\n", b"AUTH LOGIN YWRh\r\n", b"AUTH CRAM-MD5\r\n",
    b"AUTH PLAIN AGFkYQBzZWNyZXQ=\r\n", b"AUTH PLAIN =\r\n", b"VRFY a\r\n", b"HELP\r\n", b"=", b" SIZE=1",
    b"GET / HTTP/1.1\r\n", b" SIZE=99999999999999999999", b" BODY=BINARYMIME", b" SMTPUTF8", b"<", b">",
    b" NOTIFY=NEVER", b" ORCPT=rfc822;", b"@", b"\"", b"\\", b":", b",", b" ", b"\t", b"[IPv6:::1]",
];

/// Octets of one mail, and of one command line.
const MESSAGE: usize = 2000;
const LINE: usize = 512;

/// No more replies than this may wait to be sent, in octets.
const WAITING: usize = 64 << 10;

/// The longest reply to one command (EHLO), in octets.
const REPLY: usize = 1024;

fn main() -> ExitCode {
    let seeds = SEEDS.iter().map(|seed| seed.as_bytes().to_vec()).collect();
    campaign::run("sessions", &Mutator::new(seeds, TOKENS), check)
}

fn check(input: &[u8], random: &mut Random) {
    let tls = *random.pick(&[Tls::Unavailable, Tls::Offered, Tls::Active]);
    let mut config = Config::new("mx.test");
    config.limits.message_size = MESSAGE;
    config.limits.command_line = LINE;
    config.require_auth = random.below(8) == 0;
    config.auth_requires_tls = random.below(8) == 0;
    let config = Arc::new(config);
    let whole = Client::run(&config, tls, input, |most| most);
    let longest = *random.pick(&[1, 4, 40, 400]);
    let pieces = Client::run(&config, tls, input, |most| most.min(1 + random.below(longest)));
    assert_eq!(whole, pieces);
}

/// What a client is answered, and the bodies it delivers.
#[derive(Debug, Default, PartialEq)]
struct Client {
    replies: Vec<u8>,
    bodies: Vec<Vec<u8>>,
}

impl Client {
    /// A session fed with pieces; `piece` says how long the next one is, given the most it may be.
    fn run(
        config: &Arc<Config>,
        tls: Tls,
        mut input: &[u8],
        mut piece: impl FnMut(usize) -> usize,
    ) -> Self {
        let errors = config.limits.errors as usize;
        let mut session = Session::new(Arc::clone(config), Ipv4Addr::LOCALHOST.into(), tls);
        let mut client = Self::default();
        while !input.is_empty() {
            let (now, later) = input.split_at(piece(session.read_size()).min(input.len()));
            input = later;
            if client.feed(&mut session, now) {
                break;
            }
        }
        let lines = usize::try_from(session.lines()).unwrap_or(usize::MAX);
        assert!(client.replies.len() <= (lines + errors + 2) * REPLY, "replies are bounded");
        client
    }

    /// Whether the session closed. Each octet is worth a few steps at most.
    fn feed(&mut self, session: &mut Session<(), ()>, mut input: &[u8]) -> bool {
        for _ in 0..16 + 4 * input.len() {
            let step = session.feed(&mut input);
            let closed = matches!(step, Step::Close);
            let done = closed || matches!(step, Step::NeedMore);
            match step {
                Step::Ask(question) => session.answer(self.answer(question)),
                Step::StartTls => session.tls_started(),
                Step::NeedMore => assert!(input.is_empty(), "all input is taken"),
                Step::Reply | Step::Close => {}
            }
            let replies = session.take_replies();
            assert!(replies.len() <= WAITING, "replies are sent in time");
            self.replies.extend(replies);
            if done {
                return closed;
            }
        }
        panic!("too many steps for the input");
    }

    fn answer(&mut self, question: Question<()>) -> Answer<(), ()> {
        match question {
            Question::Challenge => Answer::Challenge([7; 16]),
            Question::Authenticate(Login::Plain { password, .. }) => {
                Answer::Authenticated(allow(password == "secret"))
            }
            Question::Authenticate(Login::CramMd5 { username, .. }) => {
                Answer::Authenticated(allow(username == "ada"))
            }
            Question::Confirm => Answer::Confirmed(Ok(())),
            Question::Accept(recipient) => {
                let allowed = allow(recipient.len() % 5 != 0);
                Answer::Accepted(recipient, allowed)
            }
            Question::BodyBuffer(held) => {
                Answer::BodyBuffer(BodyBuffer::unaccounted((held * 2).max(64)))
            }
            Question::Deliver(mail, _) => {
                assert!(mail.body.len() <= MESSAGE && !mail.recipients.is_empty());
                self.bodies.push(mail.body.to_vec());
                Answer::Delivered(allow(mail.body.len() % 7 != 0).map(|()| Receipt::default()))
            }
        }
    }
}

fn allow(allowed: bool) -> Result<(), Reject> {
    if allowed { Ok(()) } else { Err(Reject::permanent("no")) }
}
