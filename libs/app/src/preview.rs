//! The HTML of a message, made safe to show, and the signed URLs that need no key.

use std::time::Duration;

use trapline_model::{MessageId, TeamId, Time};

use crate::{App, Download, Error, Forbidden, Result};

/// How long a signed URL works.
const VALID: Duration = Duration::from_mins(15);

/// What makes a URL work without a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature {
    /// Seconds since 1970 until which it holds.
    pub expires: i64,
    /// The team, a dot, and an HMAC-SHA-256 in hex over team, message, part and expiry.
    pub signature: String,
}

/// A signed URL.
#[derive(Debug, Clone)]
pub struct PreviewUrl {
    /// Where the preview is.
    pub url: String,
    /// Until when.
    pub expires_at: Time,
}

/// A page to show in a sandboxed frame.
#[derive(Debug, Clone)]
pub struct RenderedHtml {
    /// The page.
    pub html: String,
    /// Its `Content-Security-Policy`.
    pub policy: String,
}

impl App {
    /// A URL at which anybody can see the message for 15 minutes.
    pub async fn preview_url(&self, team: TeamId, id: MessageId) -> Result<PreviewUrl> {
        self.message_row(team, id).await?;
        let expires_at = self.now().after(VALID);
        let query = self.sign(team, id, "html", expires_at);
        let url = format!("{}/api/messages/{id}/html?{query}", self.settings.base_url);
        Ok(PreviewUrl { url, expires_at })
    }

    /// The message's HTML for the team.
    pub async fn html(
        &self,
        team: TeamId,
        id: MessageId,
        remote_images: bool,
    ) -> Result<RenderedHtml> {
        let raw = self.raw(team, id).await?;
        let html = self.render(team, id, raw).await?;
        Ok(RenderedHtml { html, policy: policy(remote_images, "'self'") })
    }

    /// The message's HTML for whoever has the signed URL.
    pub async fn signed_html(
        &self,
        id: MessageId,
        signature: &Signature,
        remote_images: bool,
    ) -> Result<RenderedHtml> {
        let team = self.check(id, "html", signature)?;
        let raw = self.raw(team, id).await?;
        let html = self.render(team, id, raw).await?;
        let policy = policy(remote_images, &self.settings.preview_frame_ancestors);
        Ok(RenderedHtml { html, policy })
    }

    /// An attachment for whoever has the signed URL: an image within a preview.
    pub async fn signed_attachment(
        &self,
        id: MessageId,
        part: &str,
        signature: &Signature,
    ) -> Result<Download> {
        let team = self.check(id, part, signature)?;
        self.take_out(self.raw(team, id).await?, part).await
    }

    async fn render(&self, team: TeamId, id: MessageId, raw: bytes::Bytes) -> Result<String> {
        let parsed = self.take_apart(raw, trapline_mime::parse).await?;
        let Some(html) = parsed.html else {
            return Ok(trapline_mime::preview::text(parsed.text.as_deref().unwrap_or_default()));
        };
        let expires = self.now().after(VALID);
        let images: Vec<(String, String)> = parsed
            .attachments
            .into_iter()
            .filter_map(|part| {
                let content_id = part.content_id?;
                let query = self.sign(team, id, &part.id, expires);
                let url = format!(
                    "{}/api/messages/{id}/attachments/{}?{query}",
                    self.settings.base_url, part.id
                );
                Some((content_id, url))
            })
            .collect();
        let resolve =
            |cid: &str| images.iter().find(|(known, _)| known == cid).map(|(_, url)| url.clone());
        let options = trapline_mime::preview::Options { resolve_cid: &resolve };
        Ok(trapline_mime::preview::html(&html, &options))
    }

    /// The query of a signed URL.
    fn sign(&self, team: TeamId, id: MessageId, part: &str, expires_at: Time) -> String {
        let expires = expires_at.millis() / 1000;
        let signature = self.secrets.sign(&signed_text(team, id, part, expires));
        format!("exp={expires}&sig={team}.{signature}")
    }

    /// The team whose word the signature stands for.
    fn check(&self, id: MessageId, part: &str, given: &Signature) -> Result<TeamId> {
        let verified = given.signature.split_once('.').and_then(|(team, mac)| {
            let team = team.parse().ok()?;
            let text = signed_text(team, id, part, given.expires);
            self.secrets.verify(&text, mac).then_some(team)
        });
        verified
            .filter(|_| given.expires > self.now().millis() / 1000)
            .ok_or(Error::Forbidden(Forbidden::BadSignature))
    }
}

fn signed_text(team: TeamId, id: MessageId, part: &str, expires: i64) -> String {
    format!("{team}|{id}|{expires}|{part}")
}

fn policy(remote_images: bool, frame_ancestors: &str) -> String {
    trapline_mime::preview::content_security_policy(remote_images, frame_ancestors)
}
