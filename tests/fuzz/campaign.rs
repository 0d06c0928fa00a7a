//! A run over many inputs that stops at the first panic, hang, slow input or growth.

use std::{
    fs,
    panic::{self, AssertUnwindSafe},
    path::PathBuf,
    process::{self, ExitCode},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use crate::mutation::{Mutator, Random};

/// Inputs between two lines of progress.
const PROGRESS: u64 = 100_000;

/// No input may take longer.
const SLOWEST: Duration = Duration::from_secs(2);

/// An input that takes longer counts as a hang, and ends the process.
const HANG: Duration = Duration::from_secs(20);

/// The resident memory may grow by this much after a tenth of the run, in KiB.
const GROWTH: u64 = 64 << 10;

/// Panics so far, those that are caught below included.
static PANICS: AtomicU64 = AtomicU64::new(0);

/// The input at work, for the watchdog.
#[derive(Default)]
struct Current {
    number: u64,
    input: Vec<u8>,
}

/// A run: how many inputs, from which seed number.
struct Campaign {
    name: &'static str,
    count: u64,
    seed: u64,
    current: Arc<Mutex<Current>>,
}

/// Checks as many inputs as the first argument says (1,000,000), from the seed number in the second
/// (1). A check fails by panicking.
pub(crate) fn run(
    name: &'static str,
    mutator: &Mutator,
    check: impl Fn(&[u8], &mut Random),
) -> ExitCode {
    let mut numbers = std::env::args().skip(1).map(|argument| argument.parse::<u64>());
    let (Ok(count), Ok(seed)) =
        (numbers.next().unwrap_or(Ok(1_000_000)), numbers.next().unwrap_or(Ok(1)))
    else {
        eprintln!("usage: {name} [COUNT [SEED]]");
        return ExitCode::from(2);
    };
    count_panics();
    let campaign = Campaign { name, count, seed, current: Arc::default() };
    campaign.watch();
    match campaign.inputs(mutator, check) {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => {
            println!("{name}: FAULT: {fault}");
            ExitCode::FAILURE
        }
    }
}

/// Parsers catch their own panics, so what counts is that the hook ran.
fn count_panics() {
    let report = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        PANICS.fetch_add(1, Ordering::Relaxed);
        report(info);
    }));
}

impl Campaign {
    fn inputs(&self, mutator: &Mutator, check: impl Fn(&[u8], &mut Random)) -> Result<(), String> {
        let (mut slowest, mut warm) = (Duration::ZERO, None);
        for number in 1..=self.count {
            let mut random = Random::new(self.seed, number);
            let input = mutator.input(&mut random);
            self.begin(number, &input);
            let start = Instant::now();
            let passed = panic::catch_unwind(AssertUnwindSafe(|| check(&input, &mut random)));
            let took = start.elapsed();
            slowest = slowest.max(took);
            if passed.is_err() || PANICS.load(Ordering::Relaxed) > 0 {
                return Err(format!("a panic: {}", self.keep(number, &input)));
            }
            if took > SLOWEST {
                return Err(format!("took {took:?}: {}", self.keep(number, &input)));
            }
            if number >= self.count.div_ceil(10) {
                warm.get_or_insert_with(resident);
            }
            if number % PROGRESS == 0 || number == self.count {
                self.report(number, slowest);
            }
        }
        self.judge_growth(warm.unwrap_or_default(), resident())
    }

    fn begin(&self, number: u64, input: &[u8]) {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        current.number = number;
        current.input.clear();
        current.input.extend_from_slice(input);
    }

    fn report(&self, number: u64, slowest: Duration) {
        let (name, seed) = (self.name, self.seed);
        let (slowest, resident) = (slowest.as_secs_f64() * 1e3, resident());
        println!(
            "{name} (seed {seed}): {number} inputs, 0 panics, slowest {slowest:.1} ms, RSS {resident} KiB"
        );
    }

    fn judge_growth(&self, warm: u64, last: u64) -> Result<(), String> {
        println!("{}: RSS {warm} KiB after a tenth, {last} KiB at the end", self.name);
        let growth = last.saturating_sub(warm);
        if growth > GROWTH { Err(format!("memory grew by {growth} KiB")) } else { Ok(()) }
    }

    /// Writes an input down, and says where.
    fn keep(&self, number: u64, input: &[u8]) -> String {
        keep(self.name, self.seed, number, input)
    }

    /// An endless loop can't be interrupted, so another thread looks after the time.
    fn watch(&self) {
        let (name, seed, current) = (self.name, self.seed, Arc::clone(&self.current));
        let number = |current: &Mutex<Current>| {
            current.lock().unwrap_or_else(PoisonError::into_inner).number
        };
        thread::spawn(move || {
            loop {
                let before = number(&current);
                thread::sleep(HANG);
                let current = current.lock().unwrap_or_else(PoisonError::into_inner);
                if current.number == before {
                    let kept = keep(name, seed, before, &current.input);
                    println!("{name}: FAULT: a hang: {kept}");
                    process::exit(1);
                }
            }
        });
    }
}

fn keep(name: &str, seed: u64, number: u64, input: &[u8]) -> String {
    let path: PathBuf = std::env::temp_dir().join(format!("{name}-{seed}-{number}.bin"));
    match fs::write(&path, input) {
        Ok(()) => format!("input {number} of seed {seed}, kept in {}", path.display()),
        Err(error) => format!("input {number} of seed {seed}, not kept: {error}"),
    }
}

/// The memory of this process in KiB; 0 where the system doesn't say.
fn resident() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or_default()
}
