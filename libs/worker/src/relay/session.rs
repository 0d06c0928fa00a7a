//! One connection and one message (RFC 5321). Command by command, to know what was refused.

use lettre::{
    Address,
    transport::smtp::{
        authentication::DEFAULT_MECHANISMS,
        client::AsyncSmtpConnection,
        commands::{Data, Ehlo, Mail, Rcpt},
        extension::{Extension, MailBodyParameter, MailParameter},
    },
};
use trapline_app::{OutgoingMail, RelayError, RelayStage};

use super::{RelayTls, SmtpRelay, reply};

/// Bytes that are prepared for the wire at once.
const CHUNK_BYTES: usize = 64 * 1024;

pub(super) struct RelaySession {
    connection: AsyncSmtpConnection,
    /// The largest message that the relay takes (RFC 1870); none said, or any.
    max_size: Option<usize>,
}

impl RelaySession {
    /// Connects, secures the connection and signs in.
    pub(super) async fn open(relay: &SmtpRelay) -> Result<Self, RelayError> {
        let failed = |error| reply::of_connection(&error);
        let implicit = (relay.tls == RelayTls::Implicit).then(|| relay.parameters.clone());
        let (server, ehlo_name) = ((relay.host.as_str(), relay.port), &relay.ehlo_name);
        let connected =
            AsyncSmtpConnection::connect_tokio1(server, None, ehlo_name, implicit, None).await;
        let mut connection = connected.map_err(failed)?;
        let starts_tls = match relay.tls {
            RelayTls::Starttls => true,
            RelayTls::Opportunistic => connection.can_starttls(),
            RelayTls::None | RelayTls::Implicit => false,
        };
        if starts_tls {
            let started = connection.starttls(relay.parameters.clone(), ehlo_name).await;
            started.map_err(|error| reply::of_tls(&error))?;
        }
        // The client keeps no SIZE, so the extensions are asked for once more.
        let offer = connection.command(Ehlo::new(ehlo_name.clone())).await.map_err(failed)?;
        let max_size = offer.message().find_map(size);
        if let Some(credentials) = &relay.credentials {
            connection.auth(DEFAULT_MECHANISMS, credentials).await.map_err(failed)?;
        }
        Ok(Self { connection, max_size })
    }

    pub(super) async fn deliver(&mut self, mail: &OutgoingMail) -> Result<(), RelayError> {
        let parameters = self.parameters(mail)?;
        let sender = Mail::new(Some(address(&mail.from, RelayStage::Sender)?), parameters);
        self.command(sender, RelayStage::Sender).await?;
        let recipient = Rcpt::new(address(&mail.to, RelayStage::Recipient)?, Vec::new());
        self.command(recipient, RelayStage::Recipient).await?;
        self.command(Data, RelayStage::Content).await?;
        let sent = self.connection.message_iter(chunks(mail)).await;
        sent.map(drop).map_err(|error| reply::of_message(&error, RelayStage::Content))
    }

    /// What the message needs of the relay, which must offer it.
    fn parameters(&self, mail: &OutgoingMail) -> Result<Vec<MailParameter>, RelayError> {
        let offers = |extension| self.connection.server_info().supports_feature(extension);
        let mut parameters = Vec::new();
        if let Some(max) = self.max_size {
            if max > 0 && mail.len() > max {
                return Err(RelayError::TOO_LARGE);
            }
            parameters.push(MailParameter::Size(mail.len()));
        }
        if !mail.content.iter().all(|part| part.is_ascii()) {
            if !offers(Extension::EightBitMime) {
                return Err(RelayError::EIGHT_BIT);
            }
            parameters.push(MailParameter::Body(MailBodyParameter::EightBitMime));
        }
        if mail.utf8_header {
            if !offers(Extension::SmtpUtfEight) {
                return Err(RelayError::EIGHT_BIT);
            }
            parameters.push(MailParameter::SmtpUtfEight);
        }
        Ok(parameters)
    }

    async fn command(
        &mut self,
        command: impl std::fmt::Display,
        stage: RelayStage,
    ) -> Result<(), RelayError> {
        let said = self.connection.command(command).await;
        said.map(drop).map_err(|error| reply::of_message(&error, stage))
    }

    /// What was said before stands, whatever comes of this.
    pub(super) async fn close(mut self) {
        self.connection.abort().await;
    }
}

fn address(text: &str, stage: RelayStage) -> Result<Address, RelayError> {
    text.parse().map_err(|_| RelayError { code: "bad_address", is_final: true, stage })
}

/// `SIZE 26214400` (RFC 1870, section 3).
fn size(line: &str) -> Option<usize> {
    let (keyword, value) = line.trim().split_once(' ').unwrap_or((line.trim(), "0"));
    keyword.eq_ignore_ascii_case("SIZE").then(|| value.trim().parse().unwrap_or(0))
}

/// The message without its last line end, which the client adds.
fn chunks(mail: &OutgoingMail) -> impl Iterator<Item = &[u8]> {
    let last = mail.content.iter().rposition(|part| !part.is_empty());
    let parts = mail.content.iter().enumerate().map(move |(place, part)| {
        let ends_here = Some(place) == last;
        if ends_here { part.strip_suffix(b"\r\n").unwrap_or(part) } else { part }
    });
    parts.flat_map(|part: &[u8]| part.chunks(CHUNK_BYTES))
}
