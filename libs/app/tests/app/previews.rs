//! Signed URLs: whom they serve, and until when.

use std::time::Duration;

use trapline_app::{Error, Forbidden, RenderedHtml, Signature};
use trapline_model::{Inbox, MessageId};

use crate::support::Bench;

const MINUTE: Duration = Duration::from_mins(1);

/// A message, and the signature of its preview URL.
async fn signed(bench: &Bench, inbox: &Inbox) -> (MessageId, Signature) {
    let id = bench.deliver(inbox, "signed").await;
    let preview = bench.app.messages().preview_url(&bench.by, id).await.unwrap();
    assert_eq!(preview.expires_at, bench.clock.now().after(15 * MINUTE));
    let (_, query) = preview.url.split_once("?exp=").unwrap();
    let (expires, signature) = query.split_once("&sig=").unwrap();
    (id, Signature { expires: expires.parse().unwrap(), signature: signature.to_owned() })
}

fn is_over(seen: &trapline_app::Result<RenderedHtml>) -> bool {
    matches!(seen, Err(Error::Forbidden(Forbidden::BadSignature)))
}

fn is_gone(seen: &trapline_app::Result<RenderedHtml>) -> bool {
    matches!(seen, Err(Error::NotFound))
}

#[tokio::test]
async fn a_signed_url_ends_after_its_time() {
    let bench = Bench::new().await;
    let inbox = bench.inbox(10, None).await;
    let (id, signature) = signed(&bench, &inbox).await;
    bench.clock.advance(14 * MINUTE);
    let page = bench.app.messages().signed_html(id, &signature, false).await.unwrap();
    assert!(page.html.contains("hello signed"), "{}", page.html);
    assert!(bench.another_process().await.messages().may_see(id, &signature));
    bench.clock.advance(MINUTE);
    assert!(is_over(&bench.app.messages().signed_html(id, &signature, false).await));
    assert!(!bench.app.messages().may_see(id, &signature));
}

#[tokio::test]
async fn a_signed_url_holds_for_its_message_part_and_time_only() {
    let bench = Bench::new().await;
    let inbox = bench.inbox(10, None).await;
    let (id, signature) = signed(&bench, &inbox).await;
    let (other, _) = signed(&bench, &inbox).await;
    assert!(is_over(&bench.app.messages().signed_html(other, &signature, false).await));
    let part = bench.app.messages().signed_attachment(id, "1", &signature).await;
    assert!(matches!(part, Err(Error::Forbidden(Forbidden::BadSignature))));
    let later = Signature { expires: signature.expires + 1, ..signature.clone() };
    assert!(is_over(&bench.app.messages().signed_html(id, &later, false).await));
    for at in 0..signature.signature.len() {
        let mut bytes = signature.signature.clone().into_bytes();
        bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
        let forged =
            Signature { signature: String::from_utf8(bytes).unwrap(), expires: signature.expires };
        assert!(is_over(&bench.app.messages().signed_html(id, &forged, false).await), "byte {at}");
    }
}

#[tokio::test]
async fn a_signed_url_ends_with_its_message_and_its_inbox() {
    let bench = Bench::new().await;
    let deleted = bench.inbox(10, None).await;
    let (gone, by_message) = signed(&bench, &deleted).await;
    bench.app.messages().delete(&bench.by, gone).await.unwrap();
    assert!(is_gone(&bench.app.messages().signed_html(gone, &by_message, false).await));

    let (id, by_inbox) = signed(&bench, &deleted).await;
    bench.app.inboxes().delete(&bench.by, deleted.id).await.unwrap();
    assert!(is_gone(&bench.app.messages().signed_html(id, &by_inbox, false).await));

    let brief = bench.inbox(10, Some(10 * MINUTE)).await;
    let (id, by_time) = signed(&bench, &brief).await;
    assert!(bench.app.messages().signed_html(id, &by_time, false).await.is_ok());
    bench.clock.advance(10 * MINUTE);
    assert!(is_gone(&bench.app.messages().signed_html(id, &by_time, false).await));
}
