//! A mail server that takes everything: the relay of the servers under test.

use std::{
    io::{BufRead, BufReader, Write},
    net::{TcpListener, TcpStream},
    sync::{Mutex, OnceLock},
};

/// A mail as it came: its recipient, and the message.
type Relayed = (String, String);

static RELAYED: Mutex<Vec<Relayed>> = Mutex::new(Vec::new());

/// The settings that lead to the relay of this test process.
pub(crate) fn flags() -> Vec<String> {
    static PORT: OnceLock<u16> = OnceLock::new();
    let port = PORT.get_or_init(|| {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                // A client that breaks off is none of the relay's business.
                std::thread::spawn(move || serve(&stream).unwrap_or_default());
            }
        });
        port
    });
    let port = port.to_string();
    let flags = ["--relay-host", "127.0.0.1", "--relay-port", &port, "--relay-tls", "none"];
    let from = ["--relay-from", "no-reply@mail.example"];
    flags.into_iter().chain(from).map(str::to_owned).collect()
}

/// The messages to a recipient, in the order in which they came.
pub fn relayed(to: &str) -> Vec<String> {
    let relayed = RELAYED.lock().unwrap();
    relayed.iter().filter(|(known, _)| known == to).map(|(_, message)| message.clone()).collect()
}

/// Speaks as much SMTP as a client that behaves needs.
fn serve(stream: &TcpStream) -> std::io::Result<()> {
    let (mut lines, mut answers) = (BufReader::new(stream).lines(), stream);
    answers.write_all(b"220 relay\r\n")?;
    let mut to = String::new();
    while let Some(line) = lines.next() {
        let line = line?;
        let answer = match line.get(..4).unwrap_or_default() {
            "EHLO" => "250-relay\r\n250 8BITMIME\r\n",
            "RCPT" => {
                line.split(['<', '>']).nth(1).unwrap_or_default().clone_into(&mut to);
                "250 OK\r\n"
            }
            "DATA" => {
                answers.write_all(b"354 Go on\r\n")?;
                let message = lines.by_ref().map_while(Result::ok).take_while(|line| line != ".");
                let message = message.collect::<Vec<_>>().join("\r\n");
                RELAYED.lock().unwrap().push((to.clone(), message));
                "250 OK\r\n"
            }
            "QUIT" => "221 Bye\r\n",
            _ => "250 OK\r\n",
        };
        answers.write_all(answer.as_bytes())?;
    }
    Ok(())
}
