//! Reads into a buffer that belongs to the thread, so that a connection that waits holds none.

use std::{
    cell::RefCell,
    future::poll_fn,
    io,
    pin::Pin,
    task::{Poll, ready},
};

use tokio::io::{AsyncRead, ReadBuf};

use crate::stream::Stream;

/// Of the buffer that each thread reads into.
pub(super) const BUFFER: usize = 64 << 10;

thread_local! {
    static INPUT: RefCell<Box<[u8]>> = RefCell::new(vec![0; BUFFER].into_boxed_slice());
}

/// Passes on what there is to read, at most `size` octets, and none at the end of the stream.
/// Nothing is held while there's nothing to read.
pub(super) async fn read<T>(
    stream: &mut Stream,
    size: usize,
    mut take: impl FnMut(&[u8]) -> T,
) -> io::Result<T> {
    poll_fn(|cx| {
        INPUT.with_borrow_mut(|buffer| {
            let mut buffer = ReadBuf::new(&mut buffer[..size.min(BUFFER)]);
            ready!(Pin::new(&mut *stream).poll_read(cx, &mut buffer))?;
            Poll::Ready(Ok(take(buffer.filled())))
        })
    })
    .await
}
