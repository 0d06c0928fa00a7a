//! Senders that send each mail until it is accepted.

use std::{collections::BTreeSet, sync::Arc};

use futures_util::{StreamExt as _, stream};
use trapline_tests::Mail;

use crate::{
    fleet::Addresses,
    load::{AGAIN, Failure, Session},
};

const AT_ONCE: usize = 4;

/// Sends so many mails into each inbox: the ids of what was answered 250, by inbox.
pub(super) async fn send(
    addresses: Arc<Addresses>,
    inboxes: Vec<String>,
    mails: usize,
) -> Vec<BTreeSet<String>> {
    let sent = inboxes.into_iter().enumerate().map(|(number, inbox)| {
        let addresses = addresses.clone();
        async move { fill(&addresses, number, &inbox, mails).await }
    });
    stream::iter(sent).buffered(AT_ONCE).collect().await
}

async fn fill(addresses: &Addresses, number: usize, inbox: &str, mails: usize) -> BTreeSet<String> {
    let (mut ids, mut session) = (BTreeSet::new(), None);
    let raw = Mail::new("Delivered", "This is to be told of.\n").bytes();
    while ids.len() < mails {
        match attempt(addresses, number, &mut session, inbox, &raw).await {
            Ok(id) => {
                ids.insert(id);
            }
            Err(Failure::Wrong(what)) => panic!("SMTP: {what}"),
            // Stored or not: what is sent again is another message.
            Err(Failure::TryAgain | Failure::Broken) => {
                session = None;
                tokio::time::sleep(AGAIN).await;
            }
        }
    }
    ids
}

async fn attempt(
    addresses: &Addresses,
    number: usize,
    session: &mut Option<Session>,
    inbox: &str,
    raw: &[u8],
) -> Result<String, Failure> {
    let open = match session {
        Some(open) => open,
        None => session.insert(Session::open(addresses.smtp(number), None).await?),
    };
    open.mail(inbox, raw).await
}
