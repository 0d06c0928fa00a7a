//! Replies of an SMTP server (RFC 5321 section 4.2).

/// Longest reply that is read, in bytes over all its lines.
pub(crate) const MAX_REPLY: usize = 64 * 1024;

/// One reply, of one line or more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reply {
    /// 200 to 599.
    pub(crate) code: u16,
    /// The texts of its lines.
    pub(crate) lines: Vec<String>,
}

/// What came is no SMTP reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Malformed;

impl Reply {
    /// The reply at the start of `input` and its length in bytes, or `None` while it is incomplete.
    ///
    /// # Errors
    /// A line without a code, codes that differ from line to line, or more than [`MAX_REPLY`].
    pub(crate) fn parse(input: &[u8]) -> Result<Option<(Self, usize)>, Malformed> {
        let mut reply: Option<Self> = None;
        let mut at = 0;
        while let Some(end) = input[at..].iter().position(|&byte| byte == b'\n') {
            let (code, last, text) = line(&input[at..at + end])?;
            at += end + 1;
            let reply = reply.get_or_insert(Self { code, lines: Vec::new() });
            if reply.code != code || at > MAX_REPLY {
                return Err(Malformed);
            }
            reply.lines.push(text);
            if last {
                return Ok(Some((Self { code, lines: std::mem::take(&mut reply.lines) }, at)));
            }
        }
        if input.len() > MAX_REPLY { Err(Malformed) } else { Ok(None) }
    }

    /// Whether this reply to EHLO offers an extension, by its keyword in any case.
    pub(crate) fn offers(&self, keyword: &str) -> bool {
        let words = self.lines.iter().skip(1).filter_map(|line| line.split_whitespace().next());
        words.into_iter().any(|word| word.eq_ignore_ascii_case(keyword))
    }
}

/// Code, whether it is the last line, and text.
fn line(line: &[u8]) -> Result<(u16, bool, String), Malformed> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let (digits, rest) = line.split_at_checked(3).ok_or(Malformed)?;
    let [b'2'..=b'5', b'0'..=b'9', b'0'..=b'9'] = digits else { return Err(Malformed) };
    let code = digits.iter().fold(0, |code, digit| code * 10 + u16::from(digit - b'0'));
    let (last, text) = match rest.split_first() {
        None => (true, rest),
        Some((b' ', text)) => (true, text),
        Some((b'-', text)) => (false, text),
        Some(_) => return Err(Malformed),
    };
    Ok((code, last, String::from_utf8_lossy(text).into_owned()))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn replies_are_read_whole() {
        let cases: &[(&str, u16, &[&str], &str)] = &[
            ("250 OK\r\n", 250, &["OK"], ""),
            ("250\r\n", 250, &[""], ""),
            ("354 go\n", 354, &["go"], ""),
            ("250-a\r\n250-SIZE 1\r\n250 b\r\n", 250, &["a", "SIZE 1", "b"], ""),
            ("250 one\r\n354 two\r\n", 250, &["one"], "354 two\r\n"),
            ("550 5.1.1 \u{fffd}\r\n", 550, &["5.1.1 \u{fffd}"], ""),
        ];
        for (input, code, lines, rest) in cases {
            let (reply, length) = Reply::parse(input.as_bytes()).unwrap().unwrap();
            assert_eq!((reply.code, &input[length..]), (*code, *rest), "{input:?}");
            assert_eq!(reply.lines, *lines, "{input:?}");
        }
    }

    #[test]
    fn an_incomplete_reply_waits_for_more() {
        for input in ["", "2", "250 OK", "250 OK\r", "250-a\r\n", "250-a\r\n250 b"] {
            assert_eq!(Reply::parse(input.as_bytes()), Ok(None), "{input:?}");
        }
    }

    #[test]
    fn what_is_no_reply_is_refused() {
        for input in
            ["\r\n", "25\r\n", "HTTP/1.1 400\r\n", "150 x\r\n", "250_x\r\n", "250-a\r\n251 b\r\n"]
        {
            assert_eq!(Reply::parse(input.as_bytes()), Err(Malformed), "{input:?}");
        }
        assert_eq!(Reply::parse(&vec![b'2'; MAX_REPLY + 1]), Err(Malformed));
        assert_eq!(Reply::parse("250-a\r\n".repeat(MAX_REPLY).as_bytes()), Err(Malformed));
    }

    #[test]
    fn extensions_are_whole_keywords_after_the_first_line() {
        let (ehlo, _) =
            Reply::parse(b"250-PIPELINING greets you\r\n250-8bitmime\r\n250 SIZE 9\r\n")
                .unwrap()
                .unwrap();
        assert!(ehlo.offers("SIZE") && ehlo.offers("8BITMIME"));
        assert!(!ehlo.offers("PIPELINING") && !ehlo.offers("SIZ"));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_panic(input: Vec<u8>) {
            if let Ok(Some((reply, length))) = Reply::parse(&input) {
                prop_assert!(length <= input.len());
                prop_assert!((200..600).contains(&reply.code));
            }
        }
    }
}
