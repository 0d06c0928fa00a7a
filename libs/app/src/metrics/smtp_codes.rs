//! The codes of SMTP replies as labels.

/// Makes a name out of each code.
macro_rules! codes {
    ($($code:literal)*) => {
        /// The code as text; `other` for what no server sends.
        pub(super) fn name(code: u16) -> &'static str {
            match code {
                $($code => stringify!($code),)*
                _ => "other",
            }
        }
    };
}

// RFC 5321, section 4.2.3, RFC 4954, section 6, and RFC 7504.
codes! {
    211 214 220 221 235 250 251 252 334 354 421 432 450 451 452 454 455 500 501 502 503 504 521 523
    530 534 535 538 550 551 552 553 554 555 556
}
