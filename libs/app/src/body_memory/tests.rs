#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::future::ready;

use super::{
    MemoryHold::{UntilAnswered, WhileInUse},
    *,
};

const KIB: usize = 1024;

fn bytes(len: usize) -> Bytes {
    Bytes::from(vec![0; len])
}

async fn read_kib(kib: usize) -> Result<Bytes> {
    read((kib * KIB) as u64, ready(Ok(bytes(kib * KIB)))).await
}

/// One request that answers with what it read.
async fn raw(memory: &BodyMemory, share: &ClientShare, kib: usize) -> Result<Bytes> {
    let share = Some(share.clone());
    let (read, answer) = memory.count_request(share, UntilAnswered, 0, read_kib(kib)).await?;
    Ok(answer.reserve(kib * KIB).await?.attach(read?))
}

fn free(memory: &BodyMemory) -> usize {
    memory.total.available_permits()
}

#[tokio::test(start_paused = true)]
async fn an_answer_holds_memory_until_it_is_taken() {
    let memory = BodyMemory::new(100 * KIB);
    let share = memory.share();
    let answer = raw(&memory, &share, 30).await.unwrap();
    assert_eq!(free(&memory), 70, "counted once, as what was read and as the answer");
    let part = answer.slice(..10);
    drop(answer);
    assert_eq!(free(&memory), 70);
    drop(part);
    assert_eq!(free(&memory), 100);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_takes_nothing_waits_for_itself_only() {
    let memory = BodyMemory::new(100 * KIB);
    let (silent, other) = (memory.share(), memory.share());
    let mut held = vec![raw(&memory, &silent, 25).await.unwrap()];
    held.push(raw(&memory, &silent, 25).await.unwrap());
    for _ in 0..3 {
        assert!(matches!(raw(&memory, &silent, 25).await, Err(Error::Unavailable)));
        drop(raw(&memory, &other, 25).await.unwrap());
    }
    let (again, ()) = tokio::join!(raw(&memory, &silent, 25), async { held.clear() });
    assert_eq!(again.unwrap().len(), 25 * KIB);
    assert_eq!(free(&memory), 100);
}

#[tokio::test]
async fn more_than_a_share_is_counted_as_a_share() {
    let memory = BodyMemory::new(10 * KIB);
    let answer = raw(&memory, &memory.share(), 2_000).await.unwrap();
    assert_eq!((answer.len(), free(&memory)), (2_000 * KIB, 5));
}

#[tokio::test]
async fn what_was_read_makes_room_for_what_is_made_of_it() {
    let memory = BodyMemory::new(100 * KIB);
    for (hold, made) in
        [(UntilAnswered, 10), (UntilAnswered, 20), (UntilAnswered, 30), (WhileInUse, 20)]
    {
        let work = async {
            drop(read_kib(20).await);
            free(&memory)
        };
        let (free_after, answer) = memory.count_request(None, hold, 0, work).await.unwrap();
        assert_eq!(free_after, if hold == UntilAnswered { 80 } else { 100 }, "{hold:?}");
        let answer = answer.reserve(made * KIB).await.unwrap().attach(bytes(made * KIB));
        assert_eq!(free(&memory), 100 - made, "{hold:?} {made}");
        drop(answer);
        assert_eq!(free(&memory), 100);
    }
}

#[tokio::test]
async fn what_a_client_sends_is_counted_too() {
    let memory = BodyMemory::new(100 * KIB);
    let work = async { free(&memory) };
    let (free_within, answer) =
        memory.count_request(None, UntilAnswered, 8 * KIB, work).await.unwrap();
    assert_eq!(free_within, 92);
    drop(answer);
    assert_eq!(free(&memory), 100);
}

#[tokio::test]
async fn a_read_that_fails_and_one_outside_of_a_request_hold_nothing() {
    let memory = BodyMemory::new(100 * KIB);
    let work = read(4096, ready(Err(Error::NotFound)));
    let (read, answer) = memory.count_request(None, WhileInUse, 0, work).await.unwrap();
    assert!(read.is_err());
    assert_eq!(free(&memory), 100);
    drop(answer);
    assert_eq!(read_kib(500).await.unwrap().len(), 500 * KIB);
}
