//! Any octets as a client, cut up anyhow: a session neither panics nor hangs, and takes the same
//! from them whole and octet by octet.
#![no_main]

use std::{net::Ipv4Addr, sync::Arc};

use libfuzzer_sys::fuzz_target;
use trapline_smtp::{
    Config, Receipt, BodyBuffer,
    session::{Answer, Question, Session, Step, Tls},
};

/// What a client is answered, and the bodies it delivers.
#[derive(Debug, Default, PartialEq)]
struct Outcome {
    replies: Vec<u8>,
    bodies: Vec<Vec<u8>>,
}

fn run<'i>(pieces: impl Iterator<Item = &'i [u8]>) -> Outcome {
    let mut config = Config::new("mx.test");
    config.limits.message_size = 100;
    config.limits.command_line = 200;
    let (config, peer) = (Arc::new(config), Ipv4Addr::LOCALHOST.into());
    let mut session: Session<(), ()> = Session::new(config, peer, Tls::Unavailable);
    let mut outcome = Outcome::default();
    for mut input in pieces {
        loop {
            match session.feed(&mut input) {
                Step::NeedMore => break,
                Step::Reply | Step::StartTls => {}
                Step::Ask(question) => session.answer(answer(question, &mut outcome.bodies)),
                Step::Close => {
                    outcome.replies.extend(session.take_replies());
                    return outcome;
                }
            }
        }
        assert!(input.is_empty(), "all input is taken");
        outcome.replies.extend(session.take_replies());
    }
    outcome
}

fn answer(question: Question<()>, bodies: &mut Vec<Vec<u8>>) -> Answer<(), ()> {
    match question {
        Question::Challenge => Answer::Challenge([0; 16]),
        Question::Authenticate(_) => Answer::Authenticated(Ok(())),
        Question::Confirm => Answer::Confirmed(Ok(())),
        Question::Accept(recipient) => Answer::Accepted(recipient, Ok(())),
        Question::BodyBuffer(held) => Answer::BodyBuffer(BodyBuffer::unaccounted((held * 2).max(8))),
        Question::Deliver(mail, _) => {
            assert!(mail.body.len() <= 100 && !mail.recipients.is_empty());
            bodies.push(mail.body.to_vec());
            Answer::Delivered(Ok(Receipt::default()))
        }
    }
}

fuzz_target!(|input: &[u8]| {
    assert_eq!(run(input.chunks(1)), run(std::iter::once(input)));
});
