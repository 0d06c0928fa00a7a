#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::*;

#[test]
fn the_last_event_comes_from_the_header_or_the_parameter() {
    let (a, b) = ("0".repeat(52), format!("{}g", "0".repeat(51)));
    let cases = [
        (None, None, Ok(None)),
        (Some(""), None, Ok(None)),
        (None, Some(""), Ok(None)),
        (Some(a.as_str()), None, Ok(Some(a.as_str()))),
        (None, Some(b.as_str()), Ok(Some(b.as_str()))),
        (Some(a.as_str()), Some(b.as_str()), Ok(Some(a.as_str()))),
        (Some("7"), None, Err(())),
        (None, Some("7"), Err(())),
    ];
    for (header, parameter, wanted) in cases {
        let headers = header.map(|text| ("last-event-id".parse().unwrap(), text.parse().unwrap()));
        let found = last_event(&HeaderMap::from_iter(headers), parameter);
        let found = found.map(|id| id.map(|id| id.to_string())).map_err(drop);
        assert_eq!(
            found.as_ref().map(|id| id.as_deref()).map_err(|error| *error),
            wanted,
            "{header:?}"
        );
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
    };
    let (filter, usual) = input(None).split();
    assert_eq!((filter.to.as_deref(), filter.has_code), (Some("a"), true));
    assert_eq!(
        (usual, input(Some(7)).split().1),
        (Duration::from_secs(30), Duration::from_secs(7))
    );
}
