//! Compares the reader of HTML in `libs/mime` with html5gum: `cargo run --release` in this folder.
//!
//! Each reader takes its turn with each input, round after round; printed is the median of the rounds
//! in MB of source for a second of processor time.

#[allow(dead_code, reason = "what only the preview needs")]
#[path = "../../../libs/mime/src/entities/mod.rs"]
mod entities;
mod inputs;
#[expect(dead_code, reason = "what only the preview needs")]
#[path = "../../../libs/mime/src/markup.rs"]
mod markup;
mod readers;
#[path = "../../../libs/mime/src/visible/mod.rs"]
mod visible;

use std::hint::black_box;

use readers::Found;

const ROUNDS: usize = 7;
/// Bytes that a reader reads in a turn: short inputs are read several times.
const TURN: usize = 6 * 1024 * 1024;

/// MB/s beyond which a turn is too short to be measured.
const LIMIT: u64 = 1500;

type Reader = fn(&str) -> Found;
const READERS: &[(&str, Reader)] = &[
    ("ours", readers::ours),
    ("visible text", readers::visible_text),
    ("html5gum, events", readers::html5gum_events),
    ("html5gum, tokens", readers::html5gum_tokens),
];

fn main() {
    print!("{:28}", "MB/s of processor time");
    READERS.iter().for_each(|(name, _)| print!("{name:>18}"));
    println!();
    for (name, sources) in inputs::all() {
        let length: usize = sources.iter().map(String::len).sum();
        let times = (TURN / length).max(1);
        let mut taken = vec![Vec::new(); READERS.len()];
        for _ in 0..ROUNDS {
            for (reader, taken) in READERS.iter().zip(&mut taken) {
                let start = processor_time();
                for html in sources.iter().cycle().take(times * sources.len()) {
                    black_box(reader.1(black_box(html)));
                }
                taken.push(processor_time() - start);
            }
        }
        print!("{name:28}");
        for mut taken in taken {
            taken.sort_unstable();
            match (times * length) as u64 * 1000 / taken[ROUNDS / 2].max(1) {
                // The kernel counts in ticks of some milliseconds.
                LIMIT.. => print!("{:>18}", format!("> {LIMIT}")),
                speed => print!("{speed:18}"),
            }
        }
        println!();
    }
    for (name, reader) in READERS {
        let (input, sources) = &inputs::all()[0];
        println!("{name} found in {input}: {:?}", reader(&sources[0]));
    }
}

/// Nanoseconds for which this thread has run, whoever else is busy.
fn processor_time() -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux tells it");
    text.split(' ').next().and_then(|time| time.parse().ok()).expect("a number comes first")
}
