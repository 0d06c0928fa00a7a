//! A request to this process's own API.

use std::{io, net::SocketAddr};

use async_trait::async_trait;
use trapline_app::Probe;
use trapline_model::Component;

use crate::http::{HttpAnswer, ask};

/// Whether `GET /api/health` is answered. That the disk is full is told by the storage's own probe.
pub(super) struct ApiProbe {
    pub(super) listener: SocketAddr,
}

#[async_trait]
impl Probe for ApiProbe {
    fn component(&self) -> Component {
        Component::Api
    }

    async fn take(&self) -> Result<(), String> {
        let answer = self.ask().await.map_err(|error| error.to_string())?;
        match answer.status() {
            Some(200) => Ok(()),
            _ if answer.body().contains("storage_full") => Ok(()),
            Some(status) => Err(format!("GET /api/health was answered {status}")),
            None => Err("GET /api/health was answered no status".to_owned()),
        }
    }
}

impl ApiProbe {
    async fn ask(&self) -> io::Result<HttpAnswer> {
        ask(&self.listener.to_string(), "/api/health").await
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _},
        net::TcpListener,
    };

    use super::*;

    /// What a probe makes of a listener that answers so.
    async fn probed(answer: &str) -> Result<(), String> {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let probe = ApiProbe { listener: listener.local_addr().unwrap() };
        let serve = async {
            let (mut client, _) = listener.accept().await.unwrap();
            let mut request = [0; 1024];
            let length = client.read(&mut request).await.unwrap();
            assert!(request[..length].starts_with(b"GET /api/health HTTP/1.1\r\n"));
            // A client that has had enough is gone.
            drop(client.write_all(answer.as_bytes()).await);
        };
        tokio::join!(probe.take(), serve).0
    }

    #[tokio::test]
    async fn an_answer_is_well_by_its_status() {
        assert_eq!(probed("HTTP/1.1 200 OK\r\n\r\n{\"ok\":true}").await, Ok(()));
        let full = "HTTP/1.1 503 Service Unavailable\r\n\r\n{\"reason\":\"storage_full\"}";
        assert_eq!(probed(full).await, Ok(()));
        for answer in
            ["HTTP/1.1 503 Service Unavailable\r\n\r\n", "HTTP/1.1 500 x\r\n\r\n", "", "?"]
        {
            probed(answer).await.unwrap_err();
        }
        let endless = "x".repeat(1 << 20);
        probed(&endless).await.unwrap_err();
    }
}
