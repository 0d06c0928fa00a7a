//! What an operator decides about the use cases.

use std::{sync::Arc, time::Duration};

use trapline_checks::html::Dataset;
use trapline_model::Address;
use trapline_store::Rate;

use crate::{plans::PlanCatalog, spam_engine::SpamEngineChoice};

/// Settings of the use cases; the binary fills them from flags and the environment.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the operator's own")]
pub struct Settings {
    /// Where clients reach the API, without a slash at the end.
    pub base_url: String,
    /// The same over TLS, where the server has a listener of its own for it.
    pub https_url: Option<String>,
    /// The domain below which each mock has a host name of its own.
    pub mock_domain: Option<String>,
    /// The domain of inbox addresses.
    pub mail_domain: String,
    /// The host that clients deliver to.
    pub smtp_host: String,
    /// The port for plain SMTP and STARTTLS.
    pub smtp_port: u16,
    /// The port for implicit TLS.
    pub smtp_tls_port: Option<u16>,
    /// Mail to an unknown address lands in the inbox for it.
    pub catch_all: bool,
    /// The name of that inbox, which belongs to the first team and is made when it is not there.
    pub catch_all_inbox: String,
    /// Requests per team; `None` is no limit.
    pub api_rate: Option<Rate>,
    /// Whether people sign in. Else whoever reaches the server acts as the owner of its first team.
    pub sign_in: bool,
    /// Whether anybody may sign up.
    pub sign_up: bool,
    /// Sign-ins, and other tries of secrets, per client address; `None` is no limit.
    pub sign_in_rate: Option<Rate>,
    /// Requests per key or signed-in person; `None` is no limit but the team's.
    pub key_rate: Option<Rate>,
    /// Requests per client address without a key or session that is known; `None` is no limit.
    pub address_rate: Option<Rate>,
    /// New inboxes per team; `None` is no limit.
    pub inbox_rate: Option<Rate>,
    /// Groups of mail that are written at the same time; at least 1.
    pub groups_in_flight: usize,
    /// Bytes of large answers and request bodies in memory, over all HTTP clients of a process.
    pub answer_memory: usize,
    /// Parked waits and event streams per process.
    pub max_streams: usize,
    /// Parked waits and event streams of one team, in a process.
    pub max_streams_per_team: usize,
    /// Calls of the mocks of a team; `None` is no limit.
    pub mock_rate: Option<Rate>,
    /// Bytes of requests to mocks in memory, over all clients of a process.
    pub mock_memory: usize,
    /// Overdue jobs at which the deep health check fails.
    pub max_overdue_jobs: u64,
    /// Who may show a signed preview in a frame (CSP `frame-ancestors`).
    pub preview_frame_ancestors: String,
    /// The score from which on a message counts as spam.
    pub spam_threshold: f64,
    /// Who judges whether a message is spam, the one first that does where none is named.
    pub spam_engines: Vec<SpamEngineChoice>,
    /// What the HTML check knows of mail clients; what the executable has when absent.
    pub html_data: Option<Arc<Dataset>>,
    /// Whether checks may ask anybody on the word of a message: its links, its address to unsubscribe, name
    /// servers.
    pub outgoing_checks: bool,
    /// The plans that teams can be on.
    pub plans: Arc<PlanCatalog>,
    /// Where people can get a larger plan.
    pub upgrade_url: Option<Arc<str>>,
    /// How the service sends mail; `None` when it has no relay.
    pub outbound: Option<Outbound>,
}

/// Who mail of the service itself is from. The relay belongs to the worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outbound {
    /// The author of the service's own mail, and the resender of what is forwarded.
    pub from: Address,
    /// The envelope's sender, to which bounces go. `None` makes an address of the mail domain for
    /// each mail.
    pub bounces: Option<String>,
}

impl Default for Settings {
    /// What a server on this machine has without any configuration.
    fn default() -> Self {
        Self {
            base_url: "http://127.0.0.1:8025".to_owned(),
            https_url: None,
            mock_domain: None,
            mail_domain: "trapline.test".to_owned(),
            smtp_host: "127.0.0.1".to_owned(),
            smtp_port: 1025,
            smtp_tls_port: None,
            catch_all: true,
            catch_all_inbox: "Default".to_owned(),
            api_rate: None,
            sign_in: true,
            sign_up: true,
            sign_in_rate: Some(Rate { burst: 20, per: Duration::from_mins(1) }),
            key_rate: None,
            address_rate: None,
            inbox_rate: None,
            groups_in_flight: 1,
            answer_memory: 256 << 20,
            max_streams: 20_000,
            max_streams_per_team: 10_000,
            mock_rate: None,
            mock_memory: 128 << 20,
            max_overdue_jobs: 50,
            preview_frame_ancestors: "*".to_owned(),
            spam_threshold: 5.0,
            spam_engines: vec![SpamEngineChoice::Builtin],
            html_data: None,
            outgoing_checks: true,
            plans: Arc::default(),
            upgrade_url: None,
            outbound: None,
        }
    }
}
