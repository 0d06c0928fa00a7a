//! Projects and inboxes.

use serde::{Deserialize, Serialize};

use crate::{InboxId, ProjectId, Time};

/// A group of inboxes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Project {
    /// The project's id.
    pub id: ProjectId,
    /// For people.
    #[schema(example = "Checkout")]
    pub name: String,
    /// When it was made.
    pub created_at: Time,
}

/// How an application delivers into an inbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SmtpAccess {
    /// The SMTP server's name.
    #[schema(example = "127.0.0.1")]
    pub host: String,
    /// The port for plain SMTP and STARTTLS.
    #[schema(example = 1025)]
    pub port: u16,
    /// The port for implicit TLS; null when it is off.
    #[schema(required, example = 1465)]
    pub tls_port: Option<u16>,
    /// Chooses the inbox.
    #[schema(example = "k3v9q2m7x4")]
    pub username: String,
    /// Can be rotated. Left out for those who may only read.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schema(required = false, example = "w2Vq8yB3kLr6TzXn4mHs9PdC")]
    pub password: String,
}

/// Receives mail.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Inbox {
    /// The inbox's id.
    pub id: InboxId,
    /// For people.
    #[schema(example = "Sign-up tests")]
    pub name: String,
    /// The project it is grouped under.
    #[schema(required)]
    pub project_id: Option<ProjectId>,
    /// The most messages it keeps; the oldest give way.
    #[schema(minimum = 1, maximum = 10_000)]
    pub max_messages: u32,
    /// When a disposable inbox is gone; null for a lasting one.
    #[schema(required)]
    pub expires_at: Option<Time>,
    /// When it was made.
    pub created_at: Time,
    /// Messages in it.
    pub message_count: u64,
    /// Messages in it that nobody marked read.
    pub unread_count: u64,
    /// How to deliver into it.
    pub smtp: SmtpAccess,
    /// Mail to this address, or to `<username>+anything@` its domain, lands here without AUTH.
    #[schema(example = "k3v9q2m7x4@trapline.test")]
    pub address: String,
}

impl Inbox {
    /// The record for somebody who may only read: whoever has the password may write mail.
    #[must_use]
    pub fn without_password(mut self) -> Self {
        self.smtp.password.clear();
        self
    }
}
