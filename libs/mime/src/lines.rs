//! Lines of a raw message, whatever ends them.

use memchr::{memchr, memchr_iter};

use crate::limits;
use crate::warnings::{Fault, ParseWarnings};

/// The byte that ends lines: LF, or CR in a message without any LF.
pub(crate) fn terminator(raw: &[u8]) -> u8 {
    if memchr(b'\n', raw).is_none() && memchr(b'\r', raw).is_some() { b'\r' } else { b'\n' }
}

/// The line at `at` without its end, and where the next line starts.
pub(crate) fn line(raw: &[u8], at: usize, terminator: u8) -> (&[u8], usize) {
    let next = memchr(terminator, &raw[at..]).map_or(raw.len(), |found| at + found + 1);
    (trim_end(&raw[at..next]), next)
}

/// `line` without the CR and LF at its end; some senders end lines by CR CR LF.
pub(crate) fn trim_end(line: &[u8]) -> &[u8] {
    let kept = line.iter().rposition(|byte| !matches!(byte, b'\r' | b'\n'));
    &line[..kept.map_or(0, |last| last + 1)]
}

/// The faults that are seen in lines, without any parsing.
pub(crate) fn faults(raw: &[u8]) -> ParseWarnings {
    let mut faults = ParseWarnings::default();
    let (mut start, mut lines, mut bare) = (0, 0, 0);
    for end in memchr_iter(b'\n', raw) {
        let paired = end > 0 && raw[end - 1] == b'\r';
        faults.add_if(
            end - start - usize::from(paired && end > start) > limits::LINE,
            Fault::LineTooLong,
        );
        bare += usize::from(!paired);
        lines += 1;
        start = end + 1;
    }
    faults.add_if(raw.len() - start > limits::LINE, Fault::LineTooLong);
    faults.add_if(bare > 0, Fault::BareLf);
    let returns = memchr_iter(b'\r', raw).count();
    faults.add_if(returns > lines - bare, Fault::BareCr);
    faults.add_if(memchr(0, raw).is_some(), Fault::NulByte);
    faults
}

/// `text` with every line end, CR CR LF included, as LF.
pub(crate) fn to_lf(text: String) -> String {
    if memchr(b'\r', text.as_bytes()).is_none() {
        return text;
    }
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let Some(line) = line.strip_suffix('\n') else {
            out.push_str(line);
            break;
        };
        out.push_str(line.trim_end_matches('\r'));
        out.push('\n');
    }
    out
}
