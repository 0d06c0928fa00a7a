//! For each rule a mail that meets it alone, and one just beyond its bound that does not.

use std::iter;

use super::mails::{Mail, TEXT};

type Case = (&'static str, Mail, Mail);

pub(super) fn all() -> Vec<Case> {
    [header(), structure(), page(), links(), files(), bulk()].concat()
}

fn subject(subject: &str) -> Mail {
    Mail::good().with("Subject", subject)
}

fn header() -> Vec<Case> {
    let good = Mail::good;
    let from = |value: &str| good().with("From", value);
    let date = |value: &str| good().with("Date", value);
    vec![
        ("FROM_MISSING", good().without("From"), from("app@harbour.example.com")),
        (
            "FROM_MANY",
            from("app@harbour.example.com, other@harbour.example.com"),
            from("app@harbour.example.com, other@harbour.example.com")
                .and("Sender", "app@harbour.example.com"),
        ),
        (
            "FROM_NAME_IS_ADDRESS",
            from("\"billing@bank.com\" <app@harbour.example.com>"),
            from("\"app@www.example.com\" <app@harbour.example.com>"),
        ),
        (
            "REPLY_TO_ELSEWHERE",
            good().and("Reply-To", "help@elsewhere.org"),
            good().and("Reply-To", "help@support.example.com"),
        ),
        ("DATE_MISSING", good().without("Date"), good()),
        ("DATE_BAD", date("yesterday"), good()),
        (
            "DATE_OFF",
            date("Tue, 03 Mar 2026 09:01:01 +0000"),
            date("Tue, 03 Mar 2026 09:01:00 +0000"),
        ),
        (
            "DATE_OFF",
            date("Mon, 23 Feb 2026 09:00:59 +0000"),
            date("Mon, 23 Feb 2026 09:01:00 +0000"),
        ),
        ("MESSAGE_ID_MISSING", good().without("Message-ID"), good()),
        ("MESSAGE_ID_BAD", good().with("Message-ID", "<1>"), good()),
        ("SUBJECT_MISSING", subject(" "), subject("x")),
        ("SUBJECT_CAPS", subject("ABCDEFGHij"), subject("ABCDEFGhij")),
        ("SUBJECT_CAPS", subject("ABCDEFGHIJ"), subject("ABCDEFGHI 1234")),
        ("SUBJECT_SHOUTS", subject("Hello!!"), subject("Hello! Hello!")),
        ("SUBJECT_SHOUTS", subject("Hey! Hello! Hi!"), subject("What? Hello? Hi?")),
        (
            "SUBJECT_FAKE_REPLY",
            subject("Re: our call"),
            subject("Re: our call").and("References", "<0@harbour.example.com>"),
        ),
        ("SUBJECT_FAKE_REPLY", subject("AW[2]: our call"), subject("Reset: our call")),
        ("HEADER_8BIT", subject("Gr\u{FC}sse aus Z\u{FC}rich"), subject("=?utf-8?q?Gr=C3=BCsse?=")),
        ("HEADER_REPEATED", good().and("Subject", "Again"), good().and("Received", "by a")),
    ]
}

fn structure() -> Vec<Case> {
    let good = Mail::good;
    let base64 = |body: &str| {
        let head = "Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: base64";
        good().body(&format!("{head}\r\n\r\n{body}\r\n"))
    };
    let alphabet: Vec<_> = ('a'..='z').map(|letter| letter.to_string().repeat(4)).collect();
    let different = |words: usize| {
        let html = format!("<p>{} and more for you to read</p>", alphabet[..words].join(" "));
        good().text(&alphabet[..20].join(" ")).html(&html)
    };
    vec![
        (
            "MIME_BROKEN",
            good().body("Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nHello\r\n"),
            good().body(
                "Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nHello\r\n--b--\r\n",
            ),
        ),
        (
            "CHARSET_UNDECLARED",
            good().body("Content-Type: text/plain\r\n\r\nGrüße\r\n"),
            good().text("Grüße"),
        ),
        ("LINES_BAD", good().text(&"x".repeat(999)), good().text(&"x".repeat(998))),
        ("HTML_ONLY", good().only_html(&format!("<p>{TEXT}</p>")), Mail::page("")),
        ("TEXT_DIFFERS", different(9), different(10)),
        ("BASE64_ASCII", base64("SGVsbG8gQWRh"), base64("R3LDvMOfZQ==")),
        (
            "GTUBE",
            good().text("XJS*C4JDBQADN1.NSBN3*2IDNEN*GTUBE-STANDARD-ANTI-UBE-TEST-EMAIL*C.34X"),
            good().text("XJS*C4JDBQADN1.NSBN3*2IDNEN*GTUBE-STANDARD-ANTI-UBE-TEST-EMAIL*C.34Y"),
        ),
    ]
}

fn words(count: usize) -> String {
    vec!["word"; count].join(" ")
}

/// Comments of so many bytes, in lines.
fn padding(bytes: usize) -> String {
    iter::repeat_n("<!-- xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx -->\r\n", bytes / 48).collect()
}

fn page() -> Vec<Case> {
    let page = Mail::page;
    let hidden = |style: &str, count| {
        page(&format!("<p style='display:none'>Preview</p><p style='{style}'>{}</p>", words(count)))
    };
    let image = |count| {
        let html = format!("<p>{}</p><img src='cid:a' width=600>", words(count));
        Mail::good().text(&words(count)).html(&html)
    };
    let scarce = |count: usize| {
        let text = "ab ".repeat(count);
        Mail::good().text(&text).html(&format!("<p>{text}</p>{}", padding(4_800)))
    };
    let clipped = |bytes: usize| {
        // With enough text to be no page of comments.
        let text = format!("{}\r\n", "harbour lights ".repeat(40));
        page(&format!("{}{}", text.repeat(10), padding(bytes)))
    };
    vec![
        ("TEXT_SCARCE", scarce(20), scarce(60)),
        ("IMAGE_ONLY", image(19), image(20)),
        ("TEXT_HIDDEN", hidden("display:none", 31), hidden("display:none", 30)),
        ("TEXT_HIDDEN", hidden("font-size:2px", 31), hidden("font-size:8px", 31)),
        ("TEXT_HIDDEN", hidden("color:#fff;background:white", 31), hidden("color:#fff", 31)),
        (
            "TEXT_HIDDEN",
            page(&format!("<p style='opacity:0'>{}</p>", words(41))),
            page(&format!("<p style='opacity:0'>{}</p>", words(40))),
        ),
        ("TEXT_TINY", hidden("font-size:3px", 11), hidden("font-size:7px", 10)),
        ("HTML_CLIPPED", clipped(103_000), clipped(90_000)),
        ("SCRIPT", page("<script></script>"), page("<noscript></noscript>")),
        ("SCRIPT", page("<p onclick=a()>Hi</p>"), page("<p one=a()>Hi</p>")),
        (
            "SCRIPT",
            page("<a href=' java&#10;script:a()'>Hi</a>"),
            page("<a href='#javascript:'>Hi</a>"),
        ),
        ("EMBED", page("<iframe src=a></iframe>"), page("<picture></picture>")),
        ("FORM", page("<form></form>"), page("<label></label>")),
        (
            "REFRESH",
            page("<meta http-equiv=Refresh content='0;url=https://example.com'>"),
            page("<meta http-equiv=content-type content='text/html'>"),
        ),
        ("PHRASES", Mail::good().text("Act now"), Mail::good().text("Exact nowhere")),
    ]
}

fn link(target: &str, text: &str) -> Mail {
    Mail::page(&format!("<a href=\"{target}\">{text}</a>"))
}

fn links() -> Vec<Case> {
    let hosts = |count: usize| {
        let anchors = (0..count).map(|n| format!("<a href='https://h{n}.example.com/'>Go</a>\r\n"));
        Mail::page(&anchors.collect::<String>())
    };
    vec![
        (
            "LINK_TEXT_LIES",
            link("https://evil.org/", "www.bank.com"),
            link("https://login.bank.com/", "www.bank.com"),
        ),
        (
            "LINK_TEXT_LIES",
            link("https://evil.org/", "https://bank.com/login"),
            link("https://evil.org/", "report.pdf"),
        ),
        ("LINK_IP", link("https://0x5db8d822/", "Go"), link("https://10.0.0.1/", "Go")),
        (
            "LINK_USERINFO",
            link("https://bank.com@example.com/", "Go"),
            link("https://example.com/@a", "Go"),
        ),
        (
            "LINK_PUNYCODE",
            link("https://bücher.com/", "Go"),
            link("https://example.com/xn--a", "Go"),
        ),
        ("LINK_SHORTENER", link("https://bit.ly/a", "Go"), link("https://rabbit.ly/a", "Go")),
        ("LINK_HTTP", link("http://example.com/", "Go"), link("http://app.test/", "Go")),
        ("LINK_SCHEME", link("data:text/html,a", "Go"), link("tel:123", "Go")),
        ("LINK_HOSTS", hosts(21), hosts(20)),
    ]
}

fn files() -> Vec<Case> {
    let file = |name: &str, media_type: &str, body: &str| Mail::good().file(name, media_type, body);
    let stream = "application/octet-stream";
    let zip = |base64: &str| {
        let head = "Content-Type: application/zip; name=a.zip\r\nContent-Transfer-Encoding: base64";
        Mail::good().part(head, base64)
    };
    vec![
        ("FILE_EXECUTABLE", file("setup.EXE", stream, "x"), file("setup.txt", stream, "x")),
        ("FILE_TWO_EXTENSIONS", file("a.pdf.js", stream, "x"), file("a.min.js", stream, "x")),
        (
            "FILE_TYPE_LIES",
            file("a.png", "image/png", "MZ"),
            file("a.png", "image/png", "\u{89}PNG"),
        ),
        (
            "FILE_TYPE_LIES",
            file("a.pdf", "application/pdf", "<html>"),
            file("a.svg", "image/svg+xml", "<svg>"),
        ),
        ("FILE_ENCRYPTED", zip("UEsDBBQAAQA="), zip("UEsDBBQAAgA=")),
        ("FILE_HTML", file("a.htm", stream, "x"), file("a.md", stream, "x")),
    ]
}

fn bulk() -> Vec<Case> {
    let list = || Mail::good().and("List-Id", "<news.example.com>");
    let one_click = || {
        list()
            .and("List-Unsubscribe", "<https://example.com/u?t=1>, <mailto:u@example.com>")
            .and("List-Unsubscribe-Post", "List-Unsubscribe=One-Click")
    };
    vec![
        ("BULK_NO_UNSUBSCRIBE", list(), one_click()),
        (
            "BULK_NO_UNSUBSCRIBE",
            link("https://example.com/u", "Abmelden"),
            link("https://example.com/u", "Anmelden"),
        ),
        (
            "BULK_NOT_ONE_CLICK",
            list().and("List-Unsubscribe", "<https://example.com/u>"),
            one_click(),
        ),
        (
            "BULK_NOT_ONE_CLICK",
            one_click().with("List-Unsubscribe-Post", "List-Unsubscribe=Yes"),
            one_click(),
        ),
    ]
}
