//! Results of a scheme, and their comparison with the results of a kernel.

/// Results of a scheme: a value for each word; `None` if the case is outside the scheme's domain.
pub type Expected = Vec<Option<i32>>;

/// True if a word of a result differs from the expected value.
#[inline]
pub fn differs(expected: &[Option<i32>], out: &[i32]) -> bool {
    expected.iter().zip(out).any(|(expected, out)| expected.is_some_and(|expected| expected != *out))
}

/// True if every word has an expected value and equals the expected value.
pub fn is_all(expected: &[Option<i32>], out: &[i32]) -> bool {
    expected.len() == out.len() && expected.iter().zip(out).all(|(expected, out)| *expected == Some(*out))
}
