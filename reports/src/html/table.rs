//! Table of a page: caption, heads with a sort button each, rows with the command that reproduces them.

use crate::text;
use askama::Template;

/// Smallest number of rows with a filter.
const FILTERED: usize = 12;

/// Table, which draws itself.
#[derive(Clone, Debug, Template)]
#[template(path = "table.html")]
pub(crate) struct Table {
    /// Identifier of the element, and prefix of the identifiers inside.
    pub(crate) id: String,
    pub(crate) caption: String,
    pub(crate) heads: Vec<Head>,
    pub(crate) rows: Vec<Row>,
    /// True if the caption is visible; otherwise a heading above has the same text.
    pub(crate) is_captioned: bool,
    /// True if the table turns into a list on a narrow screen; otherwise the table scrolls in a separate box.
    pub(crate) is_list: bool,
}

/// Head of a column.
#[derive(Clone, Debug)]
pub(crate) struct Head {
    pub(crate) name: String,
    pub(crate) is_number: bool,
}

/// Row of a table.
#[derive(Clone, Debug, Default)]
pub(crate) struct Row {
    pub(crate) cells: Vec<Cell>,
    /// Sentences that explain the row, such as its witness.
    pub(crate) says: Vec<String>,
    /// JSON pointers to the values of all cells in the ledger, in order, instead of one pointer for each cell.
    pub(crate) from: String,
    /// Command that reproduces the row.
    pub(crate) command: String,
}

/// Cell of a row.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cell {
    pub(crate) text: String,
    /// JSON pointer to the number in the ledger.
    pub(crate) from: String,
    /// CSS class, or an empty text.
    pub(crate) class: &'static str,
    /// Target of the cell's link on the page.
    pub(crate) link: String,
    /// Sort key, if the text does not begin with the number.
    pub(crate) key: String,
}

impl Table {
    pub(crate) fn new(id: &str, caption: impl Into<String>, heads: &[&str]) -> Self {
        let head = |name: &&str| {
            // `#` marks a column of numbers.
            let plain = name.trim_start_matches('#');
            Head { name: plain.to_owned(), is_number: plain != *name }
        };
        let heads = heads.iter().map(head).collect();
        Self { id: id.to_owned(), caption: caption.into(), heads, rows: Vec::new(), is_captioned: false, is_list: true }
    }

    /// Returns the table, or `None` without rows.
    pub(crate) fn filled(self) -> Option<Self> {
        (!self.rows.is_empty()).then_some(self)
    }

    fn is_filtered(&self) -> bool {
        self.rows.len() >= FILTERED
    }

    fn has_commands(&self) -> bool {
        self.rows.iter().any(|row| !row.command.is_empty() || !row.says.is_empty())
    }

    fn number(&self, at: &usize) -> bool {
        self.heads.get(*at).is_some_and(|head| head.is_number)
    }
}

impl Cell {
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self { text: crate::text::one_line(&text.into()), ..Self::default() }
    }

    /// Returns a cell with a count of the ledger, at one place or as the sum of several.
    pub(crate) fn count(n: u64, from: impl Into<String>) -> Self {
        Self { text: text::count(n), from: from.into(), ..Self::default() }
    }

    pub(crate) fn class(self, class: &'static str) -> Self {
        Self { class, ..self }
    }

    pub(crate) fn link(self, link: impl Into<String>) -> Self {
        Self { link: link.into(), ..self }
    }

    pub(crate) fn key(self, key: impl ToString) -> Self {
        Self { key: key.to_string(), ..self }
    }
}
