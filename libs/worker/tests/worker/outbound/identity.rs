//! Identity providers whose addresses and answers are meant to do harm.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use serde_json::json;
use tokio::io::AsyncWriteExt as _;
use trapline_app::{IdentityProvider as _, ProviderClient, ProviderFailure};
use trapline_worker::{OidcProvider, outbound::Client};

use super::{
    LONG, SHORT, allowing, guard,
    receiver::{Receiver, read_request},
};

fn provider(deadline: Duration) -> OidcProvider {
    let guard = guard(allowing(&["127.0.0.0/8"]), &["127.0.0.1"]);
    let client = Client::new(guard.clone(), &[]).unwrap();
    OidcProvider::new(guard, client, deadline)
}

fn answer(body: &str) -> String {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length";
    format!("{head}: {}\r\n\r\n{body}", body.len())
}

/// What an issuer says of itself.
fn metadata(issuer: &str, keys: &str) -> String {
    answer(
        &json!({
            "issuer": issuer,
            "authorization_endpoint": format!("{issuer}/auth"),
            "token_endpoint": format!("{issuer}/token"),
            "jwks_uri": keys,
            "response_types_supported": ["code"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256"],
        })
        .to_string(),
    )
}

/// Answers the first request of each connection as `told` of the issuer says.
async fn telling(told: impl Fn(&str, &str) -> String + Send + Sync + 'static) -> Receiver {
    let told = Arc::new(told);
    Receiver::new(move |mut stream| {
        let told = told.clone();
        async move {
            let issuer = format!("http://{}", stream.local_addr().unwrap());
            while let Some(request) = read_request(&mut stream).await {
                let path = request.split(' ').nth(1).unwrap().to_owned();
                if stream.write_all(told(&issuer, &path).as_bytes()).await.is_err() {
                    return;
                }
            }
        }
    })
    .await
}

async fn discovered(receiver: &Receiver, deadline: Duration) -> Result<(), ProviderFailure> {
    provider(deadline).discover(&format!("http://{}", receiver.address)).await
}

#[test]
fn an_issuer_is_https_and_leads_where_webhooks_may_go() {
    let provider = provider(LONG);
    for good in [
        "https://login.example.com",
        "https://login.example.com/tenant/v2.0",
        "http://127.0.0.1:8080",
    ] {
        assert_eq!(provider.check(good), Ok(()), "{good}");
    }
    for bad in [
        "",
        "login.example.com",
        "http://login.example.com",
        "https://login.example.com?tenant=1",
        "https://login.example.com#a",
        "https://a:b@login.example.com",
        "https://169.254.169.254",
        "https://10.0.0.1",
        "https://metadata.google.internal",
        "file:///etc/passwd",
        "javascript:alert(1)",
    ] {
        assert!(provider.check(bad).is_err(), "{bad}");
    }
}

#[tokio::test]
async fn an_issuer_is_what_its_own_document_says() {
    let empty = answer("{\"keys\":[]}");
    let keys = empty.clone();
    let good = telling(move |issuer, path| match path {
        "/.well-known/openid-configuration" => metadata(issuer, &format!("{issuer}/keys")),
        _ => keys.clone(),
    });
    assert_eq!(discovered(&good.await, LONG).await, Ok(()));
    let other =
        telling(|_, _| metadata("https://login.example.com", "https://login.example.com/k"));
    assert_eq!(discovered(&other.await, LONG).await, Err(ProviderFailure::NotAProvider));
    let html = Receiver::answering(answer("<html>")).await;
    assert_eq!(discovered(&html, LONG).await, Err(ProviderFailure::NotAProvider));
    // What its document names is held to the same bounds.
    let refused = ProviderFailure::Unreachable("address_not_allowed");
    for (keys, failure) in [
        ("http://169.254.169.254/keys", refused.clone()),
        ("http://login.example.com/keys", refused),
        ("file:///etc/passwd", ProviderFailure::NotAProvider),
    ] {
        let sly = telling(move |issuer, _| metadata(issuer, keys)).await;
        assert_eq!(discovered(&sly, LONG).await, Err(failure), "{keys}");
    }
}

#[tokio::test]
async fn an_answer_is_followed_nowhere_and_has_a_bound_and_an_end() {
    let target = Receiver::answering(answer("{}")).await;
    let head = format!("HTTP/1.1 302 Found\r\nlocation: http://{}/\r\n", target.address);
    let moved = Receiver::answering(format!("{head}content-length: 0\r\n\r\n")).await;
    assert_eq!(discovered(&moved, LONG).await, Err(ProviderFailure::NotAProvider));
    assert_eq!(target.connections(), 0);
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n{\"issuer\":\"";
    let endless = Receiver::endless(head, b"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa").await;
    assert_eq!(discovered(&endless, LONG).await, Err(ProviderFailure::Unreachable("reset")));
    let silent = Receiver::new(move |mut stream| async move {
        read_request(&mut stream).await.unwrap();
        stream.write_all(head.as_bytes()).await.unwrap();
        std::future::pending::<()>().await;
    });
    let silent = silent.await;
    let refused = Err(ProviderFailure::Unreachable("timeout"));
    assert_eq!(discovered(&silent, SHORT).await, refused);
}

#[tokio::test]
async fn a_bounded_number_of_providers_is_known() {
    const ISSUERS: usize = 400;
    let asked = Arc::<AtomicUsize>::default();
    let count = asked.clone();
    let receiver =
        telling(move |host, path| match path.strip_suffix("/.well-known/openid-configuration") {
            Some(issuer) => {
                count.fetch_add(1, Ordering::SeqCst);
                metadata(&format!("{host}{issuer}"), &format!("{host}/keys"))
            }
            None => answer("{\"keys\":[]}"),
        })
        .await;
    let provider = provider(LONG);
    let begin = async |number: usize| {
        let client = ProviderClient {
            issuer: format!("http://{}/{number}", receiver.address),
            client_id: "client".to_owned(),
            client_secret: "s3cret".to_owned(),
            redirect_uri: "http://trapline.test/callback".to_owned(),
        };
        provider.authorize(&client, "ada@example.com").await.unwrap();
    };
    begin(0).await;
    for number in 0..ISSUERS {
        begin(number).await;
    }
    assert_eq!(asked.swap(0, Ordering::SeqCst), ISSUERS, "one that is known is not asked");
    // What is beyond the 128 goes a little later.
    for number in 0..ISSUERS {
        begin(number).await;
    }
    let again = asked.load(Ordering::SeqCst);
    assert!(again >= ISSUERS / 2, "{again} of {ISSUERS} were forgotten");
}
