//! Bytes to and from the server, each operation within a time limit.

use std::{future::Future, io, net::SocketAddr, time::Duration};

use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::TcpStream,
    time,
};

use crate::{
    failure::{Cause, Failure, Stage},
    reply::Reply,
    tls::Identity,
};

/// Bytes read at once.
const READ: usize = 4096;

trait Transport: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Transport for T {}

/// A connection, with or without TLS.
pub(crate) struct Wire {
    stream: Box<dyn Transport>,
    unread: Vec<u8>,
    limit: Duration,
}

impl Wire {
    /// Connects; `limit` bounds this and every later operation.
    pub(crate) async fn open(address: SocketAddr, limit: Duration) -> Result<Self, Failure> {
        let stream = within(limit, Stage::Connect, async {
            let stream = TcpStream::connect(address).await?;
            stream.set_nodelay(true)?;
            Ok(stream)
        })
        .await?;
        Ok(Self::over(stream, limit))
    }

    fn over(stream: impl Transport + 'static, limit: Duration) -> Self {
        Self { stream: Box::new(stream), unread: Vec::new(), limit }
    }

    /// Starts TLS. What the server said in clear beyond its reply is an error (RFC 3207 section 6).
    pub(crate) async fn secure(self, identity: &Identity) -> Result<Self, Failure> {
        if !self.unread.is_empty() {
            return Err(Failure::new(Stage::Tls, Cause::Malformed));
        }
        let handshake = identity.connector.connect(identity.name.clone(), self.stream);
        let stream = within(self.limit, Stage::Tls, handshake).await?;
        Ok(Self::over(stream, self.limit))
    }

    /// Writes all of it.
    pub(crate) async fn write(&mut self, stage: Stage, bytes: &[u8]) -> Result<(), Failure> {
        within(self.limit, stage, async {
            self.stream.write_all(bytes).await?;
            self.stream.flush().await
        })
        .await
    }

    /// The next reply, whatever it says.
    pub(crate) async fn reply(&mut self, stage: Stage) -> Result<Reply, Failure> {
        let limit = self.limit;
        time::timeout(limit, self.read_reply())
            .await
            .unwrap_or(Err(Cause::Timeout))
            .map_err(|cause| Failure::new(stage, cause))
    }

    /// Writes one command and takes its reply, which must be of `class` (2 or 3).
    pub(crate) async fn command(
        &mut self,
        stage: Stage,
        command: &[u8],
        class: u16,
    ) -> Result<Reply, Failure> {
        self.write(stage, command).await?;
        let reply = self.reply(stage).await?;
        require(stage, class, &reply)?;
        Ok(reply)
    }

    async fn read_reply(&mut self) -> Result<Reply, Cause> {
        loop {
            if let Some((reply, length)) = Reply::parse(&self.unread)? {
                self.unread.drain(..length);
                return Ok(reply);
            }
            self.unread.reserve(READ);
            match self.stream.read_buf(&mut self.unread).await {
                Ok(0) => return Err(Cause::Closed),
                Ok(_) => {}
                Err(error) => return Err(Cause::from_io(&error)),
            }
        }
    }
}

/// A reply of another class than `class` is a failure.
pub(crate) fn require(stage: Stage, class: u16, reply: &Reply) -> Result<(), Failure> {
    if reply.code / 100 == class {
        Ok(())
    } else {
        Err(Failure::new(stage, Cause::Reply(reply.code)))
    }
}

async fn within<T>(
    limit: Duration,
    stage: Stage,
    operation: impl Future<Output = io::Result<T>>,
) -> Result<T, Failure> {
    let cause = match time::timeout(limit, operation).await {
        Ok(Ok(value)) => return Ok(value),
        Ok(Err(error)) => Cause::from_io(&error),
        Err(_) => Cause::Timeout,
    };
    Err(Failure::new(stage, cause))
}
