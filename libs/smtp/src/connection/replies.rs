//! What replies say, for whoever counts them.

/// The codes of replies, of which the last line of each has a space behind it.
pub(super) fn codes(replies: &[u8]) -> impl Iterator<Item = u16> {
    replies.split(|byte| *byte == b'\n').filter_map(|line| {
        let (code, rest) = line.split_at_checked(3)?;
        let code = str::from_utf8(code).ok()?.parse().ok()?;
        (rest.first() == Some(&b' ')).then_some(code)
    })
}

#[cfg(test)]
mod tests {
    use super::codes;

    #[test]
    fn each_reply_has_one_code() {
        let replies = b"250-mx.example\r\n250-SIZE 10\r\n250 SMTPUTF8\r\n354 go on\r\n5";
        assert_eq!(codes(replies).collect::<Vec<_>>(), [250, 354]);
        assert_eq!(codes(b"").count() + codes(b"\xff\xff\xff x\r\n").count(), 0);
    }
}
