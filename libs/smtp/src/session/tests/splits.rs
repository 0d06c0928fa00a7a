//! Nothing depends on how the network cuts the input up, and nothing a client sends breaks it.

use proptest::prelude::*;

use super::*;

/// What a session answered, what it delivered, and whether it closed.
type Outcome = (String, Vec<(String, usize, Vec<u8>)>, bool);

fn outcome(pieces: &[&[u8]]) -> Outcome {
    let mut config = config();
    config.limits.command_line = 100;
    let mut talk = Talk::open(config);
    for piece in pieces {
        talk.say(piece);
    }
    let mail = |mail: &Mail<usize>| (mail.from.clone(), mail.recipients.len(), mail.body.to_vec());
    (talk.replies.clone(), talk.mails.iter().map(mail).collect(), talk.closed)
}

fn pieces<'i>(input: &'i [u8], cuts: &[prop::sample::Index]) -> Vec<&'i [u8]> {
    let mut cuts: Vec<_> = cuts.iter().map(|cut| cut.index(input.len() + 1)).collect();
    cuts.extend([0, input.len()]);
    cuts.sort_unstable();
    cuts.windows(2).map(|pair| &input[pair[0]..pair[1]]).collect()
}

/// Pieces of sessions, so that random sequences of them get far.
fn fragment() -> impl Strategy<Value = Vec<u8>> {
    let words: Vec<&'static [u8]> = vec![
        b"MAIL FROM:<a@b.test>\r\n",
        b"RCPT TO:<c@d.test>\r\n",
        b"MAIL FROM:<a@b.test>\r\nRCPT TO:<c@d.test>\r\nDATA\r\n",
        b"MAIL FROM:<>\r\nRCPT TO:<c@d.test>\r\nBDAT 9\r\n\r\n.\r\nQUIT",
        b"RCPT TO:<no@d.test>\r\n",
        b"DATA\r\n",
        b"Subject: x\r\n\r\nbody\r\n",
        b"\r\n.\r\n",
        b".\r\n",
        b"..\r\n",
        b"\r",
        b"\n",
        b".",
        b"BDAT 3\r\nabc",
        b"BDAT 0 LAST\r\n",
        b"BDAT 70 LAST\r\n",
        b"RSET\r\n",
        b"AUTH PLAIN AGFkYQBzZWNyZXQ=\r\n",
        b"AUTH LOGIN\r\nYWRh\r\nc2VjcmV0\r\n",
        b"AUTH CRAM-MD5\r\n*\r\n",
        b"NOOP\n",
        b"0123456789012345678901234567890123456789012345678901234567890123456789",
        b"QUIT\r\n",
    ];
    prop_oneof![
        9 => prop::sample::select(words).prop_map(<[u8]>::to_vec),
        1 => prop::collection::vec(any::<u8>(), 0..9),
    ]
}

proptest! {
    #[test]
    fn any_split_gives_the_same_session(
        input in prop::collection::vec(fragment(), 0..20),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..30),
    ) {
        let input = input.concat();
        prop_assert_eq!(outcome(&pieces(&input, &cuts)), outcome(&[&input]));
    }

    #[test]
    fn octet_by_octet_gives_the_same_session(input in prop::collection::vec(fragment(), 0..20)) {
        let input = input.concat();
        let octets: Vec<_> = input.chunks(1).collect();
        prop_assert_eq!(outcome(&octets), outcome(&[&input]));
    }

    #[test]
    fn arbitrary_octets_are_taken(input in prop::collection::vec(any::<u8>(), 0..2000)) {
        let (replies, _, _) = outcome(&[&input]);
        prop_assert!(replies.lines().all(|line| line.len() <= 510 && line.is_ascii()));
    }
}
