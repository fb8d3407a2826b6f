//! SHA-256, as FIPS 180-4 defines it: build scripts have no other crate.

/// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
const CONSTANTS: [u32; 64] = constants();

/// Of the square roots of the first eight.
const START: [u32; 8] =
    [0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19];

const BLOCK: usize = 64;

/// A hash of what it was given until now.
pub struct Sha256 {
    state: [u32; 8],
    pending: Vec<u8>,
    length: u64,
}

impl Sha256 {
    /// Of nothing.
    #[allow(clippy::new_without_default, reason = "three crates compile this file, and each would have it unused")]
    pub fn new() -> Self {
        Self { state: START, pending: Vec::with_capacity(BLOCK), length: 0 }
    }

    /// Of these bytes too.
    pub fn update(&mut self, mut bytes: &[u8]) {
        self.length += bytes.len() as u64;
        if !self.pending.is_empty() {
            let (head, rest) = bytes.split_at(bytes.len().min(BLOCK - self.pending.len()));
            self.pending.extend_from_slice(head);
            bytes = rest;
            if self.pending.len() < BLOCK {
                return;
            }
            let block = std::mem::take(&mut self.pending);
            self.compress(&block);
        }
        let blocks = bytes.chunks_exact(BLOCK);
        self.pending.extend_from_slice(blocks.remainder());
        blocks.for_each(|block| self.compress(block));
    }

    /// The hash.
    pub fn hexadecimal(mut self) -> String {
        let bits = self.length.wrapping_mul(8);
        let zeros = (BLOCK * 2 - 9 - self.pending.len()) % BLOCK;
        let mut end = vec![0x80];
        end.resize(1 + zeros, 0);
        end.extend_from_slice(&bits.to_be_bytes());
        self.update(&end);
        self.state.iter().map(|word| format!("{word:08x}")).collect()
    }

    fn compress(&mut self, block: &[u8]) {
        let mut w = [0u32; 64];
        for (word, bytes) in w.iter_mut().zip(block.chunks_exact(4)) {
            *word = u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        }
        for t in 16..64 {
            let (a, b) = (w[t - 15], w[t - 2]);
            let s0 = a.rotate_right(7) ^ a.rotate_right(18) ^ (a >> 3);
            let s1 = b.rotate_right(17) ^ b.rotate_right(19) ^ (b >> 10);
            w[t] = w[t - 16].wrapping_add(s0).wrapping_add(w[t - 7]).wrapping_add(s1);
        }
        let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = self.state;
        for t in 0..64 {
            let s1 = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
            let choice = (e & f) ^ (!e & g);
            let t1 = h.wrapping_add(s1).wrapping_add(choice).wrapping_add(CONSTANTS[t]).wrapping_add(w[t]);
            let s0 = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
            let majority = (a & b) ^ (a & c) ^ (b & c);
            (h, g, f, e) = (g, f, e, d.wrapping_add(t1));
            (d, c, b, a) = (c, b, a, t1.wrapping_add(s0).wrapping_add(majority));
        }
        for (word, value) in self.state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
            *word = word.wrapping_add(value);
        }
    }
}

const fn constants() -> [u32; 64] {
    let mut out = [0; 64];
    let (mut prime, mut at) = (2u128, 0);
    while at < 64 {
        if is_prime(prime) {
            out[at] = cube_root_fraction(prime);
            at += 1;
        }
        prime += 1;
    }
    out
}

const fn is_prime(n: u128) -> bool {
    let mut d = 2;
    while d * d <= n {
        if n.is_multiple_of(d) {
            return false;
        }
        d += 1;
    }
    true
}

/// `floor(cbrt(n) * 2^32)`, its low 32 bits.
const fn cube_root_fraction(n: u128) -> u32 {
    let target = n << 96;
    let (mut low, mut high) = (0u128, 1 << 36);
    while high - low > 1 {
        let middle = (low + high) / 2;
        if middle * middle * middle <= target {
            low = middle;
        } else {
            high = middle;
        }
    }
    low as u32
}
