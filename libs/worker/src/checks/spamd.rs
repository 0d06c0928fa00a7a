//! `SpamAssassin`'s daemon, by its own protocol (SPAMC/1.5, spamd/PROTOCOL of its source).

use async_trait::async_trait;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::timeout,
};
use trapline_app::{SpamEngine, SpamEngineAddress, SpamEngineFailure, SpamJudgement, SpamMail};
use trapline_model::MatchedRule;

/// Bytes of a message that the daemon is given, as its own client has it.
const MAX_MESSAGE: usize = 512 << 10;
/// Bytes of an answer that are read.
const MAX_ANSWER: u64 = 1 << 20;
/// Where descriptions begin in the report at the earliest: what begins there goes on from the line before.
const WRAPPED: usize = 20;

/// Asks spamd.
pub struct SpamdEngine {
    address: SpamEngineAddress,
}

impl SpamdEngine {
    /// Asks the daemon at an address.
    #[must_use]
    pub fn new(address: SpamEngineAddress) -> Self {
        Self { address }
    }

    /// One request, of which the daemon closes the connection.
    async fn ask(&self, command: &str, message: &[u8]) -> Result<SpamdAnswer, SpamEngineFailure> {
        let host = self.address.host.trim_matches(['[', ']']);
        let stream = TcpStream::connect((host, self.address.port)).await;
        let mut stream = stream.map_err(|_| SpamEngineFailure::Unreachable)?;
        let head = match command {
            "PING" => "PING SPAMC/1.5\r\n\r\n".to_owned(),
            _ => format!("{command} SPAMC/1.5\r\nContent-length: {}\r\n\r\n", message.len()),
        };
        let mut bytes = Vec::new();
        let talk = async {
            stream.write_all(head.as_bytes()).await?;
            stream.write_all(message).await?;
            stream.shutdown().await?;
            stream.take(MAX_ANSWER + 1).read_to_end(&mut bytes).await
        };
        let read = talk.await.map_err(|_| SpamEngineFailure::BadAnswer)?;
        let is_whole = u64::try_from(read).is_ok_and(|read| read <= MAX_ANSWER);
        let text = String::from_utf8_lossy(&bytes);
        SpamdAnswer::parse(&text).filter(|_| is_whole).ok_or(SpamEngineFailure::BadAnswer)
    }

    async fn judged(&self, mail: &SpamMail) -> Result<SpamJudgement, SpamEngineFailure> {
        let message = &mail.raw[..mail.raw.len().min(MAX_MESSAGE)];
        let answer = self.ask("REPORT", message).await?;
        let verdict = answer.verdict().ok_or(SpamEngineFailure::BadAnswer)?;
        let mut rules = rules(&answer.body);
        if rules.is_empty() && verdict.score != 0.0 {
            let names = self.ask("SYMBOLS", message).await?;
            rules = names
                .body
                .split(',')
                .map(str::trim)
                .filter(|name| !name.is_empty())
                .map(nameless)
                .collect();
        }
        super::by_weight(&mut rules);
        Ok(SpamJudgement {
            version: answer.version,
            score: verdict.score,
            threshold: verdict.threshold,
            is_spam: verdict.is_spam,
            truncated: message.len() < mail.raw.len(),
            rules,
        })
    }
}

#[async_trait]
impl SpamEngine for SpamdEngine {
    fn name(&self) -> &'static str {
        "spamd"
    }

    async fn judge(&self, mail: &SpamMail) -> Result<SpamJudgement, SpamEngineFailure> {
        let judged = timeout(self.address.timeout, self.judged(mail)).await;
        judged.unwrap_or(Err(SpamEngineFailure::Timeout))
    }

    async fn answers(&self) -> bool {
        let asked = timeout(self.address.timeout, self.ask("PING", b"")).await;
        matches!(asked, Ok(Ok(answer)) if answer.word == "PONG")
    }
}

/// What the daemon answers.
struct SpamdAnswer {
    /// `SPAMD/1.1` or the like.
    version: String,
    /// `EX_OK`, or `PONG`.
    word: String,
    head: Vec<(String, String)>,
    body: String,
}

/// What the field `Spam` says.
struct SpamField {
    is_spam: bool,
    score: f64,
    threshold: f64,
}

impl SpamdAnswer {
    /// An answer that reports success.
    fn parse(text: &str) -> Option<Self> {
        let (first, rest) = text.split_once('\n')?;
        let mut words = first.split_whitespace();
        let version = words.next().filter(|version| version.starts_with("SPAMD/"))?;
        if words.next()? != "0" {
            return None;
        }
        let (head, body) = match rest.strip_prefix("\r\n") {
            Some(body) => ("", body),
            None => rest.split_once("\r\n\r\n").unwrap_or((rest, "")),
        };
        let fields = head.lines().filter_map(|line| line.split_once(':'));
        let head = fields.map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()));
        Some(Self {
            version: version.to_owned(),
            word: words.next().unwrap_or_default().to_owned(),
            head: head.collect(),
            body: body.to_owned(),
        })
    }

    /// `True ; 17.2 / 5.0`.
    fn verdict(&self) -> Option<SpamField> {
        let (_, value) = self.head.iter().find(|(name, _)| name == "spam")?;
        let (word, points) = value.split_once(';')?;
        let (score, threshold) = points.split_once('/')?;
        let number =
            |text: &str| text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
        let is_spam = matches!(word.trim().to_ascii_lowercase().as_str(), "true" | "yes");
        Some(SpamField { is_spam, score: number(score)?, threshold: number(threshold)? })
    }
}

/// The rows of the table below the line of dashes: points, name, description, of which later lines may go on.
fn rules(report: &str) -> Vec<MatchedRule> {
    // The message's own words stand before the table, and may have such a line too.
    let Some(at) = report.lines().collect::<Vec<_>>().iter().rposition(|line| is_rule_off(line))
    else {
        return Vec::new();
    };
    let mut rules: Vec<MatchedRule> = Vec::new();
    for line in report.lines().skip(at + 1) {
        let indent = line.len() - line.trim_start().len();
        match (row(line), rules.last_mut()) {
            (Some(rule), _) if indent < WRAPPED => rules.push(rule),
            (_, Some(rule)) if indent >= WRAPPED && !line.trim().is_empty() => {
                let joined = format!("{} {}", rule.description, line.trim());
                joined.trim().clone_into(&mut rule.description);
            }
            // Below the table come texts that the operator has chosen.
            _ => break,
        }
    }
    rules
}

/// Whether a line is the one below the heads of the three columns.
fn is_rule_off(line: &str) -> bool {
    let is_dashes = |word: &str| word.len() >= 4 && word.bytes().all(|byte| byte == b'-');
    line.split_whitespace().filter(|word| is_dashes(word)).count() == 3
        && line.split_whitespace().all(is_dashes)
}

fn row(line: &str) -> Option<MatchedRule> {
    let (points, rest) = line.trim_start().split_once(' ')?;
    let (name, description) = rest.trim_start().split_once(' ').unwrap_or((rest.trim(), ""));
    let score = points.parse::<f64>().ok().filter(|score| score.is_finite())?;
    let is_name =
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    is_name.then(|| MatchedRule {
        score,
        description: description.trim().to_owned(),
        ..nameless(name)
    })
}

/// A rule of which only the name is known.
fn nameless(name: &str) -> MatchedRule {
    MatchedRule { name: name.to_owned(), score: 0.0, description: String::new() }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    const REPORT: &str = "Spam detection software, running on the system \"host\",\n\n\
        Content analysis details:   (1002.1 points, 5.0 required)\n\n\
        \x20pts rule name              description\n\
        ---- ---------------------- --------------------------------------------------\n\
        -0.0 NO_RELAYS              Informational: message was not relayed via SMTP\n\
        1000 GTUBE                  BODY: Generic Test for Unsolicited Bulk Email\n\
        \x202.1 A_NAME_THAT_IS_LONGER_THAN_ITS_COLUMN HEADER: The first line\n\
        \x20                           and the second\n\
        \x200.0 NO_DESCRIPTION\n\nThe original message was not completely plain text.\n";

    #[test]
    fn rows_are_read_and_wrapped_lines_joined() {
        let found = rules(REPORT);
        let told: Vec<_> = found.iter().map(|rule| (rule.name.as_str(), rule.score)).collect();
        assert_eq!(
            told,
            [
                ("NO_RELAYS", -0.0),
                ("GTUBE", 1000.0),
                ("A_NAME_THAT_IS_LONGER_THAN_ITS_COLUMN", 2.1),
                ("NO_DESCRIPTION", 0.0)
            ]
        );
        assert_eq!(found[2].description, "HEADER: The first line and the second");
        assert_eq!(found[3].description, "");
    }

    #[test]
    fn answers_that_are_no_verdict_are_none() {
        let good = SpamdAnswer::parse(
            "SPAMD/1.1 0 EX_OK\r\nContent-length: 3\r\nSpam: True ; 17.2 / 5.0\r\n\r\nabc",
        );
        let verdict = good.unwrap().verdict().unwrap();
        assert_eq!((verdict.is_spam, verdict.score, verdict.threshold), (true, 17.2, 5.0));
        assert_eq!(SpamdAnswer::parse("SPAMD/1.5 0 PONG\r\n").unwrap().word, "PONG");
        for bad in ["", "SPAMD/1.1 74 EX_IOERR\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\n<html>"] {
            assert!(SpamdAnswer::parse(bad).is_none(), "{bad}");
        }
        for field in [
            "",
            "Spam: True",
            "Spam: True ; NaN / 5.0",
            "Spam: True ; inf / 5.0",
            "Spam: x ; y / z",
        ] {
            let answer =
                SpamdAnswer::parse(&format!("SPAMD/1.1 0 EX_OK\r\n{field}\r\n\r\n")).unwrap();
            assert!(answer.verdict().is_none(), "{field}");
        }
    }
}
