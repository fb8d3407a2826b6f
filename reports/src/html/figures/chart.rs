//! Shared parts of charts: size, marks and colours.
//!
//! Charts are drawn in placeholder colours; the style sheet gives each its value for light, dark and print.

use plotters::coord::ranged1d::{AsRangedCoord, Ranged, ValueFormatter};
use plotters::prelude::*;
use plotters::style::{FontDesc, FontFamily, FontStyle, TextStyle};

/// Size of a chart's coordinates. The page scales the chart to the available width.
pub(super) const WIDTH: u32 = 640;
pub(super) const HEIGHT: u32 = 400;
/// Number of distinct colours and marks; further series repeat them.
pub(super) const SERIES: usize = 8;

/// Placeholder colours, each with a name. The style sheet replaces them.
pub(super) const INK: RGBColor = RGBColor(1, 1, 1);
pub(super) const GRID: RGBColor = RGBColor(2, 2, 2);

/// Returns the colour of a series.
pub(super) fn colour(series: usize) -> RGBColor {
    RGBColor(3, (series % SERIES) as u8, 3)
}

/// Drawing of a figure.
#[derive(Default)]
pub(super) struct Chart {
    /// Content of an `svg` element.
    pub(super) svg: String,
    pub(super) alt: String,
    pub(super) legend: Vec<String>,
    /// True if the legend explains numbers of the axes instead of series.
    pub(super) numbered: bool,
}

/// Returns the text style of axes.
pub(super) fn font(size: u32) -> TextStyle<'static> {
    FontDesc::new(FontFamily::SansSerif, f64::from(size), FontStyle::Normal).color(&INK)
}

/// Area of a chart within its axes.
pub(super) type Area<'a, X, Y> = ChartContext<'a, SVGBackend<'a>, Cartesian2d<X, Y>>;

/// Draws axes with their units, then the content that `inside` draws. `None` if the library fails.
pub(super) fn draw<X, Y>(
    (x, x_says): (X, &str),
    (y, y_says): (Y, &str),
    x_text: &dyn Fn(&f64) -> String,
    y_text: &dyn Fn(&f64) -> String,
    inside: impl FnOnce(&mut Area<'_, X::CoordDescType, Y::CoordDescType>) -> Option<()>,
) -> Option<String>
where
    X: AsRangedCoord<Value = f64>,
    Y: AsRangedCoord<Value = f64>,
    X::CoordDescType: Ranged<ValueType = f64> + ValueFormatter<f64>,
    Y::CoordDescType: Ranged<ValueType = f64> + ValueFormatter<f64>,
{
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, (WIDTH, HEIGHT)).into_drawing_area();
        let mut chart = ChartBuilder::on(&root)
            .margin(6)
            .margin_right(18)
            .x_label_area_size(58)
            .y_label_area_size(88)
            .build_cartesian_2d(x, y)
            .ok()?;
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(GRID)
            .axis_style(INK)
            .label_style(font(18))
            .axis_desc_style(font(18))
            .x_desc(x_says)
            .y_desc(y_says)
            .x_labels(7)
            .y_labels(7)
            .x_label_formatter(&|value| x_text(value))
            .y_label_formatter(&|value| y_text(value))
            .draw()
            .ok()?;
        inside(&mut chart)?;
        root.present().ok()?;
    }
    inner(&svg)
}

/// Returns the content of the `svg` element of a document.
pub(super) fn inner(svg: &str) -> Option<String> {
    let (_, rest) = svg.split_once("<svg")?;
    let (_, rest) = rest.split_once('>')?;
    let (inner, _) = rest.rsplit_once("</svg>")?;
    // Full opacity is the default, so the attribute is redundant.
    Some(inner.trim().replace(" opacity=\"1\"", ""))
}

/// Draws the marks of a series. Series have different shapes, because colour alone does not distinguish them.
pub(super) fn mark<X, Y>(area: &mut Area<'_, X, Y>, series: usize, points: &[(f64, f64)]) -> Option<()>
where
    X: Ranged<ValueType = f64>,
    Y: Ranged<ValueType = f64>,
{
    let style = colour(series).filled();
    let open = colour(series).stroke_width(2);
    let points = points.iter().copied();
    match series % 4 {
        0 => area.draw_series(points.map(|at| Circle::new(at, 4, style))).ok().map(drop),
        1 => area.draw_series(points.map(|at| TriangleMarker::new(at, 6, style))).ok().map(drop),
        2 => area.draw_series(points.map(|at| Cross::new(at, 4, open))).ok().map(drop),
        _ => area.draw_series(points.map(|at| Circle::new(at, 4, open))).ok().map(drop),
    }
}

/// Draws a line through points.
pub(super) fn path<X, Y>(area: &mut Area<'_, X, Y>, points: Vec<(f64, f64)>, style: ShapeStyle) -> Option<()>
where
    X: Ranged<ValueType = f64>,
    Y: Ranged<ValueType = f64>,
{
    area.draw_series(LineSeries::new(points, style)).ok().map(drop)
}

/// Returns the smallest and the largest value; `None` unless two values differ.
pub(super) fn extent(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    let (lo, hi) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), v| (lo.min(v), hi.max(v)));
    (lo < hi && lo.is_finite() && hi.is_finite()).then_some((lo, hi))
}

/// Formats a share in few digits: `19.5 %`, `0.195 %`, `2e-10`.
pub(super) fn share(share: f64) -> String {
    match share {
        0.0 => "0".to_owned(),
        share if share >= 0.01 => format!("{:.1} %", share * 100.0),
        share if share >= 0.00001 => format!("{:.4} %", share * 100.0),
        share => format!("{share:.0e}"),
    }
}
