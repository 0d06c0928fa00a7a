//! Inputs made by mutating seeds. A seed number and an input's number always give the same input.

/// No input is longer, in bytes.
const LONGEST: usize = 128 << 10;

/// Seeds up to this many bytes are used most of the time.
const SHORT: usize = 4 << 10;

/// A small generator of pseudo-random numbers (`SplitMix64`).
pub(crate) struct Random(u64);

impl Random {
    /// The numbers for one input of a run.
    pub(crate) const fn new(seed: u64, input: u64) -> Self {
        Self(seed.wrapping_mul(0xD134_2543_DE82_EF95) ^ input.wrapping_mul(0xA24B_AED4_963E_E407))
    }

    const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`; 0 for a bound of 0.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        let below = self.next().checked_rem(bound as u64).unwrap_or_default();
        usize::try_from(below).unwrap_or_default()
    }

    const fn byte(&mut self) -> u8 {
        self.next().to_le_bytes()[0]
    }

    /// Any of `items`, which must not be empty.
    pub(crate) fn pick<'i, T>(&mut self, items: &'i [T]) -> &'i T {
        &items[self.below(items.len())]
    }

    /// Mostly small, at most `most`.
    fn length(&mut self, most: usize) -> usize {
        let power = self.below(12);
        let length = 1 + self.below(1 << power);
        if length < most { length } else { most }
    }
}

/// What inputs are made of.
pub(crate) struct Mutator {
    short: Vec<Vec<u8>>,
    all: Vec<Vec<u8>>,
    tokens: Vec<Vec<u8>>,
}

impl Mutator {
    /// A mutator of `seeds` that puts `tokens` in; neither may be empty.
    pub(crate) fn new(seeds: Vec<Vec<u8>>, tokens: &[&[u8]]) -> Self {
        let short = seeds.iter().filter(|seed| seed.len() <= SHORT).cloned().collect();
        let tokens = tokens.iter().map(|token| token.to_vec()).collect();
        Self { short, all: seeds, tokens }
    }

    /// A seed with one to twelve mutations.
    pub(crate) fn input(&self, random: &mut Random) -> Vec<u8> {
        let mut input = self.seed(random).to_vec();
        for _ in 0..=random.below(12) {
            self.mutate(&mut input, random);
            input.truncate(LONGEST);
        }
        input
    }

    fn seed(&self, random: &mut Random) -> &[u8] {
        let seeds = if random.below(16) == 0 { &self.all } else { &self.short };
        random.pick::<Vec<u8>>(seeds)
    }

    fn mutate(&self, input: &mut Vec<u8>, random: &mut Random) {
        let at = random.below(input.len() + 1);
        let bytes = at..at + random.length(input.len() - at);
        match random.below(12) {
            0 => flip(input, random),
            1 => drop(input.drain(bytes)),
            2 => drop(input.drain(line(input, at))),
            3 => repeat(input, bytes, random),
            4 => repeat(input, line(input, at), random),
            5 => swap_lines(input, at, random),
            6 => insert(input, at, &random_bytes(random)),
            7 => insert(input, at, &self.run(random)),
            8 => insert(input, at, random.pick::<Vec<u8>>(&self.tokens)),
            9 => drop(input.splice(bytes, random.pick(&self.tokens).iter().copied())),
            10 => {
                let other = self.seed(random);
                let from = random.below(other.len());
                let length = random.length(other.len() - from);
                drop(input.splice(bytes, other[from..from + length].iter().copied()));
            }
            _ => {
                let other = self.seed(random);
                let lines = line(other, random.below(other.len()));
                insert(input, line(input, at).start, &other[lines]);
            }
        }
    }

    /// A byte or a token many times.
    fn run(&self, random: &mut Random) -> Vec<u8> {
        let unit = if random.below(2) == 0 {
            vec![random.byte()]
        } else {
            random.pick(&self.tokens).clone()
        };
        unit.repeat(random.length(2048))
    }
}

type Range = std::ops::Range<usize>;

/// The line around `at`, with its line end.
fn line(input: &[u8], at: usize) -> Range {
    let start = input[..at].iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
    let end = input[at..].iter().position(|&byte| byte == b'\n');
    start..end.map_or(input.len(), |end| at + end + 1)
}

fn flip(input: &mut [u8], random: &mut Random) {
    for _ in 0..=random.below(4) {
        let (at, bit) = (random.below(input.len()), random.below(8));
        if let Some(byte) = input.get_mut(at) {
            *byte ^= 1 << bit;
        }
    }
}

fn insert(input: &mut Vec<u8>, at: usize, bytes: &[u8]) {
    drop(input.splice(at..at, bytes.iter().copied()));
}

fn repeat(input: &mut Vec<u8>, range: Range, random: &mut Random) {
    let copies = input[range.clone()].repeat(1 + random.below(4));
    insert(input, range.end, &copies);
}

fn swap_lines(input: &mut Vec<u8>, at: usize, random: &mut Random) {
    let moved: Vec<u8> = input.drain(line(input, at)).collect();
    let to = random.below(input.len() + 1);
    insert(input, line(input, to).start, &moved);
}

fn random_bytes(random: &mut Random) -> Vec<u8> {
    (0..random.length(64)).map(|_| random.byte()).collect()
}
