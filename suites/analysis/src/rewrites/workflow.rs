//! Examples of the RFC's "Workflow example" and "Common subexpression elimination": the program lowered op by op, and the program after
//! canonicalization or elimination.

use super::expr::{Expr, Machine, Value};
use super::{Claim, Coverage, RfcStatement, Tally, schemes};
use anyhow::{Context, Result};
use indicatif::ProgressBar;
use std::cmp::Ordering;
use std::ops::RangeInclusive;
use tiebreak_oracle::Rational;
use tiebreak_oracle::arithmetic::Arithmetic::{Add, Divide, Multiply, Remainder};
use tiebreak_oracle::float::Float;
use tiebreak_oracle::quantize::{Quantization, Stored};

/// Program before and after a rewrite.
struct Example {
    rewrite: &'static str,
    said: RfcStatement,
    before: Expr,
    after: Expr,
}

/// Returns `@multiply_add`, whose product is quantized and dequantized again, and `@division`, whose arguments are dequantized twice.
fn examples() -> Vec<Example> {
    let argument = |i| Expr::Input(i).dcast();
    let product = argument(0).op(Multiply, argument(1)).qcast();
    let multiply_add = product.dcast().op(Add, argument(2)).qcast();
    // Elimination shares the dequantized arguments. Each result has the same expression, evaluated once less.
    let shared = |op| argument(0).op(op, argument(1)).qcast();
    let division =
        |rewrite, op| Example { rewrite, said: RfcStatement::Same, before: shared(op), after: shared(op).folded() };
    vec![
        Example {
            rewrite: "multiply_add without the cast pair",
            said: RfcStatement::Slight,
            after: multiply_add.clone().folded(),
            before: multiply_add,
        },
        division("division, quotient, after CSE", Divide),
        division("division, remainder, after CSE", Remainder),
    ]
}

/// Measures each example with the channels of one type, on every input. The storage has at most 8 bits.
pub(super) fn claims(name: &str, channels: &[Quantization], bar: &ProgressBar) -> Result<Vec<Claim>> {
    bar.inc_length((examples().len() * channels.len()) as u64);
    let (qcast, dcast) = schemes()?;
    let claim = |example: &Example| {
        let mut tally = Tally::default();
        let mut nearest = None;
        for channel in channels {
            let machine = Machine { channel: *channel, qcast, dcast };
            add(&mut tally, &machine, example, &(channel.min..=channel.max), &mut nearest)?;
            bar.inc(1);
        }
        let witness = tally.nearest.take();
        let claim = Claim::new(example.rewrite, name, example.said, Coverage::Exhaustive, &tally, witness);
        Ok(match nearest {
            Some((_, side)) => claim.nearer(side),
            None => claim,
        })
    };
    examples().iter().map(claim).collect()
}

/// Order of the witness so far, and its side that is nearer to the real value.
type Witness = Option<((u64, i64, i64, i64), &'static str)>;

fn add(
    tally: &mut Tally,
    machine: &Machine,
    example: &Example,
    stored: &RangeInclusive<i64>,
    nearest: &mut Witness,
) -> Result<()> {
    let joints = machine.both(&example.before, &example.after, stored);
    let joints = joints.with_context(|| format!("{}: the programs differ in more than casts", example.rewrite))?;
    for joint in &joints {
        let (Value::Stored(Stored::Value(before)), Value::Stored(Stored::Value(after))) = (joint.left, joint.right)
        else {
            tally.undefined(joint.inputs);
            continue;
        };
        let [a, b, c] = joint.first;
        let far = a.unsigned_abs() + b.unsigned_abs() + c.unsigned_abs();
        let described =
            || format!("{}: ({a}, {b}, {c}): {before} before, {after} after", super::scale_of(&machine.channel));
        let at = (far, a, b, c);
        if before != after && nearest.as_ref().is_none_or(|(known, _)| at < *known) {
            *nearest = Some((at, nearer(&machine.channel, joint.first, [before, after])));
        }
        tally.stored(joint.inputs, before, after, at, described);
    }
    Ok(())
}

/// Returns the side whose stored value is nearer to the real sum, `(a - z) * (b - z) * scale + (c - z) + z`. Only the results of `multiply_add` can
/// differ, because both sides of the other examples are one expression.
fn nearer(channel: &Quantization, [a, b, c]: [i64; 3], [before, after]: [i64; 2]) -> &'static str {
    let Float::Finite { value: scale, .. } = channel.format.decode(channel.scale) else { return "neither" };
    let z = channel.zero_point;
    let real = Rational::from((a - z) * (b - z)) * scale + c;
    let distance = |stored: i64| Rational::from(&real - stored).abs();
    match distance(before).cmp(&distance(after)) {
        Ordering::Less => "before",
        Ordering::Greater => "after",
        Ordering::Equal => "neither",
    }
}
