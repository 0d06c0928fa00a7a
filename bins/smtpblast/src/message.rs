//! The messages that are sent: alike in size and shape, each different in its bytes.

use std::{fs, io::Write, path::Path};

use anyhow::{Context, ensure};
use data_encoding::BASE64_MIME;

use crate::args::{Args, Shape};

/// Bytes of headers, part headers and boundaries in a multipart message, roughly.
const FRAME: usize = 1000;
/// Characters of a line of base64 (RFC 2045 section 6.8) and the bytes that they encode.
const BASE64_LINE: usize = 76;
const BASE64_BYTES: usize = 57;
/// What text is made of: letters, with spaces often enough to make words.
const LETTERS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz  eati";
/// Characters of a line of text.
const TEXT_LINE: usize = 64;

/// A message with its envelope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mail {
    /// Envelope sender, without brackets.
    pub(crate) from: String,
    /// Envelope recipient, without brackets.
    pub(crate) to: String,
    /// Headers and body with CRLF at the end of every line, not dot-stuffed.
    pub(crate) content: Vec<u8>,
}

/// Makes message number n; the same n makes the same message.
#[derive(Debug)]
pub(crate) struct Template {
    from: String,
    recipients: Recipients,
    subject: String,
    size: usize,
    shape: Shape,
    seed: u64,
    date: String,
}

#[derive(Debug)]
enum Recipients {
    Pattern(String),
    List(Vec<String>),
}

impl Template {
    /// By the command line.
    ///
    /// # Errors
    /// A list of recipients that is unreadable or empty; characters that would break a command.
    pub(crate) fn new(args: &Args) -> anyhow::Result<Self> {
        let recipients = match &args.to_file {
            None => Recipients::Pattern(args.to.clone()),
            Some(path) => Recipients::List(lines(path)?),
        };
        #[expect(clippy::disallowed_methods, reason = "a client's Date is the machine's")]
        let now = jiff::Timestamp::now();
        let template = Self {
            from: args.from.clone(),
            recipients,
            subject: args.subject.clone(),
            size: usize::try_from(args.size)?,
            shape: args.shape,
            seed: args.seed.unwrap_or_else(|| now.as_microsecond().unsigned_abs()),
            date: jiff::fmt::rfc2822::DateTimePrinter::new().timestamp_to_string(&now)?,
        };
        template.check()?;
        Ok(template)
    }

    fn check(&self) -> anyhow::Result<()> {
        let recipients = match &self.recipients {
            Recipients::Pattern(pattern) => std::slice::from_ref(pattern),
            Recipients::List(list) => list,
        };
        for text in recipients.iter().chain([&self.from, &self.subject]) {
            let printable = text.bytes().all(|byte| (b' '..=b'~').contains(&byte));
            ensure!(printable, "not printable ASCII: {text:?}");
        }
        Ok(())
    }

    /// Message number `n`.
    pub(crate) fn build(&self, n: u64) -> Mail {
        let mut random = Random(self.seed ^ n.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let from = numbered(&self.from, n);
        let to = match &self.recipients {
            Recipients::Pattern(pattern) => numbered(pattern, n),
            Recipients::List(list) => {
                let at = n % list.len() as u64;
                list[usize::try_from(at).unwrap_or(0)].clone()
            }
        };
        let mut content = Vec::with_capacity(self.size + 256);
        self.header(&mut content, n, &from, &to);
        match self.shape {
            Shape::Multipart => self.multipart(&mut content, &mut random),
            Shape::Plain => self.plain(&mut content, &mut random),
        }
        Mail { from, to, content }
    }

    fn header(&self, out: &mut Vec<u8>, n: u64, from: &str, to: &str) {
        let subject = numbered(&self.subject, n);
        let (date, seed) = (&self.date, self.seed);
        put(out, format_args!("From: <{from}>\r\nTo: <{to}>\r\nSubject: {subject}\r\n"));
        put(out, format_args!("Date: {date}\r\nMessage-ID: <{seed:x}.{n}@smtpblast.example>\r\n"));
        put(out, format_args!("MIME-Version: 1.0\r\n"));
    }

    fn plain(&self, out: &mut Vec<u8>, random: &mut Random) {
        put(out, format_args!("Content-Type: text/plain; charset=utf-8\r\n\r\n"));
        words(out, random, self.size.saturating_sub(out.len()), "", "");
    }

    /// One sixth of the free room is text, one third HTML, the rest the attachment.
    fn multipart(&self, out: &mut Vec<u8>, random: &mut Random) {
        let room = self.size.saturating_sub(FRAME);
        let (mixed, inner) = (random.next(), random.next());
        let kind = "Content-Type: multipart";
        put(out, format_args!("{kind}/mixed; boundary=\"{mixed:016x}\"\r\n\r\n--{mixed:016x}\r\n"));
        put(out, format_args!("{kind}/alternative; boundary=\"{inner:016x}\"\r\n\r\n"));
        put(out, format_args!("--{inner:016x}\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n"));
        words(out, random, room / 6, "", "");
        put(out, format_args!("--{inner:016x}\r\nContent-Type: text/html; charset=utf-8\r\n\r\n"));
        put(out, format_args!("<html><body>\r\n"));
        words(out, random, room / 3, "<p>", "</p>");
        put(out, format_args!("</body></html>\r\n--{inner:016x}--\r\n--{mixed:016x}\r\n"));
        put(out, format_args!("Content-Type: application/octet-stream; name=\"data.bin\"\r\n"));
        put(out, format_args!("Content-Transfer-Encoding: base64\r\n"));
        put(out, format_args!("Content-Disposition: attachment; filename=\"data.bin\"\r\n\r\n"));
        base64(out, random, self.size.saturating_sub(out.len() + 22));
        put(out, format_args!("--{mixed:016x}--\r\n"));
    }
}

fn put(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    #[expect(clippy::let_underscore_must_use, reason = "a Vec takes every write")]
    let _ = out.write_fmt(text);
}

fn numbered(pattern: &str, n: u64) -> String {
    pattern.replace("{n}", &n.to_string())
}

/// About `size` bytes of lines of random words, each line between `before` and `after`.
fn words(out: &mut Vec<u8>, random: &mut Random, size: usize, before: &str, after: &str) {
    let end = out.len() + size;
    while out.len() < end {
        out.extend_from_slice(before.as_bytes());
        for _ in 0..TEXT_LINE / 8 {
            let bytes = random.next().to_le_bytes();
            out.extend(bytes.map(|byte| LETTERS[usize::from(byte % 32)]));
        }
        out.extend_from_slice(after.as_bytes());
        out.extend_from_slice(b"\r\n");
    }
}

/// About `size` bytes of lines of base64 of random bytes.
fn base64(out: &mut Vec<u8>, random: &mut Random, size: usize) {
    let (lines, rest) = (size / (BASE64_LINE + 2), size % (BASE64_LINE + 2));
    let mut bytes = vec![0; lines * BASE64_BYTES + rest / 4 * 3];
    for chunk in bytes.chunks_mut(8) {
        chunk.copy_from_slice(&random.next().to_le_bytes()[..chunk.len()]);
    }
    out.extend_from_slice(BASE64_MIME.encode(&bytes).as_bytes());
}

fn lines(path: &Path) -> anyhow::Result<Vec<String>> {
    let text = fs::read_to_string(path).with_context(|| format!("read {}", path.display()))?;
    let list: Vec<_> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    ensure!(!list.is_empty(), "no recipient in {}", path.display());
    Ok(list.into_iter().map(str::to_owned).collect())
}

/// `SplitMix64`: quick, and good enough that nothing compresses it.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

#[cfg(test)]
mod tests;
