//! Figures of a page. Their numbers come from the ledger. A table beneath each figure and a CSV file next to the page have them, too.
//!
//! A ledger may be foreign. The drawing omits values that are not numbers; the table shows them.

mod atlas;
mod chart;
mod error;
mod line;
mod rate;
mod staircase;

use super::csv;
use super::operation::id;
use super::table::{Cell, Row, Table};
use crate::ledger::{Figure, FigureKind, Ledger, Value};
use crate::text;
use chart::{Chart, HEIGHT, WIDTH};
use indexmap::IndexMap;

/// Upper bound on the rows of a figure's table; the CSV file has every row. More rows would fill most of a page.
const ROWS: usize = 60;

/// Figure with its title, legend, table and file name.
pub(super) struct Drawn {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) says: String,
    /// Description of the drawing for readers who do not see it.
    pub(super) alt: String,
    /// Content of an `svg` element; `None` if the figure is only a table.
    pub(super) svg: Option<String>,
    pub(super) width: u32,
    pub(super) height: u32,
    /// Names of the series, in the order of their colours and marks.
    pub(super) legend: Vec<Series>,
    /// Schemes with the same numbers as another scheme.
    pub(super) same: Vec<String>,
    pub(super) csv: String,
    pub(super) table: Table,
    /// Number of rows of the figure; the table has the first of them.
    pub(super) rows: usize,
}

/// Entry of a legend.
pub(super) struct Series {
    pub(super) label: String,
    /// Index of the colour and mark; `None` if the entry is a number of an axis.
    pub(super) place: Option<usize>,
    pub(super) number: usize,
}

/// Returns the figures of an operation.
pub(super) fn of(ledger: &Ledger, op: &str) -> Vec<Drawn> {
    let all = ledger.figures.iter().enumerate();
    all.filter(|(_, figure)| figure.op == op).map(|(at, figure)| drawn(figure, at)).collect()
}

fn drawn(figure: &Figure, at: usize) -> Drawn {
    let chart = match figure.kind {
        FigureKind::RateByShift => rate::draw(figure),
        FigureKind::ErrorAroundTie => error::draw(figure),
        FigureKind::Staircase => staircase::draw(figure),
        FigureKind::DeltaByAccumulator => line::draw(figure),
        FigureKind::Atlas => atlas::draw(figure),
        FigureKind::CornerCases => None,
    };
    let Chart { svg, alt, legend, numbered } = chart.unwrap_or_default();
    let series = |(number, label): (usize, String)| Series {
        label,
        place: (!numbered).then_some(number % chart::SERIES),
        number: number + 1,
    };
    Drawn {
        id: format!("{}-{}", id(&figure.op), figure.kind.name()),
        title: text::one_line(&figure.title),
        says: text::one_line(&figure.says),
        alt,
        svg: Some(svg).filter(|svg| !svg.is_empty()),
        width: WIDTH,
        height: HEIGHT,
        legend: legend.into_iter().enumerate().map(series).collect(),
        same: figure.same.iter().map(|(first, rest)| same(first, rest)).collect(),
        csv: format!("{}/{}", csv::DIRECTORY, csv::name(figure.kind)),
        table: table(figure, at),
        rows: figure.rows.len(),
    }
}

fn same(first: &str, rest: &[String]) -> String {
    text::one_line(&format!("{first} also stands for {}", rest.join(", ")))
}

fn table(figure: &Figure, at: usize) -> Table {
    let heads: Vec<String> = figure.columns.iter().map(head).collect();
    let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
    let mut table = Table::new(&format!("{}-{}-table", id(&figure.op), figure.kind.name()), "", &heads);
    table.caption = format!("Numbers of {}: {}", figure.op, text::one_line(&figure.title));
    // A list has fixed labels, but these heads come from the ledger.
    table.is_list = false;
    for (i, head) in table.heads.iter_mut().enumerate() {
        let numbers = figure.rows.iter().filter_map(|row| row.get(i)).filter(|value| number(value).is_some()).count();
        head.is_number = numbers * 2 > figure.rows.len();
    }
    let row = |(i, row): (usize, &Vec<Value>)| Row {
        cells: row.iter().map(cell).collect(),
        from: format!("/figures/{at}/rows/{i}"),
        command: text::one_line(&figure.command_of(row)),
        ..Row::default()
    };
    table.rows = figure.rows.iter().enumerate().take(ROWS).map(row).collect();
    table
}

fn head(column: &crate::ledger::Column) -> String {
    let name = text::one_line(&column.name.replace('_', " "));
    if column.unit.is_empty() { name } else { format!("{name} ({})", text::one_line(&column.unit)) }
}

fn cell(value: &Value) -> Cell {
    match value {
        Value::Text(text) if text.contains('/') => {
            Cell::text(text).key(number(value).map_or(String::new(), |n| n.to_string()))
        }
        _ => Cell::text(value.to_string()),
    }
}

/// Parses a value as a number: an integer, a decimal, or a fraction.
fn number(value: &Value) -> Option<f64> {
    let n = match value {
        Value::Integer(n) => *n as f64,
        Value::Text(text) => match text.split_once('/') {
            Some((over, under)) => over.parse::<f64>().ok()? / under.parse::<f64>().ok()?,
            None => text.parse().ok()?,
        },
    };
    n.is_finite().then_some(n)
}

/// Groups the rows of a figure by the text of the first column, in order of first appearance, each row with the named columns as numbers.
fn by_first<const N: usize>(figure: &Figure, columns: [&str; N]) -> Vec<(String, Vec<[f64; N]>)> {
    let places = columns.map(|name| figure.column(name));
    let mut out: IndexMap<String, Vec<[f64; N]>> = IndexMap::new();
    for row in &figure.rows {
        let Some(first) = row.first() else { continue };
        let values = places.map(|place| place.and_then(|place| row.get(place)).and_then(number));
        if values.iter().any(Option::is_none) {
            continue;
        }
        out.entry(first.to_string()).or_default().push(values.map(Option::unwrap_or_default));
    }
    out.into_iter().collect()
}

/// Returns the labels of series as a legend shows them.
fn labels<T>(series: &[(String, T)]) -> Vec<String> {
    series.iter().map(|(label, _)| text::one_line(text::scheme(label))).collect()
}
