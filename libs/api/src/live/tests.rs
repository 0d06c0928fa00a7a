#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::*;

#[test]
fn the_last_event_comes_from_the_header_or_the_parameter() {
    let cases = [
        (None, None, None),
        (Some(""), None, None),
        (None, Some(""), None),
        (Some("a"), None, Some("a")),
        (None, Some("b"), Some("b")),
        (Some("a"), Some("b"), Some("a")),
    ];
    for (header, parameter, wanted) in cases {
        let headers = header.map(|text| ("last-event-id".parse().unwrap(), text.parse().unwrap()));
        let headers = HeaderMap::from_iter(headers);
        assert_eq!(last_event(&headers, parameter).as_deref(), wanted, "{header:?}");
    }
}

#[test]
fn a_wait_lasts_as_long_as_asked() {
    let input = |timeout| WaitInput {
        to: Some("a".to_owned()),
        from: None,
        subject: None,
        since: None,
        has_code: Flag::On,
        timeout,
        on_timeout: OnTimeout::Error,
    };
    let (filter, usual) = input(None).split();
    assert_eq!((filter.to.as_deref(), filter.has_code), (Some("a"), true));
    assert_eq!(
        (usual, input(Some(7)).split().1),
        (Duration::from_secs(30), Duration::from_secs(7))
    );
}
