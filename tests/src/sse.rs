//! A reader of event streams (HTML Living Standard, section 9.2.6).

use serde_json::Value;

use crate::guarded;

/// One event.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// What to send as `Last-Event-ID`.
    pub id: String,
    /// `message.created` and the like; `:` for a comment.
    pub name: String,
    /// The payload; null for a comment.
    pub data: Value,
}

/// An open stream.
#[derive(Debug)]
pub struct Events {
    answer: reqwest::Response,
    text: Vec<u8>,
}

impl Events {
    pub(crate) fn open(answer: reqwest::Response) -> Self {
        Self { answer, text: Vec::new() }
    }

    /// The HTTP status.
    pub fn status(&self) -> u16 {
        self.answer.status().as_u16()
    }

    /// A header field, or `""`.
    pub fn header(&self, name: &str) -> &str {
        let value = self.answer.headers().get(name);
        value.and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// The next event that is not a comment.
    pub async fn next(&mut self) -> Event {
        let event = guarded("an event", async {
            loop {
                match self.block().await {
                    Some(event) if event.name != ":" => break Some(event),
                    Some(_comment) => {}
                    None => break None,
                }
            }
        });
        event.await.expect("the stream ended where an event was expected")
    }

    /// The next comment; the opening one has an id.
    pub async fn comment(&mut self) -> Event {
        let comment = guarded("a comment", async {
            while let Some(event) = self.block().await {
                if event.name == ":" {
                    return Some(event);
                }
            }
            None
        });
        comment.await.expect("the stream ended where a comment was expected")
    }

    /// Waits for the end of the stream, and returns what came before it.
    pub async fn rest(mut self) -> Vec<Event> {
        guarded("the end of the stream", async {
            let mut events = Vec::new();
            while let Some(event) = self.block().await {
                events.push(event);
            }
            events.retain(|event| event.name != ":");
            events
        })
        .await
    }

    async fn block(&mut self) -> Option<Event> {
        loop {
            if let Some(end) = self.text.windows(2).position(|pair| pair == b"\n\n") {
                let block: Vec<u8> = self.text.drain(..end + 2).collect();
                return Some(parse(std::str::from_utf8(&block).unwrap()));
            }
            // A connection that breaks ends the stream too.
            let chunk = self.answer.chunk().await.ok().flatten()?;
            self.text.extend_from_slice(&chunk);
        }
    }
}

fn parse(block: &str) -> Event {
    let mut event = Event { id: String::new(), name: String::new(), data: Value::Null };
    for line in block.lines().filter(|line| !line.is_empty()) {
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "" => ":".clone_into(&mut event.name),
            "id" => value.clone_into(&mut event.id),
            "event" => value.clone_into(&mut event.name),
            "data" => event.data = serde_json::from_str(value).unwrap(),
            _ => {}
        }
    }
    event
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_fields_and_comments() {
        let event = parse("event: a.b\nid: 7\ndata: {\"x\":1}\n\n");
        assert_eq!((event.id.as_str(), event.name.as_str()), ("7", "a.b"));
        assert_eq!(event.data["x"], 1);
        assert_eq!(parse(": still here\n\n").name, ":");
        assert_eq!(parse(":\n\n").name, ":");
        let opened = parse(": open\nretry: 2000\nid: 7\n\n");
        assert_eq!((opened.name.as_str(), opened.id.as_str()), (":", "7"));
    }
}
