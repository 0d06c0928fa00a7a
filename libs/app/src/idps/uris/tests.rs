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
