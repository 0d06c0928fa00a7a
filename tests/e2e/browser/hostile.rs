//! A page that tries every way of running a script and of reaching a remote host.

/// What a probe does when nothing holds it back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Runs a script.
    Script,
    /// Loads an image.
    Image,
    /// Reaches the remote host in another way.
    Other,
    /// Does one of the others, in some browsers.
    Rare,
}

/// Name, kind and markup of each probe. `{url}` is a URL of the remote host that ends in the name;
/// `{run}` is a script that reports there.
pub(super) const PROBES: &[(&str, Kind, &str)] = &[
    ("base", Kind::Other, "<base href='{url}/'><img src='relative.png'>"),
    // Late enough for a busy machine to have clicked all that there is to click: it ends the page.
    ("refresh", Kind::Other, "<meta http-equiv='refresh' content='8;url={url}'>"),
    ("stylesheet", Kind::Other, "<link rel='stylesheet' href='{url}'>"),
    ("preload", Kind::Other, "<link rel='preload' as='image' href='{url}'>"),
    ("prefetch", Kind::Other, "<link rel='prefetch' href='{url}'>"),
    ("preconnect", Kind::Rare, "<link rel='preconnect dns-prefetch' href='{url}'>"),
    ("modulepreload", Kind::Other, "<link rel='modulepreload' href='{url}.js'>"),
    ("manifest", Kind::Rare, "<link rel='manifest' href='{url}'>"),
    ("icon", Kind::Rare, "<link rel='icon' href='{url}'>"),
    ("import", Kind::Other, "<style>@import url('{url}');</style>"),
    (
        "font",
        Kind::Other,
        "<style>@font-face { font-family: probe; src: url('{url}') }</style>
        <p style='font-family: probe'>in a font</p>",
    ),
    ("script-src", Kind::Script, "<script src='{url}.js'></script>"),
    ("script", Kind::Script, "<script>{run}</script>"),
    ("module", Kind::Script, "<script type='module'>{run}</script>"),
    ("onerror", Kind::Script, "<img src='data:image/png;base64,AA' onerror='{run}'>"),
    ("upper-case", Kind::Script, "<IMG SRC='data:image/png;base64,AA' OnError='{run}'>"),
    ("svg-onload", Kind::Script, "<svg onload='{run}'></svg>"),
    ("svg-script", Kind::Script, "<svg><script>{run}</script></svg>"),
    (
        "noscript",
        Kind::Script,
        "<noscript><p title=\"</noscript><img src='data:,x' onerror='{run}'>\"></noscript>",
    ),
    (
        "style-break",
        Kind::Script,
        "<style><!--</style><img src='data:image/png;base64,AA' onerror='{run}'>--></style>",
    ),
    (
        "math",
        Kind::Rare,
        "<math><mtext><table><mglyph><style><img src='data:,x' onerror='{run}'></style></table></math>",
    ),
    ("autofocus", Kind::Script, "<input autofocus onfocus='{run}'>"),
    ("toggle", Kind::Script, "<details open ontoggle='{run}'>x</details>"),
    (
        "animation",
        Kind::Script,
        "<style>@keyframes k { to { opacity: 1 } }</style>
        <p style='animation: k 1ms' onanimationend='{run}'>x</p>",
    ),
    ("svg-begin", Kind::Script, "<svg><animate onbegin='{run}' attributeName='x' dur='1s'/></svg>"),
    ("srcdoc", Kind::Script, "<iframe srcdoc=\"<script>{run}</script>\"></iframe>"),
    ("frame-script", Kind::Script, "<iframe src=\"javascript:{run}\"></iframe>"),
    ("link", Kind::Script, "<a class='click' href='javascript:{run}'>click</a>"),
    ("spaced-link", Kind::Script, "<a class='click' href=' java&#10;script:{run}'>click</a>"),
    (
        "svg-link",
        Kind::Script,
        "<svg><a class='click' xlink:href='javascript:{run}'><text y='9'>click</text></a></svg>",
    ),
    (
        "set-link",
        Kind::Script,
        "<svg><a class='click'><set attributeName='href' begin='0s'
        to='javascript:{run}'/><text y='9'>click</text></a></svg>",
    ),
    ("img", Kind::Image, "<img id='remote' src='{url}'>"),
    ("srcset", Kind::Image, "<img srcset='{url} 1x'>"),
    ("picture", Kind::Image, "<picture><source srcset='{url}'><img></picture>"),
    ("input", Kind::Image, "<input type='image' src='{url}'>"),
    ("background", Kind::Image, "<table background='{url}'><tr><td>x</td></tr></table>"),
    ("style-url", Kind::Image, "<p style='background: url({url})'>x</p>"),
    ("list-style", Kind::Image, "<ul style='list-style-image: url({url})'><li>x</li></ul>"),
    (
        "content",
        Kind::Image,
        "<style>.content::before { content: url('{url}') }</style>
        <p class='content'>x</p>",
    ),
    ("border-image", Kind::Image, "<p style='border: 1px solid; border-image: url({url}) 1'>x</p>"),
    (
        "image-set",
        Kind::Image,
        "<style>.set { background-image: image-set('{url}' 1x) }</style><p class='set'>x</p>",
    ),
    ("svg-image", Kind::Image, "<svg><image href='{url}' width='9' height='9'/></svg>"),
    (
        "fe-image",
        Kind::Image,
        "<svg><filter id='f'><feImage href='{url}'/></filter>
        <rect width='9' height='9' filter='url(#f)'/></svg>",
    ),
    ("poster", Kind::Image, "<video poster='{url}'></video>"),
    ("mask", Kind::Image, "<p style='mask-image: url({url})'>x</p>"),
    ("svg-use", Kind::Other, "<svg><use href='{url}.svg#x'/></svg>"),
    ("cursor", Kind::Image, "<p style='cursor: url({url}), auto'>x</p>"),
    ("iframe", Kind::Other, "<iframe src='{url}'></iframe>"),
    ("object", Kind::Other, "<object data='{url}' type='text/html'></object>"),
    ("embed", Kind::Other, "<embed src='{url}' type='text/html'>"),
    ("video", Kind::Other, "<video src='{url}' preload='auto'></video>"),
    ("audio", Kind::Other, "<audio src='{url}' preload='auto'></audio>"),
    ("track", Kind::Other, "<video><track default src='{url}'></video>"),
    (
        "ping",
        Kind::Other,
        "<a class='click' href='/after-ping' target='_blank' ping='{url}'>click</a>",
    ),
    (
        "form",
        Kind::Other,
        "<form action='{url}' target='_blank'><button class='click'>click</button></form>",
    ),
];

/// Ways of having the name of a host looked up, each its own name; where scripts are off, tags within
/// `<noscript>` count, and within SVG other tags than outside.
const LOOKUPS: &[(&str, &str)] = &[
    ("plain", "{}"),
    ("noscript", "<noscript>{}</noscript>"),
    ("svg-title", "<svg><title>{}</title></svg>"),
    ("after-svg-title", "<svg><title/>{}</svg></title>"),
    ("cdata", "<svg><![CDATA[><p>]]>{}</svg>"),
    ("half-cdata", "<![CDATA[>{}]]>"),
    ("svg-style", "<svg><style>{}</style></svg>"),
    ("noframes", "<noframes>{}</noframes>"),
    ("select", "<select><textarea>{}</textarea></select>"),
];

/// The end of the names that [`LOOKUPS`] have looked up.
pub(super) const CANARY: &str = ".canary.test";

fn lookups() -> String {
    let probe = |(name, around): &(&str, &str)| {
        let tags = format!(
            "<link rel='dns-prefetch' href='//{name}{CANARY}'>
            <link rel='preconnect' href='http://connect-{name}{CANARY}'>"
        );
        around.replace("{}", &tags) + "\n"
    };
    let on = "<meta http-equiv='x-dns-prefetch-control' content='on'>";
    let link = format!("<a href='http://link{CANARY}/'>not clicked</a>");
    LOOKUPS.iter().map(probe).collect::<String>() + on + &link
}

/// The page of all probes, around `inside`.
pub(super) fn page(remote: &str, inside: &str) -> String {
    let mut page =
        String::from("<!doctype html><html><head><title>Hostile</title></head>\n<body>\n");
    page.push_str(inside);
    for (name, _, markup) in PROBES {
        let url = format!("{remote}/{name}");
        page.push_str(&markup.replace("{url}", &url).replace("{run}", &script(&url)));
        page.push('\n');
    }
    page + &lookups() + "</body></html>"
}

/// A script that leaves a mark in the page and asks the remote host for `url`. It has no quotes, so
/// that it fits into every attribute, and no value, so that a link with it goes nowhere.
fn script(url: &str) -> String {
    format!("document.documentElement.dataset.ran=1;new Image().src=`{url}`;void 0")
}
