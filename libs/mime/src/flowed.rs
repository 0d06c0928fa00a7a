//! Text whose soft line breaks are within words: `format=flowed; delsp=yes` (RFC 3676).

/// `text`, which has LF line ends, with its paragraphs joined: a line that ends in a blank goes on in
/// the next one of the same quote depth, without that blank.
pub(crate) fn join(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    // The quote depth of the paragraph that the next line may go on with.
    let mut open = None;
    for (at, line) in text.split('\n').enumerate() {
        let content = line.trim_start_matches('>');
        let depth = line.len() - content.len();
        let content = content.strip_prefix(' ').unwrap_or(content);
        let goes_on = open == Some(depth) && content != SIGNATURE;
        if !goes_on {
            out.push_str(if at > 0 { "\n" } else { "" });
            out.push_str(&line[..depth]);
            out.push_str(if depth > 0 && !content.is_empty() { " " } else { "" });
        }
        let flows = content.strip_suffix(' ').filter(|_| content != SIGNATURE);
        open = flows.map(|_| depth);
        out.push_str(flows.unwrap_or(content));
    }
    out
}

/// The line before a signature, whose blank is no soft break (RFC 3676, section 4.3).
const SIGNATURE: &str = "-- ";
