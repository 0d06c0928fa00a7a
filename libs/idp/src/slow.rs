//! Answers that come late because somebody asked for it. Each holds a connection, so that they are bounded.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use trapline_model::IdpId;

/// Answers of one provider that are late at the same time.
const MAX_SLOW: usize = 10;

/// How many answers of each provider are late right now.
#[derive(Debug, Clone, Default)]
pub(crate) struct SlowAnswers(Arc<Mutex<HashMap<IdpId, usize>>>);

/// Counts as a late answer until it is dropped.
#[derive(Debug)]
pub(crate) struct SlowAnswer {
    all: SlowAnswers,
    idp: IdpId,
}

impl SlowAnswers {
    /// One more; `None` when a provider has ten.
    pub(crate) fn begin(&self, idp: IdpId) -> Option<SlowAnswer> {
        let mut counts = self.counts();
        let count = counts.entry(idp).or_default();
        if *count >= MAX_SLOW {
            return None;
        }
        *count += 1;
        Some(SlowAnswer { all: self.clone(), idp })
    }

    fn counts(&self) -> MutexGuard<'_, HashMap<IdpId, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for SlowAnswer {
    fn drop(&mut self) {
        let mut counts = self.all.counts();
        if let Some(count) = counts.get_mut(&self.idp) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.idp);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn ten_answers_of_a_provider_are_late_at_once() {
        let all = SlowAnswers::default();
        let [one, other] = ["06h2jav2v1rkp4klmfo8nvf82c", "06h2j9pqvhqh3focmrmcn2lsh8"]
            .map(|id| id.parse().unwrap());
        let mut late: Vec<_> = (0..MAX_SLOW).filter_map(|_| all.begin(one)).collect();
        assert_eq!((late.len(), all.begin(one).is_none()), (MAX_SLOW, true));
        assert!(all.begin(other).is_some());
        late.pop();
        assert!(all.begin(one).is_some());
        late.clear();
        assert!(all.counts().is_empty());
    }
}
