//! What a sender can get wrong, under stable codes.

use trapline_model::Warning;

macro_rules! faults {
    ($($(#[$doc:meta])* $name:ident = $code:literal, $message:literal;)*) => {
        /// A kind of fault in a message.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[repr(u8)]
        pub(crate) enum Fault { $($(#[$doc])* $name,)* }

        impl Fault {
            /// Every kind, in the order of reports.
            pub(crate) const ALL: &[Self] = &[$(Self::$name,)*];

            fn code(self) -> &'static str {
                match self { $(Self::$name => $code,)* }
            }

            fn message(self) -> &'static str {
                match self { $(Self::$name => $message,)* }
            }
        }
    };
}

faults! {
    /// RFC 5321, section 2.3.8.
    BareLf = "bare_lf", "The message has line feeds without a carriage return.";
    /// RFC 5321, section 2.3.8.
    BareCr = "bare_cr", "The message has carriage returns without a line feed.";
    /// RFC 5322, section 4.
    NulByte = "nul_byte", "The message has NUL bytes.";
    /// RFC 5322, section 2.1.1.
    LineTooLong = "line_too_long", "The message has lines of more than 998 characters.";
    /// RFC 5322, section 2.2.
    MalformedHeader = "malformed_header", "The header has lines that are not header fields.";
    /// RFC 5322, section 3.6.
    RepeatedHeader =
        "repeated_header", "A header field that may appear once is repeated; the first one counts.";
    /// RFC 5322, section 2.2; RFC 6532 is by agreement only.
    EightBitHeader = "eight_bit_header", "The header has 8-bit bytes instead of encoded words.";
    /// A bound of this parser, from [`crate::limits`].
    TooManyHeaders = "too_many_headers", "Only the first 10,000 header fields are listed.";
    /// A bound of this parser, from [`crate::limits`].
    HeaderTooLong = "header_too_long", "Only the first 128 KiB of a header field are shown.";
    /// RFC 5322, section 3.6.
    MissingFrom = "missing_from", "The message has no From field with an address.";
    /// RFC 5322, section 3.4.
    MalformedAddress = "malformed_address",
        "An address field has a quote, a comment, a bracket or a comma that is out of place.";
    /// RFC 5322, section 3.6.
    MissingDate = "missing_date", "The message has no Date field.";
    /// RFC 5322, section 3.3.
    BadDate = "bad_date", "The Date field is not a date.";
    /// RFC 2045, section 5.1.
    BadContentType = "bad_content_type", "A Content-Type is not a media type.";
    /// RFC 2046, section 5.1.1.
    MissingBoundary =
        "missing_boundary", "A multipart names no boundary, or one that its body does not have.";
    /// RFC 2046, section 5.1.1.
    MissingClosingBoundary = "missing_closing_boundary", "A multipart has no closing boundary.";
    /// A bound of this parser, from [`crate::limits`].
    TooManyParts = "too_many_parts", "Only the first 1,000 parts are split.";
    /// A bound of this parser, from [`crate::limits`].
    TooDeep = "too_deep", "Multiparts more than 50 deep are kept as attachments.";
    /// A bound of this parser, from [`crate::limits`].
    TooManyAttachments = "too_many_attachments", "Only the first 500 attachments are listed.";
    /// RFC 2045, section 6.4.
    BadEncoding =
        "bad_encoding", "A Content-Transfer-Encoding is unknown, or not allowed on a multipart.";
    /// RFC 2045, section 6.8.
    BadBase64 = "bad_base64", "A base64 body has stray characters or lacks its padding.";
    /// RFC 2045, section 6.7.
    BadQuotedPrintable =
        "bad_quoted_printable", "A quoted-printable body has an equals sign that encodes nothing.";
    /// IEEE Std 1003.1, `uuencode`.
    BadUuencode = "bad_uuencode", "A uuencoded body has no begin or no end line.";
    /// RFC 2046, section 4.1.2.
    EightBitWithoutCharset =
        "eight_bit_without_charset", "A text part has 8-bit bytes and names no charset for them.";
    /// RFC 2046, section 4.1.2.
    UnknownCharset = "unknown_charset", "A text or an encoded word names an unknown charset.";
    /// A bound of this parser, from [`crate::limits`].
    FilenameTooLong = "filename_too_long", "A file name is cut to 255 characters.";
    /// A panic of this parser, which says nothing about the message.
    ParseError = "parse_error", "The message could not be parsed; the raw message is whole.";
}

/// A set of faults.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ParseWarnings(u64);

impl ParseWarnings {
    pub(crate) fn add(&mut self, fault: Fault) {
        self.0 |= 1 << (fault as u8);
    }

    pub(crate) fn add_if(&mut self, condition: bool, fault: Fault) {
        if condition {
            self.add(fault);
        }
    }

    pub(crate) fn join(&mut self, other: Self) {
        self.0 |= other.0;
    }

    pub(crate) fn warnings(self) -> Vec<Warning> {
        let held = Fault::ALL.iter().filter(|fault| self.0 & (1 << (**fault as u8)) != 0);
        held.map(|fault| Warning { code: fault.code().into(), message: fault.message().into() })
            .collect()
    }
}

impl From<Fault> for ParseWarnings {
    fn from(fault: Fault) -> Self {
        let mut faults = Self::default();
        faults.add(fault);
        faults
    }
}
