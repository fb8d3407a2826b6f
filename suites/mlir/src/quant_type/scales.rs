//! Parser of scales and zero points.

use super::cursor::Cursor;
use super::error::Fault;
use super::parse::Parsed;
use super::spans::Span;
use super::verify;
use super::{Expressed, Scale, Storage};
use std::ops::RangeInclusive;

/// Upper bound on nested braces: above the rank of any tensor, and small enough for the stack.
const DEPTH: usize = 64;

/// Scales that were read so far, and the type that they must fit.
pub(super) struct Scales {
    storage: Storage,
    bounds: RangeInclusive<i64>,
    expressed: Expressed,
    pub(super) scales: Vec<Scale>,
    pub(super) zero_points: Vec<i64>,
}

impl Scales {
    pub(super) fn new(storage: Storage, bounds: RangeInclusive<i64>, expressed: Expressed) -> Self {
        Self { storage, bounds, expressed, scales: Vec::new(), zero_points: Vec::new() }
    }

    /// `, {1.0, 2.0:3}`
    pub(super) fn list(&mut self, cursor: &mut Cursor<'_>, span: &mut Span) -> Parsed<Vec<usize>> {
        let deeper = "scales of one axis are one list, without inner braces (mlir-opt accepts them and flattens)";
        self.after_comma(cursor, span, 1, deeper)
    }

    /// `, {{1.0, 2.0}, {3.0, 4.0:-5}}`. Returns the number of entries at each depth of braces.
    pub(super) fn tensor(&mut self, cursor: &mut Cursor<'_>, span: &mut Span) -> Parsed<Vec<usize>> {
        self.after_comma(cursor, span, DEPTH, &format!("more than {DEPTH} braces inside one another"))
    }

    fn after_comma(&mut self, c: &mut Cursor<'_>, span: &mut Span, depth: usize, deeper: &str) -> Parsed<Vec<usize>> {
        c.expect(",", "',' and the scales")?;
        let start = c.here();
        c.expect("{", "'{' and the scales")?;
        let counts = self.braces(c, depth, deeper)?;
        *span = c.since(start);
        Ok(counts)
    }

    /// Parses the rest after a `{`, including its `}`. At most `depth` braces are nested.
    fn braces(&mut self, cursor: &mut Cursor<'_>, depth: usize, deeper: &str) -> Parsed<Vec<usize>> {
        let mut count = 0;
        let mut inner: Option<Vec<usize>> = None;
        loop {
            let start = cursor.here();
            if depth == 1 && cursor.next_is(|c| c == '{') {
                return Err(cursor.fault(deeper));
            }
            let below = if cursor.eat("{") {
                self.braces(cursor, depth - 1, deeper)?
            } else {
                self.one(cursor)?;
                Vec::new()
            };
            count += 1;
            if inner.get_or_insert_with(|| below.clone()) != &below {
                let rule = "tensor literal is invalid; ranks are not consistent between elements";
                return Err(Fault::new(rule, cursor.since(start)));
            }
            if !cursor.eat(",") {
                cursor.expect("}", "'}' after the scales")?;
                return Ok([vec![count], inner.unwrap_or_default()].concat());
            }
        }
    }

    /// `1.0`, `1.0:3`
    pub(super) fn one(&mut self, cursor: &mut Cursor<'_>) -> Parsed<()> {
        let (scale, span) = cursor.float()?;
        verify::scale(scale, self.expressed, cursor.denormal_scales).map_err(|rule| Fault::new(rule, span.clone()))?;
        // A missing zero point is 0, which can also be out of bounds.
        let (zero_point, span) = if cursor.eat(":") { cursor.integer()? } else { (0, span) };
        verify::zero_point(zero_point, self.storage, &self.bounds).map_err(|rule| Fault::new(rule, span))?;
        self.scales.push(Scale(scale));
        self.zero_points.push(zero_point);
        Ok(())
    }
}
