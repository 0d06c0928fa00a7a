//! lettre: what it finds by itself, each mechanism it knows, and both kinds of TLS.

use lettre::{
    Message, SmtpTransport, Transport,
    message::{Attachment, MultiPart, SinglePart, header::ContentType},
    transport::smtp::{
        Error,
        authentication::{Credentials, Mechanism},
        client::{Certificate, Tls, TlsParameters},
    },
};
use serde_json::{Value, json};
use trapline_tests::sha256_hex;

use super::Scene;

const TEXT: &str = "Grüße\r\n.\r\n..two dots\r\n";
const FILE: &[u8] = b"a,b\n1,2\n";

#[tokio::test]
async fn lettre() {
    let scene = Scene::new().await;
    let transports = transports(&scene);
    // The blocking transport must not hold up the runtime.
    let sent = tokio::task::spawn_blocking(move || {
        let sent: Vec<Value> = transports.iter().map(|(name, by)| send(name, by)).collect();
        sent
    });
    scene.holds(&sent.await.unwrap()).await;
}

#[tokio::test]
async fn lettre_is_told_of_a_wrong_password() {
    let scene = Scene::new().await;
    let wrong = Credentials::new(scene.inbox.username.clone(), "wrong".to_owned());
    let transport = plain(&scene).credentials(wrong).build();
    let refused = tokio::task::spawn_blocking(move || transport.send(&message("refused")));
    let code = refused.await.unwrap().err().and_then(|error: Error| error.status());
    assert_eq!(code.map(|code| code.to_string()).as_deref(), Some("535"));
}

type Builder = lettre::transport::smtp::SmtpTransportBuilder;

fn plain(scene: &Scene) -> Builder {
    at(scene, scene.deployment.smtp()[0].port())
}

fn at(scene: &Scene, port: u16) -> Builder {
    let credentials = Credentials::new(scene.inbox.username.clone(), scene.inbox.password.clone());
    SmtpTransport::builder_dangerous("127.0.0.1").port(port).credentials(credentials)
}

fn transports(scene: &Scene) -> Vec<(String, SmtpTransport)> {
    let pem = std::fs::read(scene.ca.path()).unwrap();
    let tls = TlsParameters::builder("127.0.0.1".to_owned())
        .add_root_certificate(Certificate::from_pem(&pem).unwrap())
        .build_rustls()
        .unwrap();
    let smtps = scene.deployment.smtps()[0].port();
    let mut transports = vec![
        ("lettre's choice".to_owned(), plain(scene)),
        ("lettre STARTTLS".to_owned(), plain(scene).tls(Tls::Required(tls.clone()))),
        ("lettre implicit TLS".to_owned(), at(scene, smtps).tls(Tls::Wrapper(tls))),
    ];
    for mechanism in [Mechanism::Plain, Mechanism::Login] {
        let builder = plain(scene).authentication(vec![mechanism]);
        transports.push((format!("lettre {mechanism}"), builder));
    }
    transports.into_iter().map(|(name, builder)| (name, builder.build())).collect()
}

fn message(subject: &str) -> Message {
    let file = Attachment::new("table.csv".to_owned())
        .body(FILE.to_vec(), ContentType::parse("text/csv").unwrap());
    Message::builder()
        .from("Sender <sender@app.test>".parse().unwrap())
        .to("receiver@app.test".parse().unwrap())
        .subject(subject)
        .multipart(
            MultiPart::mixed().singlepart(SinglePart::plain(TEXT.to_owned())).singlepart(file),
        )
        .unwrap()
}

fn send(subject: &str, by: &SmtpTransport) -> Value {
    let message = message(subject);
    by.send(&message).unwrap_or_else(|error| panic!("{subject}: {error:?}"));
    json!({
        "subject": subject,
        "from": "sender@app.test",
        "to": ["receiver@app.test"],
        "text": TEXT,
        "attachments": [{
            "filename": "table.csv",
            "contentType": "text/csv",
            "sha256": sha256_hex(FILE),
        }],
        // lettre ends the last line once more.
        "raw": sha256_hex(&[&message.formatted()[..], b"\r\n"].concat()),
    })
}
