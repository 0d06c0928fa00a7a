//! Whole sessions without I/O.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod auth;
mod bodies;
mod commands;
mod splits;

use std::net::Ipv4Addr;

use super::*;
use crate::Limits;

/// A session, and a mailroom that knows `ada` and no recipient that starts with `no`.
struct Talk {
    session: Session<String, usize>,
    mails: Vec<Mail<usize>>,
    logins: Vec<Login>,
    replies: String,
    closed: bool,
    /// Whether who signed in may no longer send.
    rotated: bool,
}

impl Talk {
    fn new(config: Config, tls: Tls) -> Self {
        let session = Session::new(Arc::new(config), Ipv4Addr::LOCALHOST.into(), tls);
        let (mails, logins, replies) = (Vec::new(), Vec::new(), String::new());
        let (closed, rotated) = (false, false);
        let mut talk = Self { session, mails, logins, replies, closed, rotated };
        talk.say("");
        talk.replies.clear();
        talk
    }

    /// After EHLO.
    fn open(config: Config) -> Self {
        let mut talk = Self::new(config, Tls::Unavailable);
        talk.say("EHLO client.test\r\n");
        talk
    }

    /// Sends, and returns the codes of the replies in order.
    fn say(&mut self, input: impl AsRef<[u8]>) -> Vec<String> {
        let mut input = input.as_ref();
        let before = self.replies.len();
        while !self.closed {
            let step = self.session.feed(&mut input);
            match step {
                Step::NeedMore => {
                    assert!(input.is_empty(), "all input is taken");
                    break;
                }
                Step::Reply => {}
                Step::Ask(question) => self.reply_to(question),
                Step::StartTls => {
                    input = b"";
                    self.session.tls_started();
                }
                Step::Close => self.closed = true,
            }
        }
        self.replies.push_str(&String::from_utf8(self.session.take_replies()).unwrap());
        codes(&self.replies[before..])
    }

    fn reply_to(&mut self, question: Question<usize>) {
        let answer = match question {
            Question::Challenge => Answer::Challenge([0xab; 16]),
            Question::Authenticate(login) => {
                let known = match &login {
                    Login::Plain { username, password } => {
                        (username.as_str(), password.as_str()) == ("ada", "secret")
                    }
                    Login::CramMd5 { username, digest, .. } => {
                        (username.as_str(), *digest) == ("ada", [7; 16])
                    }
                };
                let account = login.username().to_owned();
                self.logins.push(login);
                Answer::Authenticated(known.then_some(account).ok_or(Reject::bad_credentials()))
            }
            Question::Confirm => {
                let reject = Reject::fixed(530, (5, 7, 0), "sign in again");
                Answer::Confirmed(if self.rotated { Err(reject) } else { Ok(()) })
            }
            Question::Accept(recipient) => {
                let route = if recipient.starts_with("no") {
                    Err(Reject::unknown_mailbox())
                } else {
                    Ok(recipient.len())
                };
                Answer::Accepted(recipient, route)
            }
            Question::BodyBuffer(held) => {
                Answer::BodyBuffer(BodyBuffer::unaccounted((held * 2).max(8)))
            }
            Question::Deliver(mail, _reservation) => {
                let refused = mail.from.starts_with("later");
                self.mails.push(mail);
                let receipt = Receipt { ids: vec![format!("m{}", self.mails.len())] };
                Answer::Delivered(if refused {
                    Err(Reject::temporary("later"))
                } else {
                    Ok(receipt)
                })
            }
        };
        self.session.answer(answer);
    }

    fn bodies(&self) -> Vec<&[u8]> {
        self.mails.iter().map(|mail| &mail.body[..]).collect()
    }
}

/// `250 2.1.0` of `250 2.1.0 text`, and `250-` of a line that goes on.
fn codes(replies: &str) -> Vec<String> {
    let code = |line: &str| match line.split(' ').collect::<Vec<_>>()[..] {
        [code, enhanced, ..] if enhanced.split('.').count() == 3 => format!("{code} {enhanced}"),
        _ => line[..line.len().min(4)].trim_end().to_owned(),
    };
    replies.lines().map(code).collect()
}

fn config() -> Config {
    let limits = Limits { message_size: 64, ..Limits::default() };
    Config { limits, ..Config::new("mx.test") }
}

/// Runs `(what is sent, codes of the replies)` through one session.
fn converse(talk: &mut Talk, lines: &[(&str, &[&str])]) {
    for (sent, expected) in lines {
        assert_eq!(talk.say(sent), *expected, "after {sent:?}");
    }
}
