//! Instructions with a value, and functions without a body in the module.

use super::arithmetic::{self, Computed};
use super::execute::{Executor, Path};
use super::intrinsics;
use super::term::{Op, Term, Terms};
use super::text::{Cursor, Type, name, tokens};
use super::value::{Lane, Pointer, Value};
use super::x86;
use anyhow::{Context, Result, bail};

const FLAGS: [&str; 6] = ["nuw", "nsw", "exact", "disjoint", "nneg", "samesign"];

/// Executes an instruction that is no call and ends no block, and returns its value; `None` for a store.
pub(super) fn value(e: &mut Executor<'_>, path: &mut Path, op: &str, at: &mut Cursor<'_>) -> Result<Option<Value>> {
    let flags = at.flags(&FLAGS);
    match op {
        "alloca" => Ok(Some(e.object())),
        "landingpad" => Ok(Some(Value::Nothing)),
        "store" => store(e, path, at).map(|()| None),
        "load" => load(e, path, at).map(Some),
        "getelementptr" => address(e, path, at).map(Some),
        "phi" => phis(e, path, at).map(Some),
        "icmp" => compare(e, path, &flags, at).map(Some),
        "select" => select(e, path, at).map(Some),
        "freeze" => freeze(e, path, at).map(Some),
        "trunc" | "zext" | "sext" => convert(e, path, op, &flags, at).map(Some),
        "bitcast" => bitcast(e, path, at).map(Some),
        "extractelement" => {
            let (lanes, index) = (e.argument(path, at)?.1, second(e, path, at)?);
            Ok(Some(Value::Lanes(vec![*lanes.lanes()?.get(index).context("a lane outside of its vector")?])))
        }
        "insertelement" => {
            let mut lanes = e.argument(path, at)?.1.lanes()?.to_vec();
            at.expect(",")?;
            let lane = e.argument(path, at)?.1.scalar()?;
            *lanes.get_mut(second(e, path, at)?).context("a lane outside of its vector")? = lane;
            Ok(Some(Value::Lanes(lanes)))
        }
        "shufflevector" => shuffle(e, path, at).map(Some),
        _ => binary(e, path, op, &flags, at).map(Some),
    }
}

/// Parses the constant `, i64 N`.
fn second(e: &mut Executor<'_>, path: &Path, at: &mut Cursor<'_>) -> Result<usize> {
    at.expect(",")?;
    let index = e.argument(path, at)?.1.constant(e.terms)?;
    Ok(usize::try_from(index)?)
}

/// Parses the second operand of an instruction whose operands have one type.
fn same_type(e: &mut Executor<'_>, path: &Path, of: Type, at: &mut Cursor<'_>) -> Result<Value> {
    at.expect(",")?;
    let operand = at.operand()?;
    e.operand(path, of, &operand)
}

fn binary(e: &mut Executor<'_>, path: &Path, op: &str, flags: &[&str], at: &mut Cursor<'_>) -> Result<Value> {
    const KNOWN: [&str; 13] =
        ["add", "sub", "mul", "shl", "lshr", "ashr", "and", "or", "xor", "sdiv", "srem", "udiv", "urem"];
    if !KNOWN.contains(&op) {
        bail!("the instruction `{op}` is not known");
    }
    let (of, a) = e.argument(path, at)?;
    let b = same_type(e, path, of, at)?;
    let mut lanes = Vec::new();
    for (a, b) in a.lanes()?.iter().zip(b.lanes()?) {
        let computed = arithmetic::binary(e.terms, op, flags, *a, *b);
        let Some(Computed { lane, undefined }) = computed else { bail!("the instruction `{op}` is not known") };
        e.undefined(path, undefined);
        lanes.push(lane);
    }
    Ok(Value::Lanes(lanes))
}

fn compare(e: &mut Executor<'_>, path: &Path, flags: &[&str], at: &mut Cursor<'_>) -> Result<Value> {
    let mut flags = flags.to_vec();
    let predicate = at.next();
    flags.extend(at.flags(&FLAGS));
    let (of, a) = e.argument(path, at)?;
    let b = same_type(e, path, of, at)?;
    if of == Type::Pointer {
        return pointers(e.terms, predicate, a.pointer()?, b.pointer()?);
    }
    let mut lanes = Vec::new();
    for (a, b) in a.lanes()?.iter().zip(b.lanes()?) {
        let t = &mut *e.terms;
        let term = arithmetic::compare(t, predicate, a.term, b.term)?;
        let mut poison = t.binary(Op::Or, a.poison, b.poison);
        if flags.contains(&"samesign") {
            let top = t.width(a.term) - 1;
            let (sa, sb) = (t.extract(a.term, top, 1), t.extract(b.term, top, 1));
            let breach = t.binary(Op::Xor, sa, sb);
            poison = t.binary(Op::Or, poison, breach);
        }
        lanes.push(Lane { term, poison });
    }
    Ok(Value::Lanes(lanes))
}

/// Compares two addresses. Addresses in one object compare by offset. Addresses in different objects are unequal, and have no order.
fn pointers(t: &mut Terms, predicate: &str, a: Pointer, b: Pointer) -> Result<Value> {
    let truth = match (predicate, a.object == b.object) {
        ("eq", _) => a == b,
        ("ne", _) => a != b,
        ("ult" | "slt", true) => a.offset < b.offset,
        ("ugt" | "sgt", true) => a.offset > b.offset,
        ("ule" | "sle", true) => a.offset <= b.offset,
        ("uge" | "sge", true) => a.offset >= b.offset,
        _ => bail!("the order of two objects in memory is not known"),
    };
    let (term, poison) = (t.truth(truth), t.truth(false));
    Ok(Value::Lanes(vec![Lane { term, poison }]))
}

fn select(e: &mut Executor<'_>, path: &Path, at: &mut Cursor<'_>) -> Result<Value> {
    let condition = e.argument(path, at)?.1.lanes()?.to_vec();
    at.expect(",")?;
    let (_, then) = e.argument(path, at)?;
    at.expect(",")?;
    let (_, other) = e.argument(path, at)?;
    if let (Value::Pointer(_), [only]) = (&then, condition.as_slice()) {
        return match e.terms.value(only.term) {
            Some(truth) => Ok(if truth == 1 { then } else { other }),
            None => bail!("a choice between addresses by the input is not known"),
        };
    }
    let t = &mut *e.terms;
    let (then, other) = (then.lanes()?, other.lanes()?);
    let lane = |n: usize| {
        let c = if condition.len() == 1 { condition[0] } else { condition[n] };
        let term = t.choose(c.term, then[n].term, other[n].term);
        let chosen = t.choose(c.term, then[n].poison, other[n].poison);
        Lane { term, poison: t.binary(Op::Or, c.poison, chosen) }
    };
    Ok(Value::Lanes((0..then.len()).map(lane).collect()))
}

/// Replaces poison by a free variable, so that a proof holds for all its values.
fn freeze(e: &mut Executor<'_>, path: &Path, at: &mut Cursor<'_>) -> Result<Value> {
    let (_, value) = e.argument(path, at)?;
    if matches!(value, Value::Pointer(_)) {
        return Ok(value);
    }
    let t = &mut *e.terms;
    let lane = |lane: &Lane| {
        let name = format!("frozen{}", Terms::position(lane.term));
        let free = match t.value(lane.poison) {
            Some(0) => lane.term,
            _ => t.variable(&name, t.width(lane.term)),
        };
        Lane { term: t.choose(lane.poison, free, lane.term), poison: t.truth(false) }
    };
    Ok(Value::Lanes(value.lanes()?.iter().map(lane).collect()))
}

fn convert(e: &mut Executor<'_>, path: &Path, op: &str, flags: &[&str], at: &mut Cursor<'_>) -> Result<Value> {
    let (_, value) = e.argument(path, at)?;
    at.expect("to")?;
    let width = at.r#type()?.bits()?;
    let t = &mut *e.terms;
    let lane = |lane: &Lane| {
        let (term, breach) = arithmetic::convert(t, op, flags, lane.term, width);
        Lane { term, poison: t.binary(Op::Or, lane.poison, breach) }
    };
    Ok(Value::Lanes(value.lanes()?.iter().map(lane).collect()))
}

/// Returns the same bits in other lanes, the first lane lowest.
fn bitcast(e: &mut Executor<'_>, path: &Path, at: &mut Cursor<'_>) -> Result<Value> {
    let (from, value) = e.argument(path, at)?;
    at.expect("to")?;
    let to = at.r#type()?;
    let (narrow, wide) = (from.bits()?, to.bits()?);
    let t = &mut *e.terms;
    let mut lanes = Vec::new();
    if narrow >= wide && narrow % wide == 0 {
        for lane in value.lanes()? {
            for part in 0..narrow / wide {
                lanes.push(Lane { term: t.extract(lane.term, part * wide, wide), poison: lane.poison });
            }
        }
    } else if wide % narrow == 0 {
        for group in value.lanes()?.chunks((wide / narrow) as usize) {
            let mut sum = Lane { term: t.constant(0, wide), poison: t.truth(false) };
            for (n, lane) in group.iter().enumerate() {
                let (part, by) = (t.extend(lane.term, wide, false), t.constant(i128::from(narrow) * n as i128, wide));
                let placed = t.binary(Op::Shl, part, by);
                sum.term = t.binary(Op::Or, sum.term, placed);
                sum.poison = t.binary(Op::Or, sum.poison, lane.poison);
            }
            lanes.push(sum);
        }
    } else {
        bail!("a bitcast from {from} to {to} is not known");
    }
    Ok(Value::Lanes(lanes))
}

fn shuffle(e: &mut Executor<'_>, path: &Path, at: &mut Cursor<'_>) -> Result<Value> {
    let mut lanes = e.argument(path, at)?.1.lanes()?.to_vec();
    at.expect(",")?;
    lanes.extend_from_slice(e.argument(path, at)?.1.lanes()?);
    at.expect(",")?;
    let chosen = e.argument(path, at)?.1;
    let t = &mut *e.terms;
    let lane = |index: &Lane| match (t.value(index.poison), t.value(index.term)) {
        (Some(0), Some(index)) => lanes.get(index as usize).copied().context("a lane outside of its vectors"),
        _ => Ok(Lane { term: t.constant(0, t.width(lanes[0].term)), poison: t.truth(true) }),
    };
    Ok(Value::Lanes(chosen.lanes()?.iter().map(lane).collect::<Result<_>>()?))
}

/// Executes all phi instructions of a block: each takes the value for the block from which the path comes.
fn phis(e: &mut Executor<'_>, path: &mut Path, at: &mut Cursor<'_>) -> Result<Value> {
    let first = incoming(e, path, at)?;
    let rest = path.lines_of_phi();
    let mut named = Vec::new();
    for line in &rest {
        let all = tokens(line);
        let mut at = Cursor::new(&all);
        let result = name(at.next());
        at.expect("=")?;
        at.expect("phi")?;
        named.push((result, incoming(e, path, &mut at)?));
    }
    path.skip(rest.len());
    named.into_iter().for_each(|(name, value)| path.set(name, value));
    Ok(first)
}

fn incoming(e: &mut Executor<'_>, path: &Path, at: &mut Cursor<'_>) -> Result<Value> {
    let of = at.r#type()?;
    while at.take("[") {
        let operand = at.operand()?;
        at.expect(",")?;
        let label = name(at.next());
        at.expect("]")?;
        at.take(",");
        if label == path.from() {
            return e.operand(path, of, &operand);
        }
    }
    bail!("a phi has no value for block %{}", path.from())
}

fn store(e: &mut Executor<'_>, path: &mut Path, at: &mut Cursor<'_>) -> Result<()> {
    plain(at)?;
    let (_, value) = e.argument(path, at)?;
    at.expect(",")?;
    let to = object(e.argument(path, at)?.1.pointer()?)?;
    path.memory.store(e.terms, to, &value)
}

fn load(e: &mut Executor<'_>, path: &mut Path, at: &mut Cursor<'_>) -> Result<Value> {
    plain(at)?;
    let of = at.r#type()?;
    at.expect(",")?;
    let from = object(e.argument(path, at)?.1.pointer()?)?;
    if of == Type::Pointer {
        return path.memory.pointer(from).map(Value::Pointer);
    }
    let bits = of.bits()?;
    let lane = |n: usize| {
        let offset = from.offset + n as i64 * i64::from(bits / 8);
        path.memory.load(e.terms, Pointer { offset, ..from }, bits)
    };
    Ok(Value::Lanes((0..of.lanes()).map(lane).collect::<Result<_>>()?))
}

fn plain(at: &Cursor<'_>) -> Result<()> {
    match at.peek() {
        kind @ ("volatile" | "atomic") => bail!("{kind} memory is not known"),
        _ => Ok(()),
    }
}

/// Returns an address if accesses to it are allowed.
fn object(pointer: Pointer) -> Result<Pointer> {
    match pointer.object {
        0 | usize::MAX => bail!("memory outside of the function is not known"),
        _ => Ok(pointer),
    }
}

fn address(e: &mut Executor<'_>, path: &Path, at: &mut Cursor<'_>) -> Result<Value> {
    at.flags(&["inbounds", "nuw", "nusw"]);
    let (bytes, aggregate) = size(at)?;
    at.expect(",")?;
    let mut pointer = e.argument(path, at)?.1.pointer()?;
    at.expect(",")?;
    let index = e.argument(path, at)?.1.constant(e.terms)?;
    pointer.offset += index * bytes;
    if at.take(",") {
        let Some(element) = aggregate else { bail!("an address within a structure is not known") };
        pointer.offset += e.argument(path, at)?.1.constant(e.terms)? * element;
    }
    Ok(Value::Pointer(pointer))
}

/// Returns the size of a type in bytes, and of its elements if it is an array.
fn size(at: &mut Cursor<'_>) -> Result<(i64, Option<i64>)> {
    if at.take("[") {
        let count: i64 = at.next().parse().context("the length of an array")?;
        at.expect("x")?;
        let (element, _) = size(at)?;
        at.expect("]")?;
        return Ok((count * element, Some(element)));
    }
    Ok(match at.r#type()? {
        Type::Pointer => (8, None),
        of => (i64::from(of.bits()?) / 8 * of.lanes() as i64, None),
    })
}

/// Returns a value with the promise of a `range` attribute: outside of the range, it is poison.
pub(super) fn in_range(t: &mut Terms, value: Value, range: Option<(i128, i128)>) -> Result<Value> {
    let Some((low, high)) = range else { return Ok(value) };
    let mut lane = value.scalar()?;
    let width = t.width(lane.term);
    let (low, high) = (t.constant(low, width), t.constant(high, width));
    // `low..high` modulo the width: the distance from `low` is smaller than the distance of `high` from `low`.
    let (from, length) = (t.binary(Op::Sub, lane.term, low), t.binary(Op::Sub, high, low));
    let inside = t.binary(Op::UnsignedLess, from, length);
    let outside = t.not(inside);
    lane.poison = t.binary(Op::Or, lane.poison, outside);
    Ok(Value::Lanes(vec![lane]))
}

/// Calls a function without a body in the module; `None` if it returns no value.
pub(super) fn called(
    e: &mut Executor<'_>,
    path: &mut Path,
    name: &str,
    of: Type,
    values: &[(Type, Value)],
) -> Result<Option<Value>> {
    const SILENT: [&str; 4] =
        ["llvm.lifetime.", "llvm.experimental.noalias.scope.decl", "llvm.dbg.", "llvm.invariant."];
    if SILENT.iter().any(|silent| name.starts_with(silent)) || name.contains("__rust_no_alloc_shim_is_unstable") {
        return Ok(None);
    }
    if name.ends_with("___rust_dealloc") {
        return Ok(None);
    }
    // Memory of the allocator. A failed allocation is outside of the proof.
    if name.ends_with("___rust_alloc") {
        return Ok(Some(e.object()));
    }
    if let Some(kind) = ["llvm.memcpy.", "llvm.memmove.", "llvm.memset."].iter().find(|kind| name.starts_with(**kind)) {
        return block(e, path, kind, values).map(|()| None);
    }
    if name == "llvm.assume" {
        let lane = values[0].1.scalar()?;
        let broken = e.terms.not(lane.term);
        let broken = e.terms.binary(Op::Or, broken, lane.poison);
        e.undefined(path, broken);
        return Ok(None);
    }
    if let Some(value) = x86::called(e.terms, name, values)? {
        return Ok(Some(value));
    }
    let known = name.strip_prefix("llvm.").map(|rest| (rest.strip_prefix("aarch64.neon."), rest));
    let value = match known {
        Some((Some(neon), _)) => each(e.terms, of, values, |t, lanes, width| neon_lane(t, stem(neon), lanes, width))?,
        Some((None, rest)) => each(e.terms, of, values, |t, lanes, _| intrinsics::generic(t, stem(rest), lanes))?,
        None => None,
    };
    match value {
        Some(value) => Ok(Some(value)),
        None => bail!("the function `{name}` is not known"),
    }
}

/// Returns the name without its types: `sadd.sat` for `sadd.sat.v4i32`.
fn stem(name: &str) -> &str {
    let typed = |part: &str| {
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        let integer = |text: &str| text.strip_prefix('i').is_some_and(digits);
        integer(part)
            || part.strip_prefix('v').and_then(|rest| rest.split_once('i')).is_some_and(|(n, b)| digits(n) && digits(b))
    };
    let mut end = name.len();
    while let Some(dot) = name[..end].rfind('.').filter(|dot| typed(&name[dot + 1..end])) {
        end = dot;
    }
    &name[..end]
}

fn neon_lane(t: &mut Terms, name: &str, lanes: &[Lane], width: u32) -> Option<Lane> {
    let terms: Vec<Term> = lanes.iter().map(|lane| lane.term).collect();
    let term = intrinsics::neon(t, name, &terms, width)?;
    let mut poison = t.truth(false);
    for lane in lanes {
        poison = t.binary(Op::Or, poison, lane.poison);
    }
    Some(Lane { term, poison })
}

/// Applies a function to each lane. An argument with one lane, such as a flag, serves all lanes.
fn each(
    t: &mut Terms,
    of: Type,
    values: &[(Type, Value)],
    f: impl Fn(&mut Terms, &[Lane], u32) -> Option<Lane>,
) -> Result<Option<Value>> {
    if matches!(of, Type::Void | Type::Pointer) {
        return Ok(None);
    }
    let width = of.bits()?;
    let mut result = Vec::new();
    for n in 0..of.lanes() {
        let lane = |value: &Value| {
            let lanes = value.lanes()?;
            lanes.get(if lanes.len() == 1 { 0 } else { n }).copied().context("fewer lanes than the result has")
        };
        let lanes = values.iter().map(|(_, value)| lane(value)).collect::<Result<Vec<_>>>()?;
        match f(t, &lanes, width) {
            Some(lane) if t.width(lane.term) == width => result.push(lane),
            _ => return Ok(None),
        }
    }
    Ok(Some(Value::Lanes(result)))
}

/// Copies or fills a constant number of bytes.
fn block(e: &mut Executor<'_>, path: &mut Path, kind: &str, values: &[(Type, Value)]) -> Result<()> {
    let [(_, to), (_, from), (_, bytes), ..] = values else { bail!("{kind} with fewer than three arguments") };
    let (to, bytes) = (object(to.pointer()?)?, bytes.constant(e.terms)?);
    if !(0..=4096).contains(&bytes) {
        bail!("{kind} of {bytes} bytes is not known");
    }
    if kind != "llvm.memset." {
        path.memory.copy(to, object(from.pointer()?)?, bytes);
        return Ok(());
    }
    let lane = Value::Lanes(vec![from.scalar()?; bytes as usize]);
    path.memory.store(e.terms, to, &lane)
}

/// Executes inline assembly of one Advanced SIMD instruction on registers, and returns its result in each lane.
pub(super) fn assembly(
    e: &mut Executor<'_>,
    template: &str,
    of: Type,
    values: &[(Type, Value)],
) -> Result<Option<Value>> {
    let words: Vec<&str> = template.split([' ', ',', '\t']).filter(|word| !word.is_empty()).collect();
    let known = |n: usize, arrangement: &str| words.get(n + 1).is_some_and(|w| *w == format!("${{{n}}}.{arrangement}"));
    let registers = |count: usize, arrangement: &str| (0..count).all(|n| known(n, arrangement));
    let bitwise = matches!(words.first(), Some(&("and" | "orr" | "eor")));
    let arrangement = if bitwise { "16b" } else { "4s" };
    let value = match words.as_slice() {
        // Assembly that is a comment: the value is computed and unchanged.
        ["/*", _, "*/"] if of == Type::Void => return Ok(None),
        ["sshr", _, _, by] if registers(2, "4s") => {
            let by: i128 = by.strip_prefix('#').and_then(|by| by.parse().ok()).context("a shift by a constant")?;
            each(e.terms, of, values, |t, lanes, width| {
                let by = t.constant(by, width);
                let term = t.binary(Op::ArithmeticShr, lanes[0].term, by);
                Some(Lane { term, poison: lanes[0].poison })
            })?
        }
        [name, _, _, _] if of == Type::Vector(4, 32) && registers(3, arrangement) => {
            each(e.terms, of, values, |t, lanes, width| neon_lane(t, name, lanes, width))?
        }
        _ => None,
    };
    match value {
        Some(value) => Ok(Some(value)),
        None => bail!("the assembly `{template}` is not known"),
    }
}
