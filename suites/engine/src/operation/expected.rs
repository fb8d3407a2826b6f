//! Results of a scheme, and whether a kernel gives them.

/// Results of a scheme: for each word a value, or none if the case is outside the scheme's domain.
pub type Expected = Vec<Option<i32>>;

/// Whether the words of a result are not those expected.
#[inline]
pub fn differs(expected: &[Option<i32>], out: &[i32]) -> bool {
    expected.iter().zip(out).any(|(expected, out)| expected.is_some_and(|expected| expected != *out))
}

/// Whether every word is as expected, and none is outside the scheme's domain.
pub fn is_all(expected: &[Option<i32>], out: &[i32]) -> bool {
    expected.len() == out.len() && expected.iter().zip(out).all(|(expected, out)| *expected == Some(*out))
}
