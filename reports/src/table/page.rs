//! Lines, wrapped prose, and lists in columns, in colour if the caller wants it.

use super::Style;
use comfy_table::{Cell, Color, Table, TableStyle};
use std::fmt::Write;

/// Meaning of a colour.
#[derive(Clone, Copy)]
pub(super) enum Ink {
    Plain,
    Strong,
    Faint,
    Good,
    Notable,
    Bad,
}

impl Ink {
    fn code(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Strong => "1",
            Self::Faint => "2",
            Self::Good => "32",
            Self::Notable => "33",
            Self::Bad => "1;31",
        }
    }

    pub(super) fn cell(self, text: impl ToString) -> Cell {
        let cell = Cell::new(text);
        match self {
            Self::Plain => cell,
            Self::Strong => cell.add_attribute(comfy_table::Attribute::Bold),
            Self::Faint => cell.add_attribute(comfy_table::Attribute::Dim),
            Self::Good => cell.fg(Color::DarkGreen),
            Self::Notable => cell.fg(Color::DarkYellow),
            Self::Bad => cell.fg(Color::DarkRed).add_attribute(comfy_table::Attribute::Bold),
        }
    }
}

/// Text so far, with methods that add to it.
pub(super) struct Page {
    pub(super) style: Style,
    pub(super) out: String,
}

impl Page {
    pub(super) fn paint(&self, text: &str, ink: Ink) -> String {
        match ink.code() {
            code if self.style.colour && !code.is_empty() => format!("\x1b[{code}m{text}\x1b[0m"),
            _ => text.to_owned(),
        }
    }

    /// Adds a line without wrapping. Commands and findings stay whole, to be copied and searched.
    pub(super) fn line(&mut self, indent: usize, text: &str, ink: Ink) {
        let text = self.paint(text, ink);
        let _ = writeln!(self.out, "{:indent$}{text}", "");
    }

    /// Adds prose, wrapped between words to fit the width.
    pub(super) fn prose(&mut self, indent: usize, text: &str, ink: Ink) {
        let width = self.style.width.map_or(usize::MAX, |w| (w as usize).saturating_sub(indent));
        for line in broken(text, width) {
            self.line(indent, &line, ink);
        }
    }

    /// Adds the first line of a part, after a blank line unless the page is empty.
    pub(super) fn heading(&mut self, text: &str) {
        if !self.out.is_empty() {
            self.out.push('\n');
        }
        self.line(0, text, Ink::Strong);
    }

    /// Adds entries one below the other. Names are never broken; prose is wrapped between words. If the width leaves no column for the prose, it
    /// follows its names, or goes beneath them.
    pub(super) fn list(&mut self, entries: &[Entry]) {
        let Some(room) = self.room_for_prose(entries) else {
            return entries.iter().for_each(|entry| self.without_columns(entry));
        };
        let mut table = bare_table();
        for entry in entries {
            let prose = entry.ink.cell(broken(&entry.prose, room).join("\n"));
            table.add_row(entry.names.iter().map(Cell::new).chain([prose]).collect::<Vec<_>>());
        }
        self.table(table);
    }

    /// Adds an entry without columns. An entry with a blank first name belongs to the entry above, and is indented.
    fn without_columns(&mut self, entry: &Entry) {
        let indent = if entry.names.first().is_some_and(String::is_empty) { 4 } else { 2 };
        let names: Vec<_> = entry.names.iter().map(String::as_str).filter(|name| !name.is_empty()).collect();
        let names = names.join("  ");
        let whole = indent + names.chars().count() + 2 + entry.prose.chars().count();
        if self.style.width.is_none_or(|width| whole <= usize::from(width)) {
            let prose = self.paint(&entry.prose, entry.ink);
            self.line(indent, &format!("{names}  {prose}"), Ink::Plain);
        } else {
            self.prose(indent, &names, Ink::Plain);
            self.prose(indent + 2, &entry.prose, entry.ink);
        }
    }

    /// Returns the columns left next to the names of all entries, if they are enough for the prose.
    fn room_for_prose(&self, entries: &[Entry]) -> Option<usize> {
        let Some(width) = self.style.width else {
            return Some(usize::MAX);
        };
        let columns = entries.iter().map(|entry| entry.names.len()).max().unwrap_or(0);
        let widest = |i: usize| entries.iter().filter_map(|entry| entry.names.get(i)).map(|n| n.chars().count()).max();
        // Width: a space before the table, and one on either side of each cell; the last one is trimmed.
        let names: usize = (0..columns).filter_map(widest).map(|n| n + 2).sum();
        let room = usize::from(width).saturating_sub(2 + names);
        let wanted = entries.iter().map(Entry::prose_wants).max().unwrap_or(0);
        (room >= wanted).then_some(room)
    }

    pub(super) fn table(&mut self, mut table: Table) {
        if self.style.colour {
            table.enforce_styling();
        }
        for line in table.lines() {
            let _ = writeln!(self.out, " {}", line.trim_end());
        }
    }
}

/// Entry of a list.
pub(super) struct Entry {
    /// Names, one for each cell; each cell is as wide as its text.
    pub(super) names: Vec<String>,
    pub(super) prose: String,
    pub(super) ink: Ink,
}

impl Entry {
    pub(super) fn new(names: Vec<String>, prose: String) -> Self {
        Self { names, prose, ink: Ink::Plain }
    }

    /// Returns the smallest acceptable width of the prose: its longest word, a few words, and a quarter of the text.
    fn prose_wants(&self) -> usize {
        let all = self.prose.chars().count();
        let word = self.prose.split(' ').map(|word| word.chars().count()).max().unwrap_or(0);
        word.max(all.min(16)).max(all / 4)
    }
}

fn broken(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let last = lines.last_mut().expect("starts with one");
        if last.is_empty() {
            last.push_str(word);
        } else if last.chars().count() + 1 + word.chars().count() <= width {
            last.push(' ');
            last.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

pub(super) fn bare_table() -> Table {
    let mut table = Table::new();
    table.load_style(TableStyle::new()).force_no_tty().style_text_only();
    table
}
