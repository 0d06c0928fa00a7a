use crate::entities;
use crate::links;
use crate::visible;

#[test]
fn character_references() {
    let cases = [
        ("a &amp; b", "a & b"),
        ("&lt;&gt;&quot;&apos;&#39;&#x27;&#X27", "<>\"''''"),
        ("&alpha;&Omega;&sigmaf;&infin;&le;&hearts;", "αΩς∞≤♥"),
        ("&nbsp;&auml;&Auml;&yuml;&euro;&hellip;", "\u{A0}äÄÿ€…"),
        ("?a=1&amp;b=2&copy=3&amp", "?a=1&b=2&copy=3&"),
        ("&#0;&#x110000;&#150;", "\u{FFFD}\u{FFFD}–"),
        ("&nosuch; & &; &#; &#x;", "&nosuch; & &; &#; &#x;"),
        ("java&Tab;script&colon;", "java\tscript:"),
        ("&#000000000000000000106;", "j"),
    ];
    for (text, expected) in cases {
        assert_eq!(entities::decode(text), expected, "{text}");
    }
}

#[test]
fn visible_text() {
    let cases = [
        ("<p>one</p><p>two</p>", "one\ntwo"),
        ("a<br>b<br/>c", "a\nb\nc"),
        ("<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>", "a b\nc"),
        ("a <b>b</b>\n c", "a b c"),
        ("<head><title>no</title><style>p{}</style></head><body>yes", "yes"),
        ("<script>if (a < b) '</p>'</script>yes", "yes"),
        ("a<!-- <p>no</p> -->b<!-->c-->d", "abc-->d"),
        ("<div style='display: none'>no<div>no</div>no</div>yes", "yes"),
        ("<p style=\"DISPLAY:NONE\">no<p>yes", "yes"),
        ("<span style='font-size:0px'>no</span><span style='font-size:0.9em'>yes</span>", "yes"),
        ("<span hidden>no</span>yes", "yes"),
        ("<img style='display:none'>yes", "yes"),
        ("a\u{200B}b&zwnj;c&shy;d", "abcd"),
        ("1 < 2 and <3", "1 < 2 and <3"),
        ("<a title=\"a > b\">yes</a>", "yes"),
        ("<p>it's <b>bold</b>", "it's bold"),
        ("<![if !mso]>yes<![endif]>", "yes"),
        ("unclosed <b", "unclosed"),
        ("<!-- unclosed", ""),
        ("<picture><source style='display:none'><img></picture>yes", "yes"),
        ("<video><track hidden></video><param hidden>yes", "yes"),
        (
            "<nav>a</nav><nav>b</nav><menu>c</menu><details><summary>d</summary>e</details>f",
            "a\nb\nc\nd\ne\nf",
        ),
        // As a browser reads them, and as the preview shows them.
        ("<style>p{}</stylex>no</style>yes", "yes"),
        ("<xmp>1 <b>&lt;</xmp>yes", "1 <b>&lt;\nyes"),
        ("yes<plaintext>all </plaintext> of it", "yes\nall </plaintext> of it"),
        ("<div hidden><xmp>no</xmp></div>yes", "yes"),
        ("yes</ no>yes<//no>", "yesyes"),
    ];
    for (html, expected) in cases {
        assert_eq!(visible::text(html).text, expected, "{html}");
    }
}

/// What browsers show, with scripts off, of elements that are not shown as any other.
#[test]
fn visible_text_of_elements_that_are_special() {
    let cases = [
        ("<textarea>a &amp; <b>b</textarea>c", "a & <b>bc"),
        ("<textarea hidden>no</textarea>yes", "yes"),
        ("<title>no</title><svg><title>no</title></svg>yes", "yes"),
        ("a<noframes>no</noframes>b<noembed>no</noembed><noscript>c</noscript>", "abc"),
        ("<frameset><frame src=x><noframes>no", ""),
        ("a<video src=x>no</video><audio>no</audio><canvas>b</canvas>", "ab"),
        ("<meter>no</meter><progress>no</progress><datalist><option>no</datalist>yes", "yes"),
        ("<dialog>no</dialog><dialog open>yes</dialog>", "yes"),
        ("<object>a</object><ruby>b<rp>(</rp><rt>c</rt></ruby>", "ab(c"),
        ("<image hidden>yes", "yes"),
        // An end within the tag is one in SVG and MathML only.
        ("<svg><path style='display:none'/></svg>yes", "yes"),
        ("<svg><g hidden><g/>no</g>a</svg>b", "ab"),
        ("<svg><g hidden/>a<svg/><g hidden/>b</svg><g hidden/>no", "ab"),
        ("<svg hidden/><math hidden/>yes", "yes"),
        ("<svg><foreignObject><p hidden/>no</p>a</foreignObject><g hidden/>b</svg>", "ab"),
        ("<div style='display:none'/>no</div>yes", "yes"),
        ("<svg><desc>no</desc><defs><text>no</text></defs><text>yes</text></svg>", "yes"),
        ("<desc>a</desc><math><mi>b</mi><annotation>no</annotation></math>", "ab"),
        ("a<!-- -->b &<!-- -->lt;&l<?x>t;&l</>t;", "ab &lt;&lt;&lt;"),
    ];
    for (html, expected) in cases {
        assert_eq!(visible::text(html).text, expected, "{html}");
    }
}

/// Of elements within each other that hide or show, 32 count; a deeper one is like the one around it.
#[test]
fn a_bounded_number_of_elements_hide_text() {
    let pair = "<b style='visibility:hidden'><b style='visibility:visible'>";
    let hidden = "<b style='visibility:hidden'>a";
    assert_eq!(visible::text(&format!("{}{hidden}", pair.repeat(15))).text, "");
    assert_eq!(visible::text(&format!("{}{hidden}", pair.repeat(16))).text, "a");
}

/// What a style hides, and what shows again within it.
#[test]
fn visible_text_by_style() {
    let cases = [
        // Columns without gaps, as newsletters have them.
        ("<td style='font-size:0px'><div style='font-size:13px'>a</div></td>", "a"),
        ("<td style='font-size:0'>no<b style='font-size:1rem'>a</b>no<td>b", "a b"),
        (
            "<div style='font-size:0'><div style='font-size:9pt'>a</div>no<div>no</div></div>b",
            "a\nb",
        ),
        ("<p style='font-size:0'>no<b style='font-size:1em'>no</b><font size=2>yes", "yes"),
        ("<p style='font-size:0'><b style='font: bold 14px/20px Arial'>yes</b>no", "yes"),
        ("<p style='font:0/0 a'>no<b style='font-size:small'>yes</b>no", "yes"),
        (
            "<p style='font-size:0'><b style='font-size:12px'><i style='font-size:0'>no</i>yes",
            "yes",
        ),
        ("<p style='visibility:hidden'>no<b style='visibility:visible'>yes</b>no", "yes"),
        ("<p style='visibility:hidden;font-size:0'>no<b style='visibility:visible'>no", ""),
        ("<p style='display:none'>no<b style='display:block;font-size:9px'>no</b></p>yes", "yes"),
        ("<p style='opacity:0'>no<b style='opacity:1'>no</b></p>yes", "yes"),
        ("<p style='opacity:0.0'>no</p><p style='max-height:.0px'>no</p>yes", "yes"),
        ("<p style='opacity:0.5'>a</p><p style='max-height:0.5em'>b</p>", "a\nb"),
        ("<p style='fill-opacity:0;mso-hide:all;x:display:none'>yes", "yes"),
        (
            "<p style='DISPLAY : None !important'>no</p><p style='/*x*/display:none'>no</p>yes",
            "yes",
        ),
        ("<p hidden style='display:block'>yes", "yes"),
        // Paragraphs and cells that nothing closes.
        ("<p hidden>no<div>a</div><p hidden>no<ul><li>b", "a\nb"),
        ("<table><td><p hidden>no</td><td>a</table><div><p hidden>no</div>b", "a\nb"),
        ("<tr hidden><td>no<tr><td>a<table><td hidden>no<td>b</table>c", "a\nb\nc"),
        ("<td hidden>no<table><td>no</table>no<td>a<ul><li hidden>no<ol><li>no</ol><li>b", "a\nb"),
        ("<dl><dt hidden>no<dd>a</dl>", "a"),
        ("<p hidden>no<br>no<b>no</b></p>yes", "yes"),
    ];
    for (html, expected) in cases {
        assert_eq!(visible::text(html).text, expected, "{html}");
    }
}

/// HTML, text, targets and texts.
type Case<'a> = (Option<&'a str>, Option<&'a str>, &'a [(&'a str, &'a str)]);

#[test]
fn links_of_html_and_text() {
    let cases: &[Case] = &[
        (
            Some("<a href='https://x.test/?a=1&amp;b=2'>Go <b>now</b></a>"),
            None,
            &[("https://x.test/?a=1&b=2", "Go now")],
        ),
        (Some("<a href='https://x.test' x='>Go</a>"), None, &[]),
        (Some("<a href='https://x.test'><xmp>Go</xmp></a>"), None, &[("https://x.test", "Go")]),
        (
            Some("<a href='https://x.test'><textarea>G&#111;</textarea></a>"),
            None,
            &[("https://x.test", "Go")],
        ),
        (Some("<a href=https://x.test/a/b>Go</a>"), None, &[("https://x.test/a/b", "Go")]),
        (
            Some("<A HREF=\" https://x.test \"><IMG ALT=\"Logo\"></A>"),
            None,
            &[("https://x.test", "Logo")],
        ),
        (Some("<a href='https://x.test'></a>"), None, &[("https://x.test", "https://x.test")]),
        (Some("<a href='#top'>up</a><a href='javascript:x'>no</a><a>no</a>"), None, &[]),
        (
            Some("<a href='myapp://open'>App</a><a href='mailto:a@x.test'>Mail</a>"),
            None,
            &[("myapp://open", "App"), ("mailto:a@x.test", "Mail")],
        ),
        (
            Some(
                "<a href='https://x.test'>1</a><a href='https://x.test'>2</a><a href='https://x.test'>1</a>",
            ),
            None,
            &[("https://x.test", "1"), ("https://x.test", "2")],
        ),
        (
            Some("<a href='https://x.test'>1</a>"),
            Some("see https://x.test or https://y.test."),
            &[("https://x.test", "1"), ("https://y.test", "https://y.test")],
        ),
        (Some("<p>bare https://x.test/a</p>"), None, &[("https://x.test/a", "https://x.test/a")]),
        (
            Some("<a href='https://x.test/1'>unclosed<a href='https://x.test/2'>two"),
            None,
            &[("https://x.test/1", "unclosed"), ("https://x.test/2", "two")],
        ),
        (
            None,
            Some("(https://x.test/a_(b)), <https://y.test/>; https://z.test/?q=1!"),
            &[
                ("https://x.test/a_(b)", "https://x.test/a_(b)"),
                ("https://y.test/", "https://y.test/"),
                ("https://z.test/?q=1", "https://z.test/?q=1"),
            ],
        ),
        (
            None,
            Some("www.x.test, HTTP://Y.test/a?b#c"),
            &[("http://www.x.test", "www.x.test"), ("HTTP://Y.test/a?b#c", "HTTP://Y.test/a?b#c")],
        ),
        (None, Some("链接：https://x.test/a。然后"), &[("https://x.test/a", "https://x.test/a")]),
        (None, Some("https:// xhttp://no.test"), &[]),
    ];
    for (html, text, expected) in cases {
        let found = links::find(*html, *text);
        let found: Vec<(&str, &str)> =
            found.iter().map(|l| (l.url.as_str(), l.text.as_str())).collect();
        assert_eq!(found, *expected, "{html:?} {text:?}");
    }
}

#[test]
fn bare_links_end_where_a_person_would_end_them() {
    // The text, and its links.
    let cases: &[(&str, &[&str])] = &[
        // Tokens keep whatever they end in.
        ("https://x.test/v?token=eyJhbGciOi9xX_", &["https://x.test/v?token=eyJhbGciOi9xX_"]),
        ("https://x.test/v?t=a*\nnext", &["https://x.test/v?t=a*"]),
        ("https://x.test/v?t=a~", &["https://x.test/v?t=a~"]),
        ("https://x.test/v?t=ab--", &["https://x.test/v?t=ab--"]),
        ("https://x.test/v?t=YQ==", &["https://x.test/v?t=YQ=="]),
        ("https://x.test/v?t=a_.", &["https://x.test/v?t=a_"]),
        (
            "https://x.test/v?t=a+ https://x.test/v?t=a/",
            &["https://x.test/v?t=a+", "https://x.test/v?t=a/"],
        ),
        ("https://x.test/v?t=a' or", &["https://x.test/v?t=a'"]),
        ("https://x.test/v?t=a&u=", &["https://x.test/v?t=a&u="]),
        ("Use *this* link: https://x.test/a_", &["https://x.test/a_"]),
        // Emphasis and quotes right around a link are none of it.
        ("**https://x.test/a**", &["https://x.test/a"]),
        ("*https://x.test/a_*", &["https://x.test/a_"]),
        ("_https://x.test/a__", &["https://x.test/a_"]),
        ("*_https://x.test/a_*.", &["https://x.test/a"]),
        ("~~https://x.test/a~~", &["https://x.test/a"]),
        ("'https://x.test/a',", &["https://x.test/a"]),
        ("‘https://x.test/a’ «https://y.test/b»…", &["https://x.test/a", "https://y.test/b"]),
        // Brackets that the link opened are its own.
        ("[https://x.test/a?b[]]", &["https://x.test/a?b[]"]),
        ("http://[2001:db8::1]", &["http://[2001:db8::1]"]),
        ("(see https://x.test/a)", &["https://x.test/a"]),
        ("(https://x.test/a_(b)_c)", &["https://x.test/a_(b)_c"]),
        ("<https://x.test/a.> <https://x.test/b!", &["https://x.test/a.", "https://x.test/b"]),
        // Apps' own schemes, and what no mail should link to.
        ("Open myapp://verify?t=a_ now", &["myapp://verify?t=a_"]),
        ("com.example.app://callback/x.", &["com.example.app://callback/x"]),
        ("MyApp+v2://x", &["MyApp+v2://x"]),
        ("git+https://x.test/r", &["git+https://x.test/r"]),
        ("exp://127.0.0.1:8081/--/reset?t=1", &["exp://127.0.0.1:8081/--/reset?t=1"]),
        ("Link-https://x.test/a see.http://y.test/b", &["https://x.test/a", "http://y.test/b"]),
        ("javascript://x%0Aalert(1) data://a JavaScript://y vbscript://z", &[]),
        ("file:///etc/passwd smb://h/s view-source://x blob://y ms-msdt://z", &[]),
        ("C://dir a://b 1234://x :// :///x xhttp://no.test myapp://", &[]),
        ("averyveryveryveryverylongwordindeed://x.test", &[]),
    ];
    for (text, expected) in cases {
        let found = links::find(None, Some(text));
        let found: Vec<&str> = found.iter().map(|link| link.url.as_str()).collect();
        assert_eq!(found, *expected, "{text}");
    }
}

#[test]
fn hostile_html_takes_linear_time() {
    // Quadratic work would take minutes here.
    let pieces = [
        "<a \"",
        "<a href='",
        "<!--",
        "<i></b>",
        "<i>",
        "&#",
        "&",
        "<style>",
        "</style",
        "<p style=display:none>",
        "< ",
        "<a href=x>",
    ];
    for piece in pieces {
        let html = piece.repeat(200_000 / piece.len());
        assert!(links::find(Some(&html), None).len() <= crate::limits::LINKS);
        assert!(visible::text(&html).text.len() <= html.len());
        let options = crate::preview::Options { resolve_cid: &|_| None };
        assert!(!crate::preview::html(&html, &options).is_empty());
    }
}
