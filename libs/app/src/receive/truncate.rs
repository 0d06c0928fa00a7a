//! Truncates what a row keeps of a message to its bounds.

use serde::Serialize;
use trapline_model::{Address, Envelope};

/// Truncates, and remembers whether it had to. Bounds are in bytes of JSON, in which a control character
/// takes six.
#[derive(Debug, Default)]
pub(super) struct Truncator {
    pub has_truncated: bool,
}

impl Truncator {
    /// The text's beginning.
    pub(super) fn text(&mut self, mut text: String, room: usize) -> String {
        let mut left = room;
        let end = text.char_indices().find(|(_, char)| {
            let size = size_of_char(*char);
            let is_over = size > left;
            left = left.saturating_sub(size);
            is_over
        });
        if let Some((end, _)) = end {
            text.truncate(end);
            text.shrink_to_fit();
            self.has_truncated = true;
        }
        text
    }

    /// The address with the beginnings of its parts; takes its room away.
    pub(super) fn address(&mut self, address: Address, room: &mut usize) -> Address {
        let most = *room / 2;
        let address = Address {
            address: self.text(address.address, most.min(1_000)),
            name: self.text(address.name, most.min(1_000)),
        };
        *room = room.saturating_sub(json_len(&address));
        address
    }

    /// The first addresses, as many as there is room for; takes their room away.
    pub(super) fn list(&mut self, addresses: Vec<Address>, room: &mut usize) -> Vec<Address> {
        let mut kept = Vec::new();
        for address in addresses {
            let size = json_len(&address) + 1;
            if size > *room {
                self.has_truncated = true;
                break;
            }
            *room -= size;
            kept.push(address);
        }
        kept
    }

    /// The sender and the first recipients, as many as there is room for.
    pub(super) fn envelope(&mut self, envelope: &Envelope, room: usize) -> Envelope {
        let from = self.text(envelope.from.clone(), room / 2);
        let mut room = room.saturating_sub(json_len(&from));
        let mut to = Vec::new();
        for recipient in &envelope.to {
            let size = json_len(recipient) + 1;
            if size > room {
                self.has_truncated = true;
                break;
            }
            room -= size;
            to.push(recipient.clone());
        }
        Envelope { from, to }
    }
}

fn size_of_char(char: char) -> usize {
    match char {
        '"' | '\\' => 2,
        char if char < ' ' => 6,
        char => char.len_utf8(),
    }
}

fn json_len(value: &impl Serialize) -> usize {
    serde_json::to_vec(value).map_or(usize::MAX, |json| json.len())
}
