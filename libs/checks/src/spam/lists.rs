//! Lists that rules look into. They are ours: nothing is copied from another filter.

/// Marks of replies and forwards before a colon, lower-case.
pub(super) const REPLIES: [&str; 9] = ["re", "fwd", "aw", "wg", "rv", "sv", "tr", "antw", "回复"];

/// Hosts that hide where a link leads.
pub(super) const SHORTENERS: [&str; 32] = [
    "bit.ly",
    "bit.do",
    "bl.ink",
    "buff.ly",
    "cutt.ly",
    "dub.sh",
    "goo.gl",
    "is.gd",
    "kutt.it",
    "lnkd.in",
    "ow.ly",
    "qr.ae",
    "rb.gy",
    "rebrand.ly",
    "s.id",
    "short.gy",
    "short.io",
    "shorturl.at",
    "soo.gd",
    "t.co",
    "t.ly",
    "t2m.io",
    "tiny.cc",
    "tiny.one",
    "tinyurl.com",
    "tr.im",
    "u.to",
    "urlz.fr",
    "v.gd",
    "v.ht",
    "x.gd",
    "zpr.io",
];

/// Endings of files that run when they are opened.
pub(super) const EXECUTABLES: [&str; 40] = [
    "apk", "app", "appx", "bat", "cmd", "com", "cpl", "deb", "dmg", "exe", "gadget", "hta", "inf",
    "jar", "jnlp", "js", "jse", "lnk", "mjs", "msc", "msi", "msix", "msp", "pif", "pkg", "ps1",
    "psm1", "reg", "rpm", "run", "scf", "scr", "sct", "sh", "vb", "vbe", "vbs", "wsf", "wsh",
    "xll",
];

/// Endings of documents.
pub(super) const DOCUMENTS: [&str; 20] = [
    "csv", "doc", "docx", "gif", "htm", "html", "jpeg", "jpg", "mp3", "mp4", "odt", "pdf", "png",
    "ppt", "pptx", "rtf", "txt", "xls", "xlsx", "zip",
];

/// Last labels by which a word in a text is taken for a host name.
pub(super) const TOP_LEVELS: [&str; 36] = [
    "app", "at", "au", "biz", "br", "ca", "ch", "cn", "co", "com", "cz", "de", "dev", "dk", "edu",
    "es", "eu", "fi", "fr", "gov", "in", "info", "io", "it", "jp", "kr", "net", "nl", "no", "org",
    "pl", "ru", "se", "shop", "uk", "us",
];
