//! CSV of each figure: the numbers that a page draws, for a spreadsheet.

use crate::ledger::{Figure, FigureKind, Ledger};

/// Directory of the CSV files, relative to the page.
pub(crate) const DIRECTORY: &str = "figures";

/// Returns names and contents of the CSV files of all figures, each with a header.
pub(crate) fn files(ledger: &Ledger) -> Vec<(String, Vec<u8>)> {
    ledger.figures.iter().map(|figure| (name(figure.kind), contents(figure))).collect()
}

/// `rate-by-shift.csv`
pub(crate) fn name(kind: FigureKind) -> String {
    format!("{}.csv", kind.name())
}

fn contents(figure: &Figure) -> Vec<u8> {
    let mut writer = csv::WriterBuilder::new().flexible(true).from_writer(Vec::new());
    writer.write_record(figure.columns.iter().map(|column| &column.name)).expect("written to memory");
    for row in &figure.rows {
        writer.write_record(row.iter().map(ToString::to_string)).expect("written to memory");
    }
    writer.into_inner().expect("written to memory")
}
