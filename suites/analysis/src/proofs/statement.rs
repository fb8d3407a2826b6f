//! Statements for a run of successive shifts. Numbers of the verdicts that are `a * 2^(31-s) + b` at each shift of the run are written in this form.

use std::ops::RangeInclusive;
use tiebreak_oracle::proof::{Delta, Difference, Extent, Verdict, Witness};

/// Statement that holds at each shift of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// Shifts of the run.
    pub shifts: RangeInclusive<i32>,
    /// `identical`, `differ` or `unknown`.
    pub verdict: &'static str,
    /// Sets of products with their differences, one a line; for other verdicts, further facts.
    pub lines: Vec<String>,
    /// Input with a difference at the first shift.
    pub witness: Option<Witness>,
}

/// Returns the statements about one pair, from the verdicts of successive shifts.
pub fn statements(verdicts: &[(i32, Verdict)]) -> Vec<Statement> {
    let mut runs: Vec<&[(i32, Verdict)]> = Vec::new();
    let mut from = 0;
    for at in 1..=verdicts.len() {
        if at == verdicts.len() || !is_one(&verdicts[from..=at]) {
            runs.push(&verdicts[from..at]);
            from = at;
        }
    }
    runs.into_iter().filter(|run| !run.is_empty()).map(statement).collect()
}

/// True if verdicts form one statement.
fn is_one(run: &[(i32, Verdict)]) -> bool {
    let same = run.windows(2).all(|pair| are_alike(&pair[0].1, &pair[1].1));
    let sets = match &run[0].1 {
        Verdict::Differ { differences, .. } => differences.len(),
        _ => 0,
    };
    same && (0..sets).all(|set| numbers(run, set).iter().all(|column| Form::of(column).is_some()))
}

/// True if two verdicts differ only in the numbers of their sets.
fn are_alike(a: &Verdict, b: &Verdict) -> bool {
    match (a, b) {
        (
            Verdict::Differ { differences: a, extent, left, .. },
            Verdict::Differ { differences: b, extent: other, left: other_left, .. },
        ) => {
            // The difference of results at a single product may depend on the shift.
            let shape =
                |d: &Difference| (if d.lo == d.hi { Delta::Varies } else { d.delta }, d.lo == d.hi, d.bits == 0);
            let sets = a.len() == b.len() && a.iter().zip(b).all(|(a, b)| shape(a) == shape(b));
            sets && extent == other && (*left > 0) == (*other_left > 0)
        }
        (Verdict::Differ { .. }, _) | (_, Verdict::Differ { .. }) => false,
        (a, b) => a == b,
    }
}

fn difference(verdict: &Verdict, set: usize) -> (Difference, (i64, i64)) {
    match verdict {
        Verdict::Differ { differences, products, .. } => (differences[set], *products),
        _ => unreachable!("only differences have sets"),
    }
}

/// Returns first residue, last residue plus 1, first product and last product of a set, each at every shift of a run.
fn numbers(run: &[(i32, Verdict)], set: usize) -> [Vec<(i32, i128)>; 4] {
    let column = |of: fn(&Difference) -> i128| {
        run.iter().map(|(s, verdict)| (*s, of(&difference(verdict, set).0))).collect::<Vec<_>>()
    };
    [column(|d| d.first.into()), column(|d| i128::from(d.last) + 1), column(|d| d.lo.into()), column(|d| d.hi.into())]
}

fn statement(run: &[(i32, Verdict)]) -> Statement {
    let shifts = run[0].0..=run[run.len() - 1].0;
    let (verdict, lines, witness) = match &run[0].1 {
        Verdict::Identical { same_domain: true } => {
            ("identical", vec!["for all x and m, domains included".to_owned()], None)
        }
        Verdict::Identical { same_domain: false } => {
            ("identical", vec!["for all x and m where both have a value".to_owned()], None)
        }
        Verdict::Unknown { reason } => ("unknown", vec![(*reason).to_owned()], None),
        Verdict::Differ { differences, extent, left, witness, .. } => {
            let mut lines: Vec<String> = (0..differences.len()).map(|set| line(run, set)).collect();
            if *left > 0 {
                lines.push("p is the product of m and x shifted to the left, in the word".to_owned());
            }
            lines.extend(match extent {
                Extent::All => None,
                Extent::WithoutOverflow if lines.is_empty() => {
                    Some("only where the left shift of x overflows".to_owned())
                }
                Extent::WithoutOverflow => Some("and where the left shift of x overflows".to_owned()),
                Extent::Nothing => Some("not in closed form".to_owned()),
            });
            ("differ", lines, Some(*witness))
        }
    };
    Statement { shifts, verdict, lines, witness }
}

/// Formats one set: `p mod 2^(31-s) in [2^(30-s)-2^30, 2^(30-s)): +1`.
fn line(run: &[(i32, Verdict)], set: usize) -> String {
    let (one, products) = difference(&run[0].1, set);
    let [first, behind, lo, hi] =
        numbers(run, set).map(|column| Form::of(&column).map_or_else(String::new, |form| form.text()));
    let delta = delta(one.delta, difference(&run[run.len() - 1].1, set).0.delta);
    let interval = match (one.lo == products.0, one.hi >= products.1) {
        _ if one.lo == one.hi => Some(format!("p = {lo}")),
        (true, true) => None,
        (true, false) if one.hi == -1 => Some("p < 0".to_owned()),
        (true, false) => Some(format!("p <= {hi}")),
        (false, true) => Some(format!("p >= {lo}")),
        (false, false) => Some(format!("{lo} <= p <= {hi}")),
    };
    let residues = (one.bits > 0).then(|| {
        let modulus = modulus(run, set);
        if one.first == one.last {
            format!("p mod {modulus} = {first}")
        } else {
            format!("p mod {modulus} in [{first}, {behind})")
        }
    });
    let place: Vec<String> = residues.into_iter().chain(interval).collect();
    if place.is_empty() { format!("every p: {delta}") } else { format!("{}: {delta}", place.join(", ")) }
}

/// Formats the differences at the first and the last shift of a run.
fn delta(first: Delta, last: Delta) -> String {
    match (first, last) {
        (Delta::By(first), Delta::By(last)) if first == last => format!("{first:+}"),
        (Delta::By(first), Delta::By(last)) => format!("{first:+} to {last:+}"),
        _ => "by varying amounts".to_owned(),
    }
}

fn modulus(run: &[(i32, Verdict)], set: usize) -> String {
    let bits = |(s, verdict): &(i32, Verdict)| (*s, difference(verdict, set).0.bits as i32);
    let ((s, first), (_, last)) = (bits(&run[0]), bits(&run[run.len() - 1]));
    if run.len() > 1 && first != last { format!("2^({}-s)", first + s) } else { format!("2^{first}") }
}

/// Number at each shift of a run: `quarters/4 * 2^(31-s) + rest`; for a single shift, the number itself.
struct Form {
    quarters: i128,
    rest: i128,
}

impl Form {
    fn of(column: &[(i32, i128)]) -> Option<Self> {
        let [(s, a), (_, b), ..] = column else { return column.first().map(|(_, a)| Self { quarters: 0, rest: *a }) };
        // Difference of the powers at this shift and the next.
        let step = power(*s) / 2;
        let quarters = (4 * (a - b)).checked_div(step).filter(|q| q * step == 4 * (a - b))?;
        let rest = a - quarters * power(*s) / 4;
        column.iter().all(|(s, v)| 4 * v == quarters * power(*s) + 4 * rest).then_some(Self { quarters, rest })
    }

    fn text(&self) -> String {
        let whole = match self.quarters {
            0 => return sum(self.rest),
            q if q > 0 && q.count_ones() == 1 => format!("2^({}-s)", 29 + q.trailing_zeros()),
            q if q < 0 && (-q).count_ones() == 1 => format!("-2^({}-s)", 29 + (-q).trailing_zeros()),
            q => format!("{q}*2^(29-s)"),
        };
        match self.rest {
            0 => whole,
            rest if rest > 0 => format!("{whole}+{}", sum(rest)),
            rest => format!("{whole}{}", sum(rest)),
        }
    }
}

fn power(s: i32) -> i128 {
    1 << (31 - s)
}

/// Formats a long number as a sum of at most two powers of two, if possible.
fn sum(n: i128) -> String {
    const SHORT: u128 = 1 << 16;
    let (sign, n) = (if n < 0 { "-" } else { "" }, n.unsigned_abs());
    if n < SHORT {
        return format!("{sign}{n}");
    }
    let (plus, minus) = if sign.is_empty() { ("+", "-") } else { ("-", "+") };
    let power = |n: u128| if n < SHORT { n.to_string() } else { format!("2^{}", n.trailing_zeros()) };
    let below = 1 << n.ilog2();
    match (n - below, 2 * below - n) {
        (0, _) => format!("{sign}{}", power(n)),
        (more, _) if more.is_power_of_two() => format!("{sign}{}{plus}{}", power(below), power(more)),
        (_, less) if less.is_power_of_two() => format!("{sign}{}{minus}{}", power(2 * below), power(less)),
        _ => format!("{sign}{n}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tiebreak_oracle::fpm::{Parameters, Scheme};
    use tiebreak_oracle::proof::prove;

    fn said(
        left: &str,
        right: &str,
        shifts: RangeInclusive<i32>,
    ) -> Vec<(RangeInclusive<i32>, &'static str, Vec<String>)> {
        let scheme = |name| Scheme::parse(name).expect("a scheme");
        let verdict = |s| (s, prove(&scheme(left), &scheme(right), &Parameters::q31(0, s)));
        let verdicts: Vec<_> = shifts.map(verdict).collect();
        statements(&verdicts).into_iter().map(|s| (s.shifts, s.verdict, s.lines)).collect()
    }

    #[test]
    fn double_rounding_is_one_statement() {
        let of = |line: &str| vec![line.to_owned()];
        assert_eq!(
            said("ties-up", "sqrdmulh-srshl", -31..=0),
            [
                (-31..=-1, "differ", of("p mod 2^(31-s) in [2^(30-s)-2^30, 2^(30-s)): +1")),
                (0..=0, "identical", of("for all x and m where both have a value")),
            ]
        );
    }

    #[test]
    fn numbers_as_powers_of_two() {
        let texts = [
            5,
            1 << 30,
            -(1 << 31),
            (1 << 62) - (1 << 31),
            -(1 << 62) + (1 << 31),
            (1 << 40) - 1,
            1 << 16,
            -(1 << 30) - 1,
            1_000_003,
        ]
        .map(sum);
        assert_eq!(texts, ["5", "2^30", "-2^31", "2^62-2^31", "-2^62+2^31", "2^40-1", "2^16", "-2^30-1", "1000003"]);
    }
}
