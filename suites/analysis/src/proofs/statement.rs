//! Verdicts of successive shifts as one statement: numbers that are `a * 2^(31-s) + b` at each shift of a run are written so.

use std::ops::RangeInclusive;
use tiebreak_oracle::proof::{Delta, Difference, Verdict, Witness};

/// What holds at each shift of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// The shifts.
    pub shifts: RangeInclusive<i32>,
    /// `identical`, `differ` or `unknown`.
    pub verdict: &'static str,
    /// Where and by how much they differ, one line for each set of products; otherwise what else is known.
    pub lines: Vec<String>,
    /// An input of the first shift that differs.
    pub witness: Option<Witness>,
}

/// The statements of one pair, from the verdicts of successive shifts.
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

/// Whether verdicts are one statement.
fn is_one(run: &[(i32, Verdict)]) -> bool {
    let kind = |verdict: &Verdict| match verdict {
        Verdict::Identical { same_domain } => (0, *same_domain, "", Vec::new()),
        Verdict::Differ { differences, complete, left, .. } => (
            1,
            *complete,
            if *left > 0 { "shifted" } else { "" },
            differences.iter().map(|d| (d.delta, d.lo == d.hi, d.bits == 0)).collect(),
        ),
        Verdict::Unknown { reason } => (2, false, *reason, Vec::new()),
    };
    let same = run.windows(2).all(|pair| kind(&pair[0].1) == kind(&pair[1].1));
    let sets =
        |verdict: &Verdict| if let Verdict::Differ { differences, .. } = verdict { differences.len() } else { 0 };
    same && (0..sets(&run[0].1)).all(|set| numbers(run, set).iter().all(|column| Form::of(column).is_some()))
}

fn difference(verdict: &Verdict, set: usize) -> (Difference, (i64, i64)) {
    match verdict {
        Verdict::Differ { differences, products, .. } => (differences[set], *products),
        _ => unreachable!("only differences have sets"),
    }
}

/// First residue, the one behind the last, first and last product of a set: each at every shift of a run.
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
        Verdict::Differ { differences, complete, left, witness, .. } => {
            let mut lines: Vec<String> = (0..differences.len()).map(|set| line(run, set)).collect();
            if *left > 0 {
                lines.push("p is the product of m and x shifted to the left, in the word".to_owned());
            }
            if !complete {
                lines.push(match lines.is_empty() {
                    true => "not in closed form".to_owned(),
                    false => "and where the left shift of x overflows, not in closed form".to_owned(),
                });
            }
            ("differ", lines, Some(*witness))
        }
    };
    Statement { shifts, verdict, lines, witness }
}

/// One set: `p mod 2^(31-s) in [2^(30-s)-2^30, 2^(30-s)): +1`.
fn line(run: &[(i32, Verdict)], set: usize) -> String {
    let (one, products) = difference(&run[0].1, set);
    let [first, behind, lo, hi] =
        numbers(run, set).map(|column| Form::of(&column).map_or_else(String::new, |form| form.text()));
    let delta = match one.delta {
        Delta::By(delta) => format!("{delta:+}"),
        Delta::Varies => "by varying amounts".to_owned(),
    };
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

fn modulus(run: &[(i32, Verdict)], set: usize) -> String {
    let bits = |(s, verdict): &(i32, Verdict)| (*s, difference(verdict, set).0.bits as i32);
    let ((s, first), (_, last)) = (bits(&run[0]), bits(&run[run.len() - 1]));
    if run.len() > 1 && first != last { format!("2^({}-s)", first + s) } else { format!("2^{first}") }
}

/// A number at each shift of a run: `quarters/4 * 2^(31-s) + rest`, or the one number of a single shift.
struct Form {
    quarters: i128,
    rest: i128,
}

impl Form {
    fn of(column: &[(i32, i128)]) -> Option<Self> {
        let [(s, a), (_, b), ..] = column else { return column.first().map(|(_, a)| Self { quarters: 0, rest: *a }) };
        // Half of it: what is behind the next shift.
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

/// A number as a sum of at most two powers of two, if it is one and long.
fn sum(n: i128) -> String {
    const SHORT: i128 = 1 << 16;
    let plain = n.to_string();
    if n.abs() < SHORT {
        return plain;
    }
    let (sign, n) = (if n < 0 { "-" } else { "" }, n.abs());
    let opposite = if sign.is_empty() { "-" } else { "+" };
    let above = n.count_ones() == 1;
    let next = (n as u128).next_power_of_two() as i128;
    match next - n {
        _ if above => format!("{sign}2^{}", n.trailing_zeros()),
        less if less.count_ones() == 1 && less < SHORT => format!("{sign}2^{}{opposite}{less}", next.trailing_zeros()),
        less if less.count_ones() == 1 => {
            format!("{sign}2^{}{opposite}2^{}", next.trailing_zeros(), less.trailing_zeros())
        }
        _ => plain,
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
        let texts =
            [5, 1 << 30, -(1 << 31), (1 << 62) - (1 << 31), -(1 << 62) + (1 << 31), (1 << 40) - 1, 1 << 16, 1_000_003]
                .map(sum);
        assert_eq!(texts, ["5", "2^30", "-2^31", "2^62-2^31", "-2^62+2^31", "2^40-1", "2^16", "1000003"]);
    }
}
