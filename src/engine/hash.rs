//! A hash that is the same on every machine and in every release, for identities and for comparing contents.
//!
//! It is not for security: it hides a secret from a reader of the journal, not from a search over few candidates. The
//! one rule it keeps: equal bytes have equal hashes for ever, because draws and recordings depend on it.

/// Hashes bytes: eight at a time, multiplied and folded, with the length and a last mix (the finalizer of Murmur3).
#[must_use]
pub fn hash(bytes: &[u8]) -> u64 {
    const K: u64 = 0x9E37_79B9_7F4A_7C15;
    let mut h = K ^ (bytes.len() as u64);
    let mut words = bytes.chunks_exact(8);
    for word in &mut words {
        let word = u64::from_le_bytes(word.try_into().expect("chunks of eight"));
        h = (h ^ word).wrapping_mul(K);
        h ^= h >> 32;
    }
    let mut last = [0; 8];
    last[..words.remainder().len()].copy_from_slice(words.remainder());
    h = (h ^ u64::from_le_bytes(last)).wrapping_mul(K);
    h = (h ^ (h >> 33)).wrapping_mul(0xFF51_AFD7_ED55_8CCD);
    h = (h ^ (h >> 33)).wrapping_mul(0xC4CE_B9FE_1A85_EC53);
    h ^ (h >> 33)
}

/// A hash as text, for contents.
#[must_use]
pub fn digest(bytes: &[u8]) -> String {
    format!("{:016x}", hash(bytes))
}

/// What stands for a secret in the journal: the same secret always has the same stand-in.
#[must_use]
pub fn stand_in(secret: &[u8]) -> String {
    format!("#{:08x}", hash(secret) >> 32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_never_change() {
        assert_eq!(digest(b""), "3836f0681055a942");
        assert_eq!(digest(b"a"), "74449204b1754c49");
        assert_eq!(digest(b"12345678"), "137afd936aed6d6a");
        assert_eq!(digest(b"123456789"), "35a939abf88eb1fb");
    }

    #[test]
    fn neighbours_differ() {
        let mut seen: Vec<u64> = (0..10_000u32).map(|n| hash(&n.to_le_bytes())).collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), 10_000);
        assert_ne!(hash(b"\0"), hash(b""));
    }
}
