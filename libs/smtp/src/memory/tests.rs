#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::*;

fn limits(memory: usize, message_size: usize) -> Limits {
    Limits { message_size, memory, ..Limits::default() }
}

fn sizes(memory: &Memory) -> Vec<usize> {
    memory.tiers.iter().map(|tier| tier.size).collect()
}

fn bound(memory: &Memory) -> usize {
    memory.tiers.iter().map(|tier| tier.gate.places() * tier.size).sum()
}

fn payers(memory: &Memory, host: u8, inbox: u128) -> Payers {
    memory.payers(IpAddr::from([127, 0, 0, host]), inbox)
}

#[test]
fn the_shares_fit_the_bound() {
    for (octets, message_size) in
        [(256 << 20, 25 << 20), (64 << 20, 25 << 20), (4 << 20, 1 << 20), (1 << 20, 10 << 10)]
    {
        let memory = Memory::new(&limits(octets, message_size));
        let bound = bound(&memory);
        assert!(bound <= octets && bound > octets - message_size, "{bound} of {octets}");
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
    let payers = payers(&memory, 1, 1);
    for (held, size) in [
        (0, 16 << 10),
        (16 << 10, 128 << 10),
        (128 << 10, 1 << 20),
        (1 << 20, 6 << 20),
        (6 << 20, 25 << 20),
    ] {
        let room = memory.try_reserve(&payers, held).unwrap();
        assert_eq!(room.size(), size);
        assert_eq!(memory.reserved(), size);
    }
    assert_eq!(memory.reserved(), 0, "dropped rooms are free again");
}

#[test]
fn small_mails_pass_when_the_large_are_used_up() {
    let memory = Memory::new(&limits(64 << 20, 25 << 20));
    let (one, two) = (payers(&memory, 1, 1), payers(&memory, 2, 2));
    let _large = memory.try_reserve(&one, 6 << 20).unwrap();
    assert!(memory.try_reserve(&two, 6 << 20).is_none());
    assert!(memory.try_reserve(&two, 0).is_some());
}

#[test]
fn no_address_and_no_inbox_has_all() {
    let memory = Memory::new(&Limits::default());
    let rooms = |payers_of: fn(&Memory, u8) -> Payers| {
        let next = |host| memory.try_reserve(&payers_of(&memory, host % 200), 0);
        (0..1024_u32).map_while(|n| next(n.to_le_bytes()[0])).collect::<Vec<_>>()
    };
    let [one_address, one_inbox]: [fn(&Memory, u8) -> Payers; 2] = [
        |memory, number| payers(memory, 1, number.into()),
        |memory, number| payers(memory, number, 1),
    ];
    for payers_of in [one_address, one_inbox] {
        assert_eq!(rooms(payers_of).len(), 512, "half");
        let taken = rooms(payers_of);
        assert!(memory.try_reserve(&payers(&memory, 255, 255), 0).is_some());
        drop(taken);
    }
}

#[test]
fn a_reservation_outlives_its_room() {
    let memory = Memory::new(&Limits::default());
    let mut room = memory.try_reserve(&payers(&memory, 1, 1), 0).unwrap();
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
    let senders = (0..100).map(|number| {
        let (memory, peak) = (Arc::clone(&memory), Arc::clone(&peak));
        tokio::spawn(async move {
            let payers = payers(&memory, number % 3, u128::from(number % 2));
            let mut room = BodyBuffer::default();
            while room.size() < 300 << 10 {
                let larger = memory.reserve(&payers, room.size()).await;
                peak.fetch_max(memory.reserved(), Relaxed);
                let mut larger = larger.replace(room);
                let rest = vec![b'x'; larger.free()];
                larger.push(&rest);
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

/// Takes rooms for `host` and `inbox` until there are no more.
fn take_all(memory: &Memory, host: u8, inbox: u128) -> Vec<BodyBuffer> {
    let payers = payers(memory, host, inbox);
    std::iter::from_fn(|| memory.try_reserve(&payers, 0)).collect()
}

async fn is_revoked(room: &BodyBuffer) -> bool {
    time::timeout(Duration::from_millis(1), room.hold().unwrap().revoked()).await.is_ok()
}

#[tokio::test(start_paused = true)]
async fn nobody_is_hurried_while_nobody_waits() {
    let memory = Memory::new(&Limits::default());
    let rooms = take_all(&memory, 1, 1);
    time::sleep(Duration::from_hours(1)).await;
    assert!(memory.try_reserve(&payers(&memory, 2, 2), 0).is_some());
    assert!(!is_revoked(&rooms[0]).await);
}

#[tokio::test(start_paused = true)]
async fn the_slowest_gives_way_to_one_who_waits() {
    let memory = Arc::new(Memory::new(&Limits::default()));
    let (slow, quick) = (take_all(&memory, 1, 1), take_all(&memory, 2, 2));
    let began = Instant::now();
    let waiting = {
        let memory = Arc::clone(&memory);
        tokio::spawn(async move { memory.reserve(&payers(&memory, 3, 3), 0).await })
    };
    time::sleep(Duration::from_secs(3)).await;
    for room in slow[1..].iter().chain(&quick) {
        room.hold().unwrap().touch();
    }
    slow[0].hold().unwrap().revoked().await;
    assert!(began.elapsed() >= Limits::default().contended_idle);
    for room in &slow[1..] {
        assert!(!is_revoked(room).await, "one waits, and one has to go");
    }
    drop(slow);
    waiting.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn only_who_is_in_the_way_gives_way() {
    let memory = Arc::new(Memory::new(&Limits::default()));
    let (mine, others) = (take_all(&memory, 1, 1), memory.try_reserve(&payers(&memory, 2, 2), 0));
    let waiting = {
        let memory = Arc::clone(&memory);
        tokio::spawn(async move { memory.reserve(&payers(&memory, 1, 3), 0).await })
    };
    mine[0].hold().unwrap().revoked().await;
    assert!(!is_revoked(&others.unwrap()).await);
    drop(mine);
    waiting.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_drip_does_not_keep_memory() {
    let limits = Limits { contended_rate: 1024, ..Limits::default() };
    let memory = Arc::new(Memory::new(&limits));
    let mut rooms = take_all(&memory, 1, 1);
    rooms.extend(take_all(&memory, 2, 2));
    let waiting = {
        let memory = Arc::clone(&memory);
        tokio::spawn(async move { memory.reserve(&payers(&memory, 3, 3), 0).await })
    };
    let began = Instant::now();
    while !is_revoked(&rooms[0]).await {
        for room in &rooms {
            room.hold().unwrap().touch();
        }
        time::sleep(Duration::from_millis(100)).await;
    }
    let allowed = limits.contended_idle + Duration::from_secs(16);
    assert!((allowed..2 * allowed).contains(&began.elapsed()), "{:?}", began.elapsed());
    drop(rooms);
    waiting.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_complete_mail_keeps_its_memory() {
    let memory = Arc::new(Memory::new(&limits(1 << 20, 1 << 20)));
    let room = memory.try_reserve(&payers(&memory, 1, 1), 0).unwrap();
    let hold = Arc::clone(room.hold().unwrap());
    let (_, reservation) = room.into_parts();
    let mut waiting = {
        let memory = Arc::clone(&memory);
        tokio::spawn(async move { memory.reserve(&payers(&memory, 2, 2), 0).await })
    };
    assert!(time::timeout(Duration::from_mins(5), hold.revoked()).await.is_err());
    assert!(time::timeout(Duration::from_millis(1), &mut waiting).await.is_err());
    drop(reservation);
    waiting.await.unwrap();
}
