use crate::preview::{Options, content_security_policy, html, text};

fn rewritten(source: &str) -> String {
    let resolve = |id: &str| match id {
        "logo@x" => Some(format!("/p/{id}?s=1&e=2")),
        "50%25%41" => Some("/as-it-stands".to_owned()),
        _ => None,
    };
    let page = html(source, &Options { resolve_cid: &resolve });
    page.replacen("<meta charset=\"utf-8\">", "", 1)
}

#[test]
fn what_runs_or_loads_is_removed() {
    let cases = [
        ("a<script>x</script>b", "ab"),
        ("a<SCRIPT SRC=//x>b</ScRiPt >c", "ac"),
        ("<base href=//x>a", "a"),
        ("<meta http-equiv=\"Refresh\" content=\"0;url=//x\">a", "a"),
        ("<meta http-equiv=\"&#82;efresh\" content=0>a", "a"),
        ("<meta http-equiv=Content-Type content='text/html; charset=big5'>a", "a"),
        ("<meta http-equiv=x-dns-prefetch-control content=on>a", "a"),
        ("<meta name=' Referrer' content=unsafe-url>a", "a"),
        ("<meta name=viewport content=x>a", "<meta name=\"viewport\" content=\"x\">a"),
        ("<iframe src=//x>b</iframe>a<embed src=//x>", "a"),
        ("<object data=//x>shown</object><applet>too</applet>", "showntoo"),
        ("<link rel=\"preload stylesheet\" href=//x>a<link rel=DNS-PREFETCH href=//x>", "a"),
        ("<link rel=' x ' href=//x>a", "a"),
        ("<img src=a onerror=x OnLoad='y'>", "<img src=\"a\">"),
        ("<img/onerror='x'/src=a>", "<img src=\"a\">"),
        ("<svg onload=x><a xlink:href='javascript:x'>t</a></svg>", "<svg><a>t</a></svg>"),
        ("<set to='javascript:x'/><animate values='a; javascript:x'/>", "<set/><animate/>"),
        ("<p ping=//x srcdoc=y referrerpolicy=unsafe-url attributionsrc=//x>a", "<p>a"),
        ("<form action='javascript:x'>a", "<form>a"),
        ("<!-- gone --><style>p{}</style>", "<style>p{}</style>"),
    ];
    for (source, expected) in cases {
        let found = rewritten(source);
        assert_eq!(found, expected, "{source}");
    }
}

/// Browsers differ by what surrounds these in whether they are markup or text; the page reads the
/// same to each.
#[test]
fn what_may_be_text_or_markup_is_written_as_both() {
    let link = "<link rel=preconnect href=//x>";
    let cases = [
        ("<noscript>{}<p>a</noscript>", "<p>a"),
        ("<noscript><p title=\"</noscript>{}\">a", "<p title=\"&lt;/noscript&gt;{plain}\">a"),
        ("<svg><title>{}</title></svg>", "<svg><title>{text}</title></svg>"),
        ("<svg><title/>{}</svg>a", "<svg><title>{text}&lt;/svg>a</title>"),
        ("<svg><![CDATA[><a>]]>{}b</svg>", "<svg><a>]]>b</svg>"),
        ("<svg><style><![CDATA[p{a}]]></style></svg>", "<svg><style>p{a}</style></svg>"),
        ("<style><!-- p>a{}<b --></style>", "<style> p>a{css}\\3c b </style>"),
        ("<style>@media (width < 6px){a}<</style>", "<style>@media (width < 6px){a}\\3c </style>"),
        ("<textarea>{}", "<textarea>{text}</textarea>"),
        ("<xmp>{}&lt;</xmp>a", "<pre>{plain}&amp;lt;</pre>a"),
        ("<plaintext>{}</plaintext>", "<pre>{plain}&lt;/plaintext&gt;</pre>"),
        ("<noframes>{}a</noframes><noembed>{}</noembed>a", "a"),
        ("<script><!--<script></script>{}--></script>a", "-->a"),
        ("<!--><p>--!>{}-->", "<p>--!>-->"),
        ("<!--->{}<p>-->", "<p>-->"),
        ("<!-- {} --!><p>", "<p>"),
        ("<!x><p></ {}<?x{}a", "<p>a"),
        ("<?doctype html>a", "a"),
        ("<p <script x='\"{}'\"y\">a", "<p x=\"&quot;{plain}\">a"),
        ("<b<script hidden>a</b<script>{}", "<b_script hidden>a</b_script>"),
        ("<a<b>{}<p =x =\"y\" a==b c = d e>", "<a_b><p a=\"=b\" c=\"d\" e>"),
        ("a<b", "a"),
        ("a<b c='{}", "a"),
        // Two texts are no character reference together.
        ("&<!-- -->lt;", "&&#108;t;"),
        ("&l<script></script>t;a&l</>t<p>;", "&l&#116;;a&l&#116;<p>;"),
        ("&lt<!-- -->; &#<!-- -->x3c;", "&lt&#59; &#&#120;3c;"),
        ("&not<noscript>in;</noscript> &lt;<!-- -->a &<b>lt;", "&not&#105;n; &lt;a &<b>lt;"),
        ("1 < 2 <3> &amp; <<p>", "1 &lt; 2 &lt;3> &amp; &lt;<p>"),
    ];
    for (source, expected) in cases {
        let expected = expected
            .replace("{text}", &link.replace('<', "&lt;"))
            .replace("{plain}", &link.replace('<', "&lt;").replace('>', "&gt;"))
            .replace("{css}", &link.replace('<', "\\3c "));
        assert_eq!(rewritten(&source.replace("{}", link)), expected, "{source}");
    }
}

#[test]
fn marks_around_a_style_go_whatever_is_left_of_them() {
    for (source, expected) in [
        ("<!-- a{} -->", " a{} "),
        ("--<!-->a{}", "a{}"),
        ("]]]]>>a{}", "a{}"),
        ("<!<!----a{}", "a{}"),
        ("a{b:url(ci<!--d:logo@x)}", "a{b:url(\"/p/logo@x?s=1&e=2\")}"),
    ] {
        let found = rewritten(&format!("<style>{source}</style>"));
        assert_eq!(found, format!("<style>{expected}</style>"), "{source}");
    }
}

#[test]
fn dangerous_targets_are_removed() {
    let dangerous = [
        "javascript:alert(1)",
        " JavaScript:alert(1)",
        "java\nscript:alert(1)",
        "java&#10;script:alert(1)",
        "java&Tab;script&colon;alert(1)",
        "&#x6a;avascript:alert(1)",
        "&#0000106avascript:alert(1)",
        "\u{1}javascript:alert(1)",
        "vbscript:x",
        "data:text/html,x",
        "DATA:text/html;base64,x",
        "data:image/svg+xml,x",
    ];
    for target in dangerous {
        let found = rewritten(&format!("<a href=\"{target}\">t</a>"));
        assert_eq!(found, "<a>t</a>", "{target}");
    }
    for target in ["https://x.test", "mailto:a@x.test", "myapp:open", "data:image/png;base64,x"] {
        let found = rewritten(&format!("<a href=\"{target}\">t</a>"));
        assert!(found.starts_with(&format!("<a href=\"{target}\"")), "{found}");
        assert!(found.contains("target=\"_blank\" rel=\"noopener noreferrer\""), "{found}");
    }
    assert_eq!(rewritten("<a href='#x' target=_top>t</a>"), "<a href=\"#x\">t</a>");
    // What is left when a dangerous one is gone leads out of the page as well.
    for (source, left) in [
        ("<a href=javascript:x href=https://x.test>t</a>", "href"),
        ("<a href=javascript:x xlink:href=https://x.test>t</a>", "xlink:href"),
        ("<a xlink:href=javascript:x href=https://x.test>t</a>", "href"),
        ("<a href=#x xlink:href=https://x.test>t</a>", "href=\"#x\" xlink:href"),
    ] {
        let expected = format!(
            "<a {left}=\"https://x.test\" target=\"_blank\" rel=\"noopener noreferrer\">t</a>"
        );
        assert_eq!(rewritten(source), expected, "{source}");
    }
}

#[test]
fn content_ids_point_to_parts() {
    let url = "/p/logo@x?s=1&amp;e=2";
    let cases = [
        ("<img src=\"cid:logo@x\">", format!("<img src=\"{url}\">")),
        ("<img src='CID:logo%40x'>", format!("<img src=\"{url}\">")),
        ("<img src=cid:&lt;logo@x&gt;>", format!("<img src=\"{url}\">")),
        ("<img src='cid:50%25%41'>", "<img src=\"/as-it-stands\">".into()),
        ("<td background=cid:logo@x>", format!("<td background=\"{url}\">")),
        ("<video poster=cid:logo@x>", format!("<video poster=\"{url}\">")),
        ("<img srcset='cid:logo@x 1x, b 2x'>", format!("<img srcset=\"{url} 1x, b 2x\">")),
        (
            "<p style=\"background:url(cid:logo@x)\">",
            format!("<p style=\"background:url(&quot;{url}&quot;)\">"),
        ),
        (
            "<p style='background:url(&quot;cid:logo%40x&quot;)'>",
            format!("<p style=\"background:url(&quot;{url}&quot;)\">"),
        ),
        (
            "<style>p{background:url('cid:logo@x')}</style>",
            "<style>p{background:url(\"/p/logo@x?s=1&e=2\")}</style>".into(),
        ),
        ("<img src=cid:other>", "<img src=\"cid:other\">".into()),
        ("<style>a{b:url(cid:other)}</style>", "<style>a{b:url(cid:other)}</style>".into()),
    ];
    for (source, expected) in cases {
        assert_eq!(rewritten(source), expected, "{source}");
    }
}

#[test]
fn the_charset_comes_after_the_doctype() {
    let page = html("<!DOCTYPE html><p>a", &Options { resolve_cid: &|_| None });
    assert_eq!(page, "<!DOCTYPE html><meta charset=\"utf-8\"><p>a");
    let page = html("<p>a", &Options { resolve_cid: &|_| None });
    assert_eq!(page, "<meta charset=\"utf-8\"><p>a");
    let source = "\u{FEFF}<?xml version='1.0'?>\n<!-- a -->\n<!DOCTYPE html PUBLIC '-//W3C'><p>a";
    let page = html(source, &Options { resolve_cid: &|_| None });
    assert_eq!(page, "<!DOCTYPE html PUBLIC '-//W3C'><meta charset=\"utf-8\"><p>a");
}

#[test]
fn long_bodies_are_cut() {
    let source = "ä".repeat(2 * 1024 * 1024);
    let page = html(&source, &Options { resolve_cid: &|_| None });
    assert!(page.len() < 2 * 1024 * 1024 + 1_000);
    assert!(page.ends_with("2 MiB of HTML.</p>"));
    assert!(text(&source).len() < 2 * 1024 * 1024 + 1_000);
}

#[test]
fn plain_text_is_escaped_and_linked() {
    let page = text("<b>&\"'\nsee https://x.test/?a=1&b=2.\nwww.x.test");
    assert!(page.contains("&lt;b&gt;&amp;\"'\nsee "), "{page}");
    assert!(page.contains(
        "<a href=\"https://x.test/?a=1&amp;b=2\" target=\"_blank\" \
         rel=\"noopener noreferrer\">https://x.test/?a=1&amp;b=2</a>.\n"
    ));
    assert!(page.contains("<a href=\"http://www.x.test\""));
}

#[test]
fn policies_differ_in_images_and_ancestors() {
    let closed = content_security_policy(false, "'self'");
    assert_eq!(
        closed,
        "sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'; \
         img-src 'self' data:; media-src 'none'; style-src 'unsafe-inline'; font-src data:; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
    );
    let open = content_security_policy(true, "*; script-src *\r\n");
    assert!(open.contains("img-src 'self' data: https: http:;"));
    assert!(open.ends_with("frame-ancestors * script-src *"));
}
