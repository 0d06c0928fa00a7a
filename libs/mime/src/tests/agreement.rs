//! The preview and the visible text of the same HTML tell the same.
//!
//! They may differ where a page ends before its source does: at 2 MiB, and at four times its length. Browsers
//! differ from both in what mail does not have: text that is in SVG or `MathML` and in none of their elements
//! for text, and names of characters without a semicolon before a letter (`&ltd`), which is left as it is
//! because URLs have it.

use proptest::prelude::*;

use crate::preview::{self, Options};
use crate::visible;

/// The text of the page that is made of `source`.
fn shown(source: &str) -> String {
    let page = preview::html(source, &Options { resolve_cid: &|_| None });
    visible::text(&page).text
}

/// Pieces of which each does something to the text around it.
const PIECES: &[&str] = &[
    "a ",
    "b",
    "1",
    ";",
    "#",
    "&",
    "&l",
    "t;",
    "&lt",
    "&amp;",
    "&#6",
    "&#",
    "&nbsp;",
    "<",
    ">",
    "/>",
    "\n",
    "<!-- x -->",
    "<!--",
    "-->",
    "<![CDATA[",
    "]]>",
    "<?x>",
    "</>",
    "<!doctype html>",
    "<p>",
    "</p>",
    "<p hidden>",
    "<div>",
    "</div>",
    "<div style='display:none'>",
    "<td>",
    "</td>",
    "<td style='font-size:0'>",
    "<div style='font-size:0'>",
    "<table>",
    "</table>",
    "<li hidden>",
    "<ul>",
    "<b style='font-size:9px'>",
    "</b>",
    "<b>",
    "<br>",
    "<br/>",
    "<hr hidden>",
    "<span style='visibility:hidden'>",
    "</span>",
    "<span style='visibility:visible'>",
    "<a href=x>",
    "</a>",
    "<svg>",
    "</svg>",
    "<svg/>",
    "<g style='display:none'/>",
    "<g hidden>",
    "</g>",
    "<path/>",
    "<desc>",
    "</desc>",
    "<math>",
    "</math>",
    "<title>",
    "</title>",
    "<textarea>",
    "</textarea>",
    "<xmp>",
    "</xmp>",
    "<style>",
    "</style>",
    "<script>",
    "</script>",
    "<noscript>",
    "</noscript>",
    "<noframes>",
    "</noframes>",
    "<noembed>",
    "</noembed>",
    "<iframe>",
    "</iframe>",
    "<i<x hidden>",
    "</i<x>",
    "<object>",
    "</object>",
    "<frameset>",
    "<frame>",
    "<template>",
    "</template>",
    "<video>",
    "</video>",
    "<dialog>",
    "</dialog>",
    "<img hidden>",
    "<link>",
    "<meta charset=x>",
    "<base>",
    "<embed>",
    "<o:p>",
    "</o:p>",
    "<plaintext>",
    "<select><option>",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn preview_and_visible_text_tell_the_same(
        pieces in proptest::collection::vec(prop::sample::select(PIECES), 0..24),
    ) {
        let source = pieces.concat();
        prop_assert_eq!(shown(&source), visible::text(&source).text);
    }
}
