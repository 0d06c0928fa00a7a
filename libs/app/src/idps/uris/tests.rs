use super::*;

#[test]
fn what_can_be_registered_is_a_place_where_an_application_runs() {
    for uri in [
        "https://app.example/callback",
        "http://app:3000/cb?a=b",
        "http://127.0.0.1/",
        "http://[::1]:9/x",
        "com.example.app:/callback",
        "com.example.app://callback",
    ] {
        assert_eq!(check_redirect_uri(uri), Ok(()), "{uri}");
    }
    for (uri, code) in [
        ("javascript:alert(1)", "invalid_scheme"),
        ("data:text/html,x", "invalid_scheme"),
        ("file:///etc/passwd", "invalid_scheme"),
        ("wss://app.example/", "invalid_scheme"),
        ("blob:https://app.example/1", "invalid_scheme"),
        ("myapp:/callback", "invalid_scheme"),
        ("ftp://app.example/", "invalid_scheme"),
        ("/callback", "invalid_url"),
        ("app.example/callback", "invalid_url"),
        ("", "invalid_url"),
        ("https://", "invalid_url"),
        ("https://app.example/#done", "invalid_url"),
        ("https://app.example/#", "invalid_url"),
        ("https://ada@app.example/", "invalid_url"),
        ("https://ada:x@app.example/", "invalid_url"),
        ("https://app.example/a b", "invalid_url"),
        ("https://app.example\\@evil.example/", "invalid_url"),
        ("https://ex\u{e4}mple/", "invalid_url"),
        ("https://app.example/\n", "invalid_url"),
    ] {
        let found = check_redirect_uri(uri).map_err(|objection| objection.code);
        assert_eq!(found, Err(code), "{uri}");
    }
    let long = format!("https://app.example/{}", "a".repeat(MAX_URI));
    assert_eq!(check_redirect_uri(&long).map_err(|it| it.code), Err("too_long"));
}

/// Whatever differs from what is registered is another place, however little it is.
#[test]
fn near_misses_match_nothing() {
    let registered = ["https://app.example/callback?a=1&b=2".to_owned()];
    assert!(is_registered(&registered, "https://app.example/callback?a=1&b=2"));
    for uri in [
        "https://app.example/callback",
        "https://app.example/callback?a=1",
        "https://app.example/callback?b=2&a=1",
        "https://app.example/callback?a=1&b=2&c=3",
        "https://app.example/callback?a=1&b=2#",
        "https://app.example/callback?a=1&b=2#x",
        "https://app.example/callback/?a=1&b=2",
        "https://app.example//callback?a=1&b=2",
        "https://app.example/./callback?a=1&b=2",
        "https://app.example/x/../callback?a=1&b=2",
        "https://app.example/%63allback?a=1&b=2",
        "https://app.example/Callback?a=1&b=2",
        "https://APP.example/callback?a=1&b=2",
        "HTTPS://app.example/callback?a=1&b=2",
        "http://app.example/callback?a=1&b=2",
        "https://app.example:443/callback?a=1&b=2",
        "https://app.example./callback?a=1&b=2",
        "https://app.example.evil.example/callback?a=1&b=2",
        "https://evil.example/https://app.example/callback?a=1&b=2",
        "https://app.example@evil.example/callback?a=1&b=2",
        "https://evil.example\\@app.example/callback?a=1&b=2",
        "https://sub.app.example/callback?a=1&b=2",
        "//app.example/callback?a=1&b=2",
        " https://app.example/callback?a=1&b=2",
        "https://app.example/callback?a=1&b=2 ",
        "https://app.example/callback?a=1&b=2\u{0}",
        "",
    ] {
        assert!(!is_registered(&registered, uri), "{uri}");
    }
    assert!(!is_registered(&[], "https://app.example/"));
}

#[test]
fn only_the_port_of_a_loopback_address_may_be_another() {
    for host in ["127.0.0.1", "[::1]", "localhost"] {
        for known in [format!("http://{host}/cb?a"), format!("http://{host}:3000/cb?a")] {
            let registered = [known];
            for port in ["", ":1", ":3000", ":65535"] {
                assert!(is_registered(&registered, &format!("http://{host}{port}/cb?a")), "{port}");
            }
            for wrong in [
                format!("http://{host}:65536/cb?a"),
                format!("http://{host}:/cb?a"),
                format!("http://{host}:1a/cb?a"),
                format!("http://{host}:1@evil.example/cb?a"),
                format!("http://{host}.evil.example/cb?a"),
                format!("http://{host}:1/cb"),
                format!("http://{host}:1/cb?a#"),
                format!("https://{host}:1/cb?a"),
                "http://127.0.0.2:3000/cb?a".to_owned(),
            ] {
                assert!(!is_registered(&registered, &wrong), "{wrong}");
            }
        }
    }
    // One of these names is not another.
    assert!(!is_registered(&["http://localhost/".to_owned()], "http://127.0.0.1/"));
    assert!(is_registered(&["http://localhost".to_owned()], "http://localhost:4000"));
    assert!(!is_registered(&["http://app:1/".to_owned()], "http://app:2/"));
}
