//! Only CRLF `.` CRLF ends a message (RFC 5321, section 4.1.1.4): whatever else looks like an end
//! must not let a second message in.

use trapline_tests::shared;

use super::{only_raw, signed_in};

/// What looks like an end, how it's stored, and the warnings it earns.
const CASES: [(&str, &str, &[&str]); 8] = [
    ("\n.\n", "\n.\n", &["bare_lf"]),
    ("\n.\r\n", "\n.\r\n", &["bare_lf"]),
    ("\r.\r", "\r.\r", &["bare_cr"]),
    ("\r.\r\n", "\r.\r\n", &["bare_cr"]),
    // A dot at the start of a line is taken off, whatever follows it (section 4.5.2).
    ("\r\n.\n", "\r\n\n", &["bare_lf"]),
    ("\r\n.\r", "\r\n\r", &["bare_cr"]),
    ("\r\n.\0\r\n", "\r\n\0\r\n", &["nul_byte"]),
    ("\r\n\n.\r\n", "\r\n\n.\r\n", &["bare_lf"]),
];

const HEAD: &str = "From: a@example.test\r\nSubject: outer\r\n\r\nbefore";
const SMUGGLED: &str = "MAIL FROM:<evil@example.test>\r\nRCPT TO:<eve@example.test>\r\nDATA\r\n\
    Subject: inner\r\n\r\nsmuggled\r\n";

#[tokio::test]
async fn nothing_else_ends_a_message() {
    let server = shared();
    let rest = server.rest();
    for (end, stored, warnings) in CASES {
        let inbox = rest.inbox().await;
        let mut smtp = signed_in(&server, &inbox).await;
        smtp.begin("a@example.test", &["b@example.test"]).await;
        smtp.write(format!("{HEAD}{end}{SMUGGLED}.\r\n").as_bytes()).await;
        let id = smtp.expect(250).await.ids().remove(0);
        // A smuggled message would have got replies of its own before this one.
        smtp.quit().await;
        let expected = format!("{HEAD}{stored}{SMUGGLED}");
        assert_eq!(only_raw(&rest, &inbox).await, expected.as_bytes(), "{end:?}");
        let message = rest.message(&id).await;
        let found = message["warnings"].to_string();
        for warning in warnings {
            assert!(found.contains(warning), "{end:?}: {found}");
        }
    }
}

#[tokio::test]
async fn an_end_that_comes_in_pieces_is_an_end() {
    let server = shared();
    let rest = server.rest();
    let inbox = rest.inbox().await;
    let mut smtp = signed_in(&server, &inbox).await;
    smtp.begin("a@example.test", &["b@example.test"]).await;
    for piece in ["Subject: x\r\n\r\nbody\r", "\n", ".", "\r", "\n"] {
        smtp.write(piece.as_bytes()).await;
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    smtp.expect(250).await;
    assert_eq!(only_raw(&rest, &inbox).await, b"Subject: x\r\n\r\nbody\r\n");
}
