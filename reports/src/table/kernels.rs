//! Table of all kernels: the columns, the choice of those that fit, and the cells.

use super::page::{Ink, bare_table};
use crate::ledger::{Coverage, Ledger, Row};
use crate::text;
use crate::view::{self, Line};
use comfy_table::{Cell, CellAlignment, LineStyle, Table, TableStyle};

/// Column of the kernel table.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Column {
    Kernel,
    Lane,
    IsaPath,
    Contract,
    Parameters,
    Inputs,
    Coverage,
    VsContract,
    /// Deltas side by side.
    VsReference,
    /// Deltas one below the other.
    VsReferenceTall,
    /// Classes, with counts if there are several.
    Class,
    ClassName,
    Seconds,
}

/// Shown columns; [`Self::ALL`] goes from the fullest to the barest.
#[derive(Clone, Copy)]
pub(super) struct Layout(&'static [Column]);

impl Layout {
    #[rustfmt::skip]
    const ALL: [Self; 9] = {
        use Column::*;
        [
            Self(&[Kernel, Lane, IsaPath, Parameters, Inputs, Coverage, Contract, VsContract, VsReference, Class, Seconds]),
            Self(&[Kernel, Lane, IsaPath, Parameters, Inputs, Coverage, Contract, VsContract, VsReferenceTall, Class, Seconds]),
            Self(&[Kernel, Lane, Parameters, Inputs, Coverage, Contract, VsContract, VsReference, Class, Seconds]),
            Self(&[Kernel, Lane, Parameters, Inputs, Coverage, Contract, VsContract, VsReferenceTall, Class, Seconds]),
            Self(&[Kernel, Lane, Parameters, Inputs, Coverage, VsContract, VsReferenceTall, Class, Seconds]),
            Self(&[Kernel, Lane, Inputs, Coverage, VsContract, VsReferenceTall, Class, Seconds]),
            Self(&[Kernel, Lane, Inputs, Coverage, VsContract, VsReferenceTall, ClassName, Seconds]),
            Self(&[Kernel, Lane, Inputs, Coverage, VsContract, VsReferenceTall, Seconds]),
            Self(&[Kernel, Lane, Inputs, Coverage, VsContract, VsReferenceTall]),
        ]
    };

    pub(super) fn fitting(ledger: &Ledger, width: Option<u16>) -> Self {
        let width = width.map_or(usize::MAX, usize::from);
        let fits = |layout: &&Self| {
            let table = kernel_table(ledger, **layout);
            table.lines().all(|line| line.trim_end().chars().count() < width)
        };
        let [.., barest] = Self::ALL;
        Self::ALL.iter().find(fits).copied().unwrap_or(barest)
    }

    pub(super) fn shows(self, column: Column) -> bool {
        self.0.contains(&column)
    }

    /// Returns the columns for a ledger. Values that all rows share are above the table instead.
    fn columns(self, ledger: &Ledger) -> impl Iterator<Item = Column> {
        let coverage = one_coverage(ledger).is_none();
        let parameters = one_parameters(ledger).is_none();
        self.0.iter().copied().filter(move |column| match column {
            Column::Coverage => coverage,
            Column::Parameters => parameters,
            _ => true,
        })
    }
}

pub(super) fn one_parameters(ledger: &Ledger) -> Option<u64> {
    view::shared(ledger.rows.iter().map(|row| row.parameters))
}

fn one_coverage(ledger: &Ledger) -> Option<Coverage> {
    view::shared(ledger.rows.iter().map(|row| row.coverage))
}

/// Returns the table, with the columns of the layout.
pub(super) fn kernel_table(ledger: &Ledger, layout: Layout) -> Table {
    let mut table = bare_table();
    let rule = LineStyle::none().fill('─').junction('─');
    table.load_style(TableStyle::new().header_separator(rule));
    let header = layout.columns(ledger).map(|column| header(ledger, column));
    table.set_header(header.collect::<Vec<_>>());
    let mut above: Option<&Row> = None;
    for line in view::lines(ledger) {
        let cells = layout.columns(ledger).map(|column| cell(ledger, &line, column, above));
        table.add_row(cells.collect::<Vec<_>>());
        above = Some(line.row());
    }
    for (i, column) in layout.columns(ledger).enumerate() {
        table.column_mut(i).expect("one for each header").set_padding((1, 0));
        if matches!(column, Column::Parameters | Column::Inputs | Column::Seconds) {
            let column = table.column_mut(i).expect("one for each header");
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

fn header(ledger: &Ledger, column: Column) -> Cell {
    let text = match column {
        Column::Kernel => "kernel".to_owned(),
        Column::Lane => "lane".to_owned(),
        Column::IsaPath => "ISA path".to_owned(),
        Column::Contract => "contract".to_owned(),
        Column::Parameters => "pairs\n(m, s)".to_owned(),
        Column::Inputs => match one_coverage(ledger) {
            Some(coverage) => format!("inputs,\n{}", text::coverage(coverage)),
            None => "inputs".to_owned(),
        },
        Column::Coverage => "coverage".to_owned(),
        Column::VsContract => "against\ncontract".to_owned(),
        Column::VsReference | Column::VsReferenceTall => match view::reference(ledger) {
            Some(scheme) => format!("against\n{scheme}"),
            None => "against\nreference".to_owned(),
        },
        Column::Class | Column::ClassName => "class".to_owned(),
        Column::Seconds => "seconds".to_owned(),
    };
    Ink::Faint.cell(text)
}

fn cell(ledger: &Ledger, line: &Line<'_>, column: Column, above: Option<&Row>) -> Cell {
    let row = line.row();
    let repeats = above.is_some_and(|above| (&above.op, &above.kernel) == (&row.op, &row.kernel));
    match column {
        Column::Kernel | Column::Contract if repeats => Cell::new(""),
        Column::Kernel => Ink::Strong.cell(view::kernel_label(ledger, row)),
        Column::Contract => Cell::new(line.contract.map_or("", |row| &row.scheme)),
        Column::Lane => Cell::new(&row.lane),
        Column::IsaPath => Cell::new(text::one_line(&row.isa_path)),
        Column::Parameters => Cell::new(text::parameters(line.parameters())),
        Column::Inputs => Cell::new(text::count(line.inputs())),
        Column::Coverage => Cell::new(text::coverage(row.coverage)),
        Column::VsContract => against_contract(line),
        Column::VsReference => against_reference(ledger, line, "  "),
        Column::VsReferenceTall => against_reference(ledger, line, "\n"),
        Column::Class => Cell::new(line.reference.map_or(String::new(), classes)),
        Column::ClassName => Cell::new(line.reference.map_or(String::new(), class_names)),
        Column::Seconds => Ink::Faint.cell(text::seconds(line.seconds())),
    }
}

/// Number of deltas or classes that a cell names before it sums up the rest.
const MOST: usize = 2;

fn classes(row: &Row) -> String {
    text::classes(&row.classes, MOST, "other class").join("\n")
}

fn class_names(row: &Row) -> String {
    row.classes.keys().map(String::as_str).collect::<Vec<_>>().join("\n")
}

/// Meaning of the star next to `exact`.
pub(super) const FOOTNOTE: &str = "* deviates on some inputs, as the contract declares: see below";

/// True if a kernel is exact only with deviations that its contract declares.
pub(super) fn deviates(row: &Row) -> bool {
    row.differ == 0 && !row.deviations.is_empty()
}

fn against_contract(line: &Line<'_>) -> Cell {
    let Some(row) = line.contract else {
        return Ink::Faint.cell("-");
    };
    match row.differ {
        // No input was compared, so the kernel is neither right nor wrong.
        0 if row.inputs == 0 && row.out_of_domain > 0 => Ink::Bad.cell("not judged"),
        0 if row.inputs == 0 => Ink::Bad.cell("no output"),
        0 if deviates(row) => Ink::Good.cell("exact*"),
        0 => Ink::Good.cell("exact"),
        n => Ink::Bad.cell(format!("{} differ\n{}", text::count(n), classes(row))),
    }
}

fn against_reference(ledger: &Ledger, line: &Line<'_>, between: &str) -> Cell {
    let Some(row) = line.reference else {
        return Ink::Faint.cell("-");
    };
    let (text, ink) = match row.differ {
        0 if row.inputs == 0 => ("-".to_owned(), Ink::Faint),
        0 => ("equal".to_owned(), Ink::Plain),
        _ => (differences(row, between), Ink::Notable),
    };
    let text = match view::reference(ledger) {
        Some(_) => text,
        None => format!("{}\n{text}", row.scheme),
    };
    ink.cell(text)
}

/// Returns the differing inputs by delta, or only their sum if there are too many deltas (as after a wrap).
fn differences(row: &Row, between: &str) -> String {
    let deltas = text::deltas(&row.by_delta, MOST).join(between);
    match row.by_delta.len() {
        0 => format!("{} differ", text::count(row.differ)),
        n if n <= MOST => deltas,
        _ => format!("{} differ", text::count(row.differ)),
    }
}
