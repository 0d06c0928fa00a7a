//! Sanitised HTML of a message for previews, and the signed URLs that need no key.

mod images;

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use trapline_model::{Access, MessageId, Principal, Role, TeamId, Time};

use super::Messages;
use crate::{Download, Error, Forbidden, Result, secrets::Secrets};
use images::Images;

/// How long a signed URL works.
const URL_LIFETIME: Duration = Duration::from_mins(15);

/// What makes a URL work without a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature {
    /// Seconds since 1970 until which it holds.
    pub expires: i64,
    /// The team, sealed by AES-256-GCM for this message, part and expiry, in base64url.
    pub signature: String,
}

/// A signed URL.
#[derive(Debug, Clone)]
pub struct PreviewUrl {
    /// The address of the preview.
    pub url: String,
    /// When the address stops working.
    pub expires_at: Time,
}

/// A page to show in a sandboxed frame.
#[derive(Debug, Clone)]
pub struct RenderedHtml {
    /// The page. It refers to the message's parts relative to its own URL, so that it works under
    /// any name of the server.
    pub html: String,
    /// Its `Content-Security-Policy`.
    pub policy: String,
}

impl Messages {
    /// A URL at which anybody can see the message for 15 minutes.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when the team has no such message.
    pub async fn preview_url(&self, by: &Principal, id: MessageId) -> Result<PreviewUrl> {
        self.record(by.team, id).await?;
        let signer = self.signer(by.team, id);
        let query = signer.sign("html")?;
        let url = format!("{}/api/messages/{id}/html?{query}", self.settings.base_url);
        Ok(PreviewUrl { url, expires_at: signer.expires_at })
    }

    /// The message's HTML for the team.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when the team has no such message, and [`Error::Damaged`] when its bytes are
    /// gone or not those that were stored.
    pub async fn html(
        &self,
        by: &Principal,
        id: MessageId,
        remote_images: bool,
    ) -> Result<RenderedHtml> {
        let raw = self.raw(by, id).await?;
        let html = self.render(by.team, id, raw).await?;
        Ok(RenderedHtml { html, policy: policy(remote_images, "'self'") })
    }

    /// The message's HTML for whoever has the signed URL.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`] when the signature does not hold, [`Error::NotFound`] when the message is
    /// gone, and [`Error::Damaged`] when its bytes are.
    pub async fn signed_html(
        &self,
        id: MessageId,
        signature: &Signature,
        remote_images: bool,
    ) -> Result<RenderedHtml> {
        let team = self.verify(id, "html", signature)?;
        let raw = self.raw(&bearer(team), id).await?;
        let html = self.render(team, id, raw).await?;
        let policy = policy(remote_images, &self.settings.preview_frame_ancestors);
        Ok(RenderedHtml { html, policy })
    }

    /// Whether the signature lets its bearer see the message, if it is still there: nothing is
    /// looked up.
    #[must_use]
    pub fn may_see(&self, id: MessageId, signature: &Signature) -> bool {
        self.verify(id, "html", signature).is_ok()
    }

    /// An attachment for whoever has the signed URL: an image within a preview.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`] when the signature does not hold, [`Error::NotFound`] when the message is
    /// gone, and [`Error::Damaged`] when its bytes are.
    pub async fn signed_attachment(
        &self,
        id: MessageId,
        part: &str,
        signature: &Signature,
    ) -> Result<Download> {
        let team = self.verify(id, part, signature)?;
        self.extract_attachment(self.raw(&bearer(team), id).await?, part).await
    }

    async fn render(&self, team: TeamId, id: MessageId, raw: Bytes) -> Result<String> {
        let signer = self.signer(team, id);
        self.bytes.run_parser(raw, move |raw| render_page(raw, &signer)).await?
    }

    fn signer(&self, team: TeamId, message: MessageId) -> Signer {
        let expires_at = self.clock.now().after(URL_LIFETIME);
        Signer { secrets: self.secrets.clone(), team, message, expires_at }
    }

    /// The team that the signature was made for.
    fn verify(&self, id: MessageId, part: &str, given: &Signature) -> Result<TeamId> {
        let context = context(id, part, given.expires);
        let team = self.secrets.open_from_url(&context, &given.signature);
        team.and_then(|team| team.parse().ok())
            .filter(|_| given.expires > self.clock.now().millis() / 1000)
            .ok_or(Error::Forbidden(Forbidden::BadSignature))
    }
}

/// The principal of a signed URL: whoever has it may read what the team may.
fn bearer(team: TeamId) -> Principal {
    Principal { role: Role::Member, access: Access::Read, ..Principal::system(team) }
}

/// Signs the URLs of one message.
struct Signer {
    secrets: Arc<Secrets>,
    team: TeamId,
    message: MessageId,
    expires_at: Time,
}

impl Signer {
    /// The query of a signed URL.
    fn sign(&self, part: &str) -> Result<String> {
        let expires = self.expires_at.millis() / 1000;
        let context = context(self.message, part, expires);
        let signature = self.secrets.seal_for_url(&context, &self.team.to_string())?;
        Ok(format!("exp={expires}&sig={signature}"))
    }
}

/// What a signature is bound to.
fn context(id: MessageId, part: &str, expires: i64) -> String {
    format!("{id}|{expires}|{part}")
}

fn render_page(raw: &[u8], signer: &Signer) -> Result<String> {
    let parsed = trapline_mime::parse(raw);
    let Some(html) = parsed.html else {
        return Ok(trapline_mime::preview::text(parsed.text.as_deref().unwrap_or_default()));
    };
    let images = Images::of(parsed.attachments, |part| {
        signer.sign(part).map(|query| format!("attachments/{part}?{query}"))
    })?;
    let resolve = |reference: &str| images.url(reference).map(str::to_owned);
    let options = trapline_mime::preview::Options { resolve_cid: &resolve };
    Ok(trapline_mime::preview::html(&html, &options))
}

fn policy(remote_images: bool, frame_ancestors: &str) -> String {
    trapline_mime::preview::content_security_policy(remote_images, frame_ancestors)
}
