//! Who works next: a bounded number works, and a bounded number waits in order of rank, and of arrival
//! within a rank.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::oneshot;

/// A place in the line: its rank, and the number of its arrival.
type QueuePosition = (u32, u64);

/// The line in front of some threads.
#[derive(Debug)]
pub(super) struct TurnQueue {
    state: Mutex<State>,
    /// How many may wait.
    capacity: usize,
}

#[derive(Debug)]
struct State {
    /// Threads that are free; none while somebody waits.
    free: usize,
    waiting: BTreeMap<QueuePosition, oneshot::Sender<Turn>>,
    arrived: u64,
}

/// The right to a thread, until it is dropped.
#[derive(Debug)]
pub(super) struct Turn(Arc<TurnQueue>);

/// Leaves the line when it is dropped.
struct Waiter<'a> {
    line: &'a TurnQueue,
    place: QueuePosition,
}

impl TurnQueue {
    pub(super) fn new(threads: usize, capacity: usize) -> Arc<Self> {
        let state = State { free: threads, waiting: BTreeMap::new(), arrived: 0 };
        Arc::new(Self { state: Mutex::new(state), capacity })
    }

    /// Waits for a thread; lower ranks come first. `None` when as many wait already, of this rank or a lower
    /// one: at once, or once others came who go first.
    pub(super) async fn turn(self: &Arc<Self>, rank: u32) -> Option<Turn> {
        let (sender, receiver) = oneshot::channel();
        let place = {
            let mut state = self.state();
            if state.free > 0 {
                state.free -= 1;
                return Some(Turn(self.clone()));
            }
            if state.waiting.len() >= self.capacity {
                let last = state.waiting.last_entry().filter(|last| last.key().0 > rank)?;
                last.remove();
            }
            state.arrived += 1;
            let place = (rank, state.arrived);
            state.waiting.insert(place, sender);
            place
        };
        let _waiter = Waiter { line: self, place };
        receiver.await.ok()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let next = {
            let mut state = self.0.state();
            let next = state.waiting.pop_first();
            if next.is_none() {
                state.free += 1;
            }
            next
        };
        if let Some((_, sender)) = next {
            // Where nobody is there to take it, it is dropped, and goes to the one after.
            drop(sender.send(Self(self.0.clone())));
        }
    }
}

impl Drop for Waiter<'_> {
    fn drop(&mut self) {
        self.line.state().waiting.remove(&self.place);
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use futures_util::FutureExt as _;

    use super::*;

    #[tokio::test]
    async fn lower_ranks_come_first_and_within_one_who_came_first() {
        let line = TurnQueue::new(1, 3);
        let turn = line.turn(7).await.unwrap();
        let mut waiting: Vec<_> =
            [1, 0, 0].into_iter().map(|rank| Box::pin(line.turn(rank))).collect();
        assert!(waiting.iter_mut().all(|one| one.now_or_never().is_none()));
        drop(turn);
        let mut served = Vec::new();
        while served.len() < waiting.len() {
            for (number, waiter) in waiting.iter_mut().enumerate() {
                if !served.contains(&number) && waiter.now_or_never().is_some() {
                    // The thread goes on to the next at once.
                    served.push(number);
                }
            }
        }
        assert_eq!(served, [1, 2, 0]);
        assert!(line.turn(9).now_or_never().unwrap().is_some(), "the thread is free again");
    }

    #[tokio::test]
    async fn a_full_line_turns_the_last_away() {
        let line = TurnQueue::new(1, 2);
        let turn = line.turn(0).await.unwrap();
        let mut first = Box::pin(line.turn(3));
        let mut last = Box::pin(line.turn(3));
        assert!((&mut first).now_or_never().is_none() && (&mut last).now_or_never().is_none());
        assert!(line.turn(3).now_or_never().unwrap().is_none(), "of the same rank");
        let mut better = Box::pin(line.turn(0));
        assert!((&mut better).now_or_never().is_none());
        assert!((&mut last).now_or_never().unwrap().is_none(), "made room");
        drop(turn);
        assert!((&mut first).now_or_never().is_none());
        assert!((&mut better).now_or_never().unwrap().is_some());
    }

    #[tokio::test]
    async fn who_leaves_makes_room_and_keeps_no_thread() {
        let line = TurnQueue::new(1, 1);
        let turn = line.turn(0).await.unwrap();
        let mut waiter = Box::pin(line.turn(0));
        assert!((&mut waiter).now_or_never().is_none());
        drop(waiter);
        let mut waiter = Box::pin(line.turn(0));
        assert!((&mut waiter).now_or_never().is_none());
        drop(turn);
        // It was its turn, and it never knew.
        drop(waiter);
        assert!(line.turn(0).now_or_never().unwrap().is_some());
    }
}
