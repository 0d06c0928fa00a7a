//! Names of segments, which tell their retention class and when they were begun.

use std::time::Duration;

use trapline_model::Time;
use uuid::Uuid;

const HOUR: Duration = Duration::from_hours(1);
const DAY: Duration = Duration::from_hours(24);

/// The retention class of a segment's messages. Messages that end at about the same time share
/// segments, so that a segment is removed as a whole and needs no compaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// An hour at most.
    H1,
    /// A day at most.
    D1,
    /// Seven days at most.
    D7,
    /// Until deleted.
    Keep,
}

impl Class {
    /// Every class, the shortest lifetime first.
    pub const ALL: [Self; 4] = [Self::H1, Self::D1, Self::D7, Self::Keep];

    /// The shortest class that keeps a message for the `remaining` lifetime of its inbox; `None` has no
    /// end.
    #[must_use]
    pub fn for_lifetime(remaining: Option<Duration>) -> Self {
        let Some(remaining) = remaining else { return Self::Keep };
        let fits = |class: &Self| class.max_lifetime().is_none_or(|most| most >= remaining);
        Self::ALL.into_iter().find(fits).unwrap_or(Self::Keep)
    }

    /// The longest lifetime of a message in this class; `None` has no end.
    #[must_use]
    pub fn max_lifetime(self) -> Option<Duration> {
        match self {
            Self::H1 => Some(HOUR),
            Self::D1 => Some(DAY),
            Self::D7 => Some(7 * DAY),
            Self::Keep => None,
        }
    }

    /// The first part of a segment's name. An inbox can be given more time, so messages may outlive
    /// their class: no rule of a bucket's lifecycle may go by it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::H1 => "h1",
            Self::D1 => "d1",
            Self::D7 => "d7",
            Self::Keep => "keep",
        }
    }
}

/// The name of a segment: `keep/2026/01/31/<uuid>.seg`, with the date that is in the UUIDv7.
#[must_use]
pub fn name(class: Class, id: Uuid) -> String {
    let at = jiff::Timestamp::from(Time::of_uuid(id));
    format!("{}/{}/{id}.seg", class.name(), at.strftime("%Y/%m/%d"))
}

/// The class of the segment with this name; `None` when it is not a segment's name.
#[must_use]
pub fn class_of(name: &str) -> Option<Class> {
    parse(name).map(|(class, _)| class)
}

/// When the segment with this name was begun; `None` when it is not a segment's name.
#[must_use]
pub fn created_at(name: &str) -> Option<Time> {
    parse(name).map(|(_, id)| Time::of_uuid(id))
}

/// The class and the id in the name of a segment; `None` when it is not a segment's name.
#[must_use]
pub fn parse(text: &str) -> Option<(Class, Uuid)> {
    let (class, rest) = text.split_once('/')?;
    let class = Class::ALL.into_iter().find(|known| known.name() == class)?;
    let (_, file) = rest.rsplit_once('/')?;
    let id = Uuid::try_parse(file.strip_suffix(".seg")?).ok()?;
    (id.get_version_num() == 7 && name(class, id) == text).then_some((class, id))
}
