#![expect(clippy::unwrap_used, reason = "tests")]

use std::sync::Arc;

use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
};

use super::*;

const LIMIT: Duration = Duration::from_secs(20);

/// A server that plays a script: lines with `>` are what it expects, others what it says.
async fn scripted(script: &'static str) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        play(stream, script).await;
    });
    Server { address, security: Security::None, pipelining: false, limit: LIMIT }
}

async fn play(stream: TcpStream, script: &str) {
    let mut stream = BufReader::new(stream);
    for line in script.lines().map(str::trim) {
        match line.strip_prefix('>') {
            None => stream.write_all(format!("{line}\r\n").as_bytes()).await.unwrap(),
            Some(expected) => {
                let mut got = String::new();
                stream.read_line(&mut got).await.unwrap();
                assert_eq!(got.trim_end(), expected);
            }
        }
    }
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).await.unwrap();
}

fn mail() -> Mail {
    Mail { from: "a@x".into(), to: "b@x".into(), content: b".dot\r\n".to_vec() }
}

#[test]
fn content_is_dot_stuffed_and_ended() {
    let cases: &[(&[u8], &[u8])] = &[
        (b"a\r\n", b"a\r\n.\r\n"),
        (b"", b".\r\n"),
        (b".\r\n..\r\na.", b"..\r\n...\r\na.\r\n.\r\n"),
        (b"a\r\n.b\r\n", b"a\r\n..b\r\n.\r\n"),
    ];
    for (content, expected) in cases {
        let mut out = Vec::new();
        stuff(content, &mut out);
        assert_eq!(out, *expected);
    }
}

#[test]
fn a_password_may_hold_colons() {
    let login = Login::parse(Mechanism::Plain, "u:p:q").unwrap();
    assert_eq!((login.user.as_str(), login.password.as_str()), ("u", "p:q"));
    assert!(Login::parse(Mechanism::Plain, "nobody").is_err());
}

#[tokio::test]
async fn a_message_is_sent_step_by_step() {
    let server = scripted(
        "220 hello
         >EHLO smtpblast.example
         250-x
         250 PIPELINING
         >MAIL FROM:<a@x>
         250 ok
         >RCPT TO:<b@x>
         250 ok
         >DATA
         354 go
         >..dot
         >.
         250 stored
         >QUIT
         221 bye",
    )
    .await;
    let mut client = Client::connect(&server, None).await.unwrap();
    assert!(!client.pipelines());
    assert_eq!(client.send(&mail()).await, Ok(()));
    assert_eq!(client.quit().await, Ok(()));
}

#[tokio::test]
async fn a_pipelined_refusal_ends_with_an_empty_message() {
    let mut server = scripted(
        "220 hello
         >EHLO smtpblast.example
         250-x
         250 PIPELINING
         >MAIL FROM:<a@x>
         >RCPT TO:<b@x>
         >DATA
         250 ok
         452 full
         354 go
         >.
         554 nobody
         >RSET
         250 ok",
    )
    .await;
    server.pipelining = true;
    let mut client = Client::connect(&server, None).await.unwrap();
    assert!(client.pipelines());
    let refused = client.send(&mail()).await.unwrap_err();
    assert_eq!(refused, Failure::new(Stage::Rcpt, Cause::Reply(452)));
    assert!(refused.keeps_connection());
}

#[tokio::test]
async fn each_mechanism_signs_in() {
    let plain = "220 hello
         >EHLO smtpblast.example
         250 x
         >AUTH PLAIN AHUAcA==
         235 ok";
    let login = "220 hello
         >EHLO smtpblast.example
         250 x
         >AUTH LOGIN
         334 VXNlcm5hbWU6
         >dQ==
         334 UGFzc3dvcmQ6
         >cA==
         235 ok";
    for (mechanism, script) in [(Mechanism::Plain, plain), (Mechanism::Login, login)] {
        let login = Login::parse(mechanism, "u:p").unwrap();
        assert!(Client::connect(&scripted(script).await, Some(&login)).await.is_ok());
    }
}

#[tokio::test]
async fn what_fails_is_told_by_stage_and_cause() {
    let cases = [
        ("421 busy", Stage::Greeting, Cause::Reply(421)),
        ("HTTP/1.1 400 Bad Request", Stage::Greeting, Cause::Malformed),
        ("220 hello\n>EHLO smtpblast.example\n502 no", Stage::Ehlo, Cause::Reply(502)),
    ];
    for (script, stage, cause) in cases {
        let failure = Client::connect(&scripted(script).await, None).await.err();
        assert_eq!(failure, Some(Failure::new(stage, cause)), "{script}");
    }
}

#[tokio::test]
async fn a_server_that_goes_away_is_closed() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { drop(listener.accept().await) });
    let server = Server { address, security: Security::None, pipelining: false, limit: LIMIT };
    let failure = Client::connect(&server, None).await.err().unwrap();
    assert_eq!(failure, Failure::new(Stage::Greeting, Cause::Closed));
    assert!(!failure.keeps_connection());
}

#[tokio::test(start_paused = true)]
async fn a_silent_server_times_out() {
    let listener = Arc::new(TcpListener::bind("127.0.0.1:0").await.unwrap());
    let address = listener.local_addr().unwrap();
    let server = Server { address, security: Security::None, pipelining: false, limit: LIMIT };
    let failure = Client::connect(&server, None).await.err();
    assert_eq!(failure.map(|failure| failure.cause), Some(Cause::Timeout));
}

#[tokio::test]
async fn starttls_that_is_not_offered_is_an_error() {
    use clap::Parser;
    let args = Args::try_parse_from(["smtpblast", "--tls", "starttls", "--insecure"]).unwrap();
    let mut server = scripted("220 hello\n>EHLO smtpblast.example\n250 x").await;
    server.security = Security::new(&args).unwrap();
    let failure = Client::connect(&server, None).await.err();
    assert_eq!(failure, Some(Failure::new(Stage::StartTls, Cause::NotOffered)));
}
