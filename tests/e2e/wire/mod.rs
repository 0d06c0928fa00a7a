//! SMTP by raw socket: what the server answers, and what is stored afterwards.

mod auth;
mod bodies;
mod catch_all;
mod changes;
mod chunks;
mod envelopes;
mod haproxy;
mod pipelines;
mod proxy_protocol;
mod smuggling;
mod tls;

use trapline_tests::{Inbox, Rest, Smtp};

/// A session that is signed in to the inbox.
async fn signed_in(server: &trapline_tests::Deployment, inbox: &Inbox) -> Smtp {
    let mut smtp = Smtp::hello(server.smtp()[0]).await;
    smtp.login(&inbox.username, &inbox.password).await;
    smtp
}

/// The inbox's only message, as bytes.
async fn only_raw(rest: &Rest, inbox: &Inbox) -> Vec<u8> {
    let list = rest.get(&inbox.path("/messages")).await.expect(200).json();
    assert_eq!(list["total"], 1, "{list}");
    rest.raw(list["messages"][0]["id"].as_str().unwrap()).await
}
