//! Providers behind a terminator of TLS, and at the listener that speaks it: every address is https, and no library has
//! anything switched off.

use std::{io::Write as _, path::Path, sync::Arc};

use futures_util::future::join_all;
use rustls::{ServerConfig, pki_types::PrivateKeyDer};
use serde_json::json;
use tempfile::NamedTempFile;
use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
};
use tokio_rustls::TlsAcceptor;
use trapline_tests::{Deployment, Rest, is_cluster};

use super::{
    path_of, provider,
    sessions::cookie_of,
    stacks::{Outcome, STACKS, web::WebApp},
};

/// Takes connections for `localhost`, and passes what is in them to an address that is found later.
struct Terminator {
    listener: TcpListener,
    acceptor: TlsAcceptor,
    /// The certificate, for clients that are to trust it.
    ca: NamedTempFile,
}

impl Terminator {
    async fn bind() -> Self {
        let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
        let mut ca = NamedTempFile::new().unwrap();
        ca.write_all(made.cert.pem().as_bytes()).unwrap();
        let key = PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into());
        let config = ServerConfig::builder().with_no_client_auth();
        let config = config.with_single_cert(vec![made.cert.der().clone()], key).unwrap();
        let acceptor = TlsAcceptor::from(Arc::new(config));
        Self { listener: TcpListener::bind("127.0.0.1:0").await.unwrap(), acceptor, ca }
    }

    fn url(&self) -> String {
        format!("https://localhost:{}", self.listener.local_addr().unwrap().port())
    }

    /// Serves until the test ends; gives the certificate back.
    fn serve(self, to: String) -> NamedTempFile {
        let Self { listener, acceptor, ca } = self;
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let (acceptor, to) = (acceptor.clone(), to.clone());
                tokio::spawn(async move {
                    let Ok(mut client) = acceptor.accept(client).await else { return };
                    let mut server = TcpStream::connect(to).await.unwrap();
                    // Either side ends it when it likes.
                    drop(copy_bidirectional(&mut client, &mut server).await);
                });
            }
        });
        ca
    }
}

/// A server with this base URL, and where it is reached without TLS.
async fn serving(url: &str) -> (Deployment, String) {
    let free = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().to_string();
    let (base, listens) = (["--base-url", url], ["--http", free.as_str()]);
    let flags = if is_cluster() { base.to_vec() } else { [base, listens].concat() };
    let server = Deployment::with(&flags);
    let plain = if is_cluster() { server.api().remove(0) } else { format!("http://{free}") };
    (server, plain)
}

/// Has an application of each stack sign in. It finds the provider at `url`, of which it trusts the certificate, and
/// its browser the same provider at `plain`.
async fn sign_in_everywhere(server: &Deployment, url: &str, plain: &str, ca: &Path) {
    let (keyed, browser) = (Rest::new(plain, Some(server.team().key())), Rest::new(plain, None));
    let idp = provider(&keyed, "http://localhost/callback").await;
    let user = json!({ "email": "ada@example.com", "name": "Ada" });
    let user = keyed.post(&format!("{}/users", path_of(&idp)), user).await.expect(201).json();
    let auto = json!({ "autoLoginUserId": user["id"] });
    let idp = keyed.patch(&path_of(&idp), auto).await.expect(200).json();
    let well_known = idp["discoveryUrl"].as_str().unwrap().replace(url, "");
    let document = browser.get(&well_known).await.expect(200);
    assert!(!document.text().contains("http://"), "{document}");
    // The browser is beside TLS; what it is sent to is https all the same.
    let here = |location: &str| {
        assert!(location.starts_with(url), "{location}");
        location.replace(url, "")
    };
    join_all(STACKS.iter().filter(|stack| !stack.starts_with("openidconnect")).map(
        async |stack| {
            let mut app = WebApp::trusting(stack, &idp, Some(ca)).await;
            let begun = app.get("/login").await.expect(302);
            let back = browser.get(&here(begun.header("location"))).await.expect(303);
            assert!(cookie_of(&back).starts_with("__Secure-idp="), "{stack}: {back}");
            assert!(back.header("set-cookie").contains("; Secure"), "{stack}: {back}");
            let signed_in = app.ask(back.header("location")).await;
            assert_eq!(signed_in.0, Outcome::Accepted, "{stack}: {}", signed_in.1);
            let refreshed = app.ask("/refresh").await;
            assert_eq!(refreshed.0, Outcome::Accepted, "{stack}: {}", refreshed.1);
            here(app.get("/logout").await.expect(302).header("location"));
        },
    ))
    .await;
}

#[tokio::test]
async fn applications_sign_in_behind_a_terminator_of_tls() {
    let terminator = Terminator::bind().await;
    let url = terminator.url();
    let (server, plain) = serving(&url).await;
    let ca = terminator.serve(plain.trim_start_matches("http://").to_owned());
    sign_in_everywhere(&server, &url, &plain, ca.path()).await;
}

#[tokio::test]
async fn applications_sign_in_at_the_listener_that_speaks_tls() {
    // The base URL has a port before the server has one.
    let door = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://localhost:{}", door.local_addr().unwrap().port());
    let (server, plain) = serving(&url).await;
    let listener = server.https().remove(0);
    tokio::spawn(async move {
        while let Ok((mut client, _)) = door.accept().await {
            tokio::spawn(async move {
                let mut server = TcpStream::connect(listener).await.unwrap();
                // Either side ends it when it likes.
                drop(copy_bidirectional(&mut client, &mut server).await);
            });
        }
    });
    let pem = Rest::new(&plain, None).get("/api/smtp/ca.pem").await.expect(200);
    let mut ca = NamedTempFile::new().unwrap();
    ca.write_all(pem.text().as_bytes()).unwrap();
    sign_in_everywhere(&server, &url, &plain, ca.path()).await;
}
