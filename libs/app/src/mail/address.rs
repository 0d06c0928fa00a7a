//! Addresses that users give to be written to.

use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};
use trapline_model::TeamId;
use uuid::Uuid;

use crate::{Error, Result};

/// The bounds of RFC 5321, section 4.5.3.1.
const MAX_LOCAL_BYTES: usize = 64;
const MAX_ADDRESS_BYTES: usize = 254;

/// A mailbox of the kind that every relay takes: a dot-atom at a domain name with a dot in it, all in
/// ASCII (RFC 5321, section 4.1.2). No quotes, comments, literals or control characters, so that
/// nothing in it can mean more than an address in a command or a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EmailAddress(String);

impl EmailAddress {
    /// Reads what a user wrote in the field at `path`. The domain comes out in lower case, and with
    /// its Unicode labels in their ASCII form (RFC 5891).
    pub(crate) fn parse(path: &str, text: &str) -> Result<Self> {
        Self::read(text.trim()).ok_or_else(|| {
            Error::invalid(path, "invalid_address", "must be an address such as ada@example.com")
        })
    }

    fn read(text: &str) -> Option<Self> {
        let (local, domain) = text.rsplit_once('@')?;
        let url::Host::Domain(domain) = url::Host::parse(domain).ok()? else { return None };
        let labels_are_names = domain.contains('.')
            && domain.split('.').all(|label| {
                let plain = |c: u8| c.is_ascii_alphanumeric() || c == b'-';
                (1..=63).contains(&label.len())
                    && label.bytes().all(plain)
                    && !label.starts_with('-')
                    && !label.ends_with('-')
            });
        let is_atom = local.len() <= MAX_LOCAL_BYTES
            && local.split('.').all(|atom| !atom.is_empty() && atom.bytes().all(is_atext));
        let fits = local.len() + 1 + domain.len() <= MAX_ADDRESS_BYTES;
        (labels_are_names && is_atom && fits).then(|| Self(format!("{local}@{domain}")))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// A key for the person who reads this mailbox, the same under every tag (`ada+tag@`, RFC 5233) and with
    /// dots wherever they are, which some providers ignore; for limits, so that they are not evaded.
    /// A hash, because it becomes a key in services that need not know addresses.
    pub(crate) fn owner(&self) -> String {
        let folded = self.folded();
        let (local, domain) = folded.rsplit_once('@').unwrap_or((&folded, ""));
        let untagged = local.split_once('+').map_or(local, |(name, _)| name).replace('.', "");
        let hash = Sha256::new().chain_update(untagged).chain_update("@").chain_update(domain);
        HEXLOWER.encode(&hash.finalize()[..16])
    }

    /// An id of what a team has of this address: the same team and address have the same, so that two
    /// requests at once cannot make it twice (RFC 9562, section 5.8).
    pub(crate) fn id_in(&self, team: TeamId) -> Uuid {
        let hash = Sha256::new().chain_update(team.0.as_bytes()).chain_update(self.folded());
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&hash.finalize()[..16]);
        uuid::Builder::from_custom_bytes(bytes).into_uuid()
    }

    /// The form in which two addresses are the same. Local parts differ by case in theory only.
    pub(crate) fn folded(&self) -> String {
        self.0.to_ascii_lowercase()
    }
}

/// RFC 5322, section 3.2.3.
fn is_atext(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-/=?^_`{|}~".contains(&byte)
}

/// What is behind the last `@`.
pub(crate) fn domain_of(address: &str) -> &str {
    address.rsplit_once('@').map_or("", |(_, domain)| domain)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn tags_and_dots_do_not_make_another_owner() {
        let owner = |text| EmailAddress::read(text).unwrap().owner();
        for same in ["Ada@example.com", "ada+1@example.com", "a.da+x+y@EXAMPLE.com"] {
            assert_eq!(owner(same), owner("ada@example.com"), "{same}");
        }
        for other in ["adb@example.com", "ada@other.example", "ada-1@example.com"] {
            assert_ne!(owner(other), owner("ada@example.com"), "{other}");
        }
    }

    #[test]
    fn only_plain_addresses_are_taken() {
        let cases = [
            ("ada@example.com", Some("ada@example.com")),
            ("  Ada.L+x@Example.COM ", Some("Ada.L+x@example.com")),
            ("o'neil@a.example", Some("o'neil@a.example")),
            ("ada@bücher.example", Some("ada@xn--bcher-kva.example")),
            ("ada", None),
            ("@example.com", None),
            ("ada@", None),
            ("ada@localhost", None),
            ("ada@127.0.0.1", None),
            ("ada@[127.0.0.1]", None),
            ("ada@0x7f.1", None),
            ("a da@example.com", None),
            ("\"a b\"@example.com", None),
            (".ada@example.com", None),
            ("ada.@example.com", None),
            ("a@b@example.com", None),
            ("ada@-a.example", None),
            ("ada@a..example", None),
            ("ada@example.com\r\nRCPT TO:<eve@example.com>", None),
            ("ada@example.com>", None),
            ("<ada@example.com>", None),
            ("ada,eve@example.com", None),
            ("ädä@example.com", None),
        ];
        for (text, wanted) in cases {
            assert_eq!(
                EmailAddress::read(text.trim()).as_ref().map(EmailAddress::as_str),
                wanted,
                "{text}"
            );
        }
        let long = format!("{}@example.com", "a".repeat(65));
        assert_eq!(EmailAddress::read(&long), None);
        let long = format!("a@{}.example", vec!["b".repeat(60); 5].join("."));
        assert_eq!(EmailAddress::read(&long), None);
    }
}
