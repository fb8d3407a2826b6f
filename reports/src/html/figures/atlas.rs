//! Matrix of all pairs of schemes: a darker square has a larger share of accumulators that differ.

use super::chart::{Chart, HEIGHT, WIDTH, colour, font, inner, share};
use super::number;
use crate::ledger::Figure;
use crate::text;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// Largest number of schemes with readable squares.
const MOST: usize = 24;
/// Margin for the numbers of the rows and columns.
const EDGE: i32 = 30;
/// Smallest share with a visible colour.
const LEAST: f64 = 1e-6;

pub(super) fn draw(figure: &Figure) -> Option<Chart> {
    let places = ["left", "right", "inputs", "differ"].map(|name| figure.column(name));
    let [left, right, inputs, differ] = [places[0]?, places[1]?, places[2]?, places[3]?];
    let mut schemes: Vec<String> = Vec::new();
    let mut cells: Vec<(usize, usize, f64)> = Vec::new();
    for row in &figure.rows {
        let mut of = |place: usize| {
            let label = row.get(place)?.to_string();
            let known = schemes.iter().position(|known| *known == label);
            Some(known.unwrap_or_else(|| {
                schemes.push(label);
                schemes.len() - 1
            }))
        };
        let (Some(left), Some(right)) = (of(left), of(right)) else { continue };
        let value = |place: usize| row.get(place).and_then(number);
        if let (Some(inputs), Some(differ)) = (value(inputs), value(differ))
            && inputs > 0.0
        {
            cells.push((left, right, (differ / inputs).clamp(0.0, 1.0)));
        }
    }
    if schemes.len() < 2 || schemes.len() > MOST {
        return None;
    }
    let svg = squares(schemes.len(), &cells)?;
    let most = cells.iter().max_by(|a, b| a.2.total_cmp(&b.2))?;
    let alt = format!(
        "Every two of {} schemes, with the share of accumulators on which they differ. Most: {} and {}, {}.",
        schemes.len(),
        text::scheme(&schemes[most.0]),
        text::scheme(&schemes[most.1]),
        share(most.2)
    );
    let legend = schemes.iter().map(|label| text::one_line(label)).collect();
    Some(Chart { svg, alt: text::one_line(&alt), legend, numbered: true })
}

fn squares(n: usize, cells: &[(usize, usize, f64)]) -> Option<String> {
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, (WIDTH, HEIGHT)).into_drawing_area();
        let size = [(WIDTH as i32 - EDGE) / n as i32, (HEIGHT as i32 - EDGE) / n as i32];
        let corner = |column: usize, row: usize| (EDGE + column as i32 * size[0], EDGE + row as i32 * size[1]);
        let middle = |(x, y): (i32, i32)| (x + size[0] / 2, y + size[1] / 2);
        let words = |size: u32| font(size).pos(Pos::new(HPos::Center, VPos::Center));
        for i in 0..n {
            let (x, y) = middle(corner(i, i));
            let number = (i + 1).to_string();
            root.draw(&Text::new(number.clone(), (x, EDGE / 2), words(18))).ok()?;
            root.draw(&Text::new(number, (EDGE / 2, y), words(18))).ok()?;
        }
        let both = cells.iter().flat_map(|(a, b, rate)| [(*a, *b, *rate), (*b, *a, *rate)]);
        for (column, row, rate) in both {
            let at = corner(column, row);
            let square = [at, (at.0 + size[0] - 2, at.1 + size[1] - 2)];
            root.draw(&Rectangle::new(square, colour(0).mix(depth(rate)).filled())).ok()?;
            let says = if rate > 0.0 { brief(rate) } else { "0".to_owned() };
            root.draw(&Text::new(says, middle(at), words(if n > 9 { 12 } else { 15 }))).ok()?;
        }
        root.present().ok()?;
    }
    inner(&svg)
}

/// Returns the opacity of a share on a logarithmic scale, weak enough to keep the number readable.
fn depth(rate: f64) -> f64 {
    if rate < LEAST { 0.0 } else { 0.06 + 0.49 * (1.0 - rate.ln() / LEAST.ln()) }
}

/// Returns a share, short enough for a square: `20%`, `.2%`, `1e-7`.
fn brief(rate: f64) -> String {
    match rate {
        rate if rate >= 0.01 => format!("{:.0}%", rate * 100.0),
        rate if rate >= 0.0005 => format!("{:.1}%", rate * 100.0),
        rate => format!("{rate:.0e}"),
    }
}
