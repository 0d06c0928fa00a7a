#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use super::*;

fn limits(memory: usize, message_size: usize) -> Limits {
    Limits { message_size, memory, ..Limits::default() }
}

fn sizes(memory: &Memory) -> Vec<usize> {
    memory.tiers.iter().map(|tier| tier.size).collect()
}

fn bound(memory: &Memory) -> usize {
    memory.tiers.iter().map(|tier| tier.permits * UNIT).sum()
}

#[test]
fn the_shares_add_up_to_the_bound() {
    for (octets, message_size) in
        [(256 << 20, 25 << 20), (64 << 20, 25 << 20), (4 << 20, 1 << 20), (1 << 20, 10 << 10)]
    {
        let memory = Memory::new(&limits(octets, message_size));
        assert_eq!(bound(&memory), octets, "{octets} for mails of {message_size}");
        assert_eq!(memory.tiers.last().unwrap().size, message_size);
        assert!(sizes(&memory).is_sorted());
    }
    let memory = Memory::new(&limits(1 << 20, 25 << 20));
    assert_eq!(bound(&memory), 25 << 20, "raised to one mail");
    assert_eq!(sizes(&memory), [25 << 20]);
}

#[test]
fn hands_out_the_next_size() {
    let memory = Memory::new(&Limits::default());
    for (held, size) in [
        (0, 16 << 10),
        (16 << 10, 128 << 10),
        (128 << 10, 1 << 20),
        (1 << 20, 6 << 20),
        (6 << 20, 25 << 20),
    ] {
        let room = memory.try_reserve(held).unwrap();
        assert_eq!(room.size(), size);
        assert_eq!(memory.reserved(), size);
    }
    assert_eq!(memory.reserved(), 0, "dropped rooms are free again");
}

#[test]
fn small_mails_pass_when_the_large_are_used_up() {
    let memory = Memory::new(&limits(64 << 20, 25 << 20));
    let _large = memory.try_reserve(6 << 20).unwrap();
    assert!(memory.try_reserve(6 << 20).is_none());
    assert!(memory.try_reserve(0).is_some());
}

#[test]
fn a_reservation_outlives_its_room() {
    let memory = Memory::new(&Limits::default());
    let mut room = memory.try_reserve(0).unwrap();
    room.push(b"kept");
    let (body, reservation) = room.into_parts();
    assert_eq!(memory.reserved(), 16 << 10);
    drop(reservation);
    assert_eq!((&body[..], memory.reserved()), (&b"kept"[..], 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_growing_mails_all_finish_within_the_bound() {
    let limits = limits(2 << 20, 300 << 10);
    let memory = Arc::new(Memory::new(&limits));
    let peak = Arc::new(AtomicUsize::new(0));
    let senders = (0..100).map(|_| {
        let (memory, peak) = (Arc::clone(&memory), Arc::clone(&peak));
        tokio::spawn(async move {
            let mut room = Room::default();
            while room.size() < 300 << 10 {
                let larger = memory.reserve(room.size()).await;
                peak.fetch_max(memory.reserved(), Relaxed);
                let mut larger = larger.replace(room);
                let rest = vec![b'x'; larger.free()];
                larger.push(&rest);
                assert_eq!(larger.bytes.capacity(), larger.size(), "not one octet more");
                room = larger;
                tokio::task::yield_now().await;
            }
        })
    });
    for sender in senders.collect::<Vec<_>>() {
        sender.await.unwrap();
    }
    assert!((300 << 10..=2 << 20).contains(&peak.load(Relaxed)), "{peak:?}");
    assert_eq!(memory.reserved(), 0);
}
