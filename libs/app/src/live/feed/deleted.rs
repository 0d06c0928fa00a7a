//! Splits the ids of deleted messages into events of a bounded size.

use std::sync::Arc;

use trapline_store::LiveEvent;
use uuid::Uuid;

/// Ids in one event.
const MAX_IDS: usize = 200;

/// The ids of an announcement that are still to be emitted.
pub(super) struct DeletedBatches {
    event: Arc<LiveEvent>,
    emitted: usize,
}

impl DeletedBatches {
    pub(super) fn of(event: Arc<LiveEvent>) -> Self {
        Self { event, emitted: 0 }
    }

    /// The ids of the next event; `None` when all are told.
    pub(super) fn next(&mut self) -> Option<Vec<Uuid>> {
        let LiveEvent::MessagesDeleted { ids } = &*self.event else { return None };
        let ids: Vec<_> = ids.iter().skip(self.emitted).take(MAX_IDS).copied().collect();
        self.emitted += ids.len();
        (!ids.is_empty()).then_some(ids)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_ids_come_in_several_events() {
        let ids: Vec<_> = (0..450).map(Uuid::from_u128).collect();
        let mut deleted =
            DeletedBatches::of(Arc::new(LiveEvent::MessagesDeleted { ids: ids.clone() }));
        let emitted: Vec<_> = std::iter::from_fn(|| deleted.next()).collect();
        assert_eq!(emitted.iter().map(Vec::len).collect::<Vec<_>>(), [200, 200, 50]);
        assert_eq!(emitted.concat(), ids);
    }
}
