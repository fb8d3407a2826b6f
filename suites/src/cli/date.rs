//! Dates of a ledger.

use chrono::{DateTime, Datelike, SecondsFormat, Utc};
use std::time::{SystemTime, UNIX_EPOCH};

/// Formats a time in UTC according to RFC 3339, to the second. A time without a four-digit year becomes a number of seconds.
pub(crate) fn of(time: SystemTime) -> String {
    let seconds = match time.duration_since(UNIX_EPOCH) {
        Ok(after) => i128::from(after.as_secs()),
        Err(before) => -i128::from(before.duration().as_secs()),
    };
    let date = i64::try_from(seconds).ok().and_then(|seconds| DateTime::<Utc>::from_timestamp(seconds, 0));
    match date.filter(|date| (0..=9999).contains(&date.year())) {
        Some(date) => date.to_rfc3339_opts(SecondsFormat::Secs, true),
        None => format!("not known: the clock says {seconds} s after 1970-01-01T00:00:00Z"),
    }
}
