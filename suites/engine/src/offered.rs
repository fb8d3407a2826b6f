//! Kernel for a caller's offer: its name, its scheme, and the contract and domain of a kernel of this project, or a part of that domain. The domain
//! is wider than the domain of the kernel of this project only in fields for which the operation allows that ([`Options::widened`]), so every case of
//! the domain can be made and has an expected result.
//!
//! [`Options::widened`]: crate::operation::Options::widened

use crate::erased::{Domain, Kernel, Op, Scheme};
use anyhow::{Context, Result, anyhow, bail};
use serde_json::{Map, Value};
use tiebreak_impls::contract::{Contract, Overflow, Promise};
use tiebreak_oracle::names::unknown;
use tiebreak_reports::drawable::bounded;
use tiebreak_worker::protocol::Offer;

/// Longest text of an offer in a message, in characters.
const SHOWN: usize = 64;

/// Summary of kernels that a caller offers.
const SUMMARY: &str = "kernel of the caller's";

/// Adds the kernel of an offer to the operation. Fails if the offer is wrong; the message describes the error.
pub fn adopt(op: Op, offer: &Offer) -> Result<()> {
    if op.lists().find(&offer.kernel).is_some() {
        bail!("{} is a kernel of this project; give yours a name of its own", offer.kernel);
    }
    let scheme = offer.own.scheme.as_deref().map(|name| scheme(op, name)).transpose()?;
    let promise = scheme.map(|scheme| promise(&scheme.label()));
    let contract = match &offer.own.like {
        Some(like) => part(named(op, like)?, promise, &offer.own.domain)?,
        None => first(op, promise.context("it has neither a scheme nor `like`")?, &offer.own.domain)?,
    };
    op.adopt(offer.kernel.clone().leak(), SUMMARY, &contract);
    Ok(())
}

/// Returns the domain for the kernel of an offer without a known scheme, and the kernel of this project with this domain: the kernel named by `like`,
/// the kernel of the same name, or the kernel with the broadest domain.
pub(crate) fn asked(op: Op, offer: &Offer) -> Result<(&'static str, Domain)> {
    let taken = |kernel: &'static Kernel| Ok((kernel.name, part(kernel, None, &offer.own.domain)?.domain));
    if let Some(like) = &offer.own.like {
        return taken(named(op, like)?);
    }
    if let Some(kernel) = op.kernels().iter().find(|kernel| kernel.name == offer.kernel) {
        return taken(kernel);
    }
    let mut all: Vec<&Kernel> = here(op).collect();
    all.sort_by_cached_key(|kernel| std::cmp::Reverse(breadth_of(kernel)));
    let first = all.iter().find_map(|kernel| taken(kernel).ok());
    first.with_context(|| {
        format!("no kernel of {} takes the domain {}", op.name(), shown(&offer.own.domain.clone().into()))
    })
}

/// Returns the kernels whose code is in this project.
fn here(op: Op) -> impl Iterator<Item = &'static Kernel> {
    op.kernels().iter().filter(|kernel| !kernel.contract.domain.is_compiled())
}

fn breadth_of(kernel: &Kernel) -> u64 {
    kernel.contract.domain.json().map_or(0, |domain| breadth(&domain))
}

/// Parses the scheme of an offer. The error for a part of a kernel's name mentions the kernel: `tflite` is no scheme, but TFLite's kernels promise a
/// scheme.
fn scheme(op: Op, name: &str) -> Result<Scheme> {
    op.scheme(&bounded(name, SHOWN)).map_err(|error| {
        match here(op).map(|kernel| kernel.name).find(|kernel| kernel.contains(name)) {
            None => error.into(),
            Some(kernel) => anyhow!("{error} A kernel of this project has a scheme of its own: --like {kernel}"),
        }
    })
}

/// Finds the kernel named by `like` in an offer.
fn named(op: Op, name: &str) -> Result<&'static Kernel> {
    let known = op.kernels();
    let found = known.iter().find(|kernel| kernel.name == name);
    let kernel =
        found.ok_or_else(|| unknown("kernel", &bounded(name, SHOWN), known.iter().map(|kernel| kernel.name)))?;
    if kernel.contract.domain.is_compiled() {
        bail!("{name} is made by a compiler and runs in lanes of its modules; name another kernel");
    }
    Ok(kernel)
}

/// Returns the contract of a kernel that promises the scheme and takes the domain, the kernel with the broadest domain first. If no kernel that
/// promises the scheme takes the domain, the other kernels follow in the same order.
fn first(op: Op, promise: Promise, domain: &Map<String, Value>) -> Result<Contract<Domain>> {
    // Errors on an unknown field precede errors on a field that is too wide for the first kernel.
    let wholes = here(op).map(|kernel| kernel.contract.domain.json());
    let mut wholes: Vec<Value> = wholes.collect::<Result<_, _>>()?;
    for key in domain.keys() {
        let is_known = wholes.iter_mut().any(|whole| whole.get(key).is_some() || field(whole, key).is_some());
        if let (false, Some(whole)) = (is_known, wholes.first_mut()) {
            place(whole, key)?;
        }
    }
    let mut alike: Vec<&Kernel> = here(op).collect();
    // Order: kernels that promise the scheme, then the same policy, then the broadest domain, so that the run includes every input not excluded by
    // the offer.
    alike.sort_by_cached_key(|kernel| {
        let own = kernel.contract.promise;
        (own.scheme != promise.scheme, own != promise, std::cmp::Reverse(breadth_of(kernel)))
    });
    let mut error = None;
    for kernel in alike {
        match part(kernel, Some(promise), domain) {
            Ok(contract) => return Ok(contract),
            Err(why) => error = error.or(Some(why)),
        }
    }
    Err(error.unwrap_or_else(|| anyhow!("no kernel of {} has a domain", op.name())))
}

/// Measures the breadth of a domain, to compare domains of an operation: allowed features count most, then names, then the binary digits of ranges.
fn breadth(domain: &Value) -> u64 {
    if let Some([first, last]) = range(domain) {
        let [first, last] = [first, last].map(|end| end.as_f64().unwrap_or_default());
        return (last - first + 1.0).max(1.0).log2() as u64;
    }
    match domain {
        Value::Bool(allowed) => u64::from(*allowed) << 20,
        // An empty list allows everything.
        Value::Array(names) if names.is_empty() => 64 << 10,
        Value::Array(names) => (names.len() as u64) << 10,
        Value::Object(fields) => fields.values().map(breadth).sum(),
        _ => 0,
    }
}

/// Returns the contract of a kernel on a part of its domain, with another promise if one is given.
fn part(kernel: &Kernel, promise: Option<Promise>, narrower: &Map<String, Value>) -> Result<Contract<Domain>> {
    let mut domain = kernel.contract.domain.json()?;
    for (key, given) in narrower {
        if widens(kernel.op(), &mut domain, key, given) {
            continue;
        }
        narrow(&mut domain, key, given).with_context(|| format!("its domain, a part of that of {}", kernel.name))?;
    }
    let deviations =
        if promise.is_some_and(|own| own != kernel.contract.promise) { &[] } else { kernel.contract.deviations };
    Ok(Contract {
        promise: promise.unwrap_or(kernel.contract.promise),
        domain: kernel.op().domain(&domain)?,
        deviations,
        source: kernel.contract.source,
    })
}

/// Sets the field `key` of a domain to `true`, if the operation allows a caller's kernel to be wider in this field.
fn widens(op: Op, domain: &mut Value, key: &str, given: &Value) -> bool {
    let allowed = *given == Value::Bool(true) && op.capabilities().options.widened.contains(&key);
    if allowed && let Some(field) = field(domain, key) {
        *field = given.clone();
        return true;
    }
    false
}

/// Parses the label of a scheme into a promise.
fn promise(label: &str) -> Promise {
    let (scheme, policy) = label.split_once(':').unwrap_or((label, ""));
    let overflow = match policy {
        "wrap" => Overflow::Wrap,
        "saturate" => Overflow::Saturate,
        _ => Overflow::OutOfDomain,
    };
    Promise { scheme: scheme.to_owned().leak(), overflow }
}

/// Finds the field `key` of a domain. Fails if there is no such field; the message names the fields.
fn place<'a>(domain: &'a mut Value, key: &str) -> Result<&'a mut Value> {
    let mut names = Vec::new();
    fields(domain, &mut |name, _| names.push(name.to_owned()));
    field(domain, key).ok_or_else(|| {
        let error = anyhow::Error::from(unknown("field", &bounded(key, SHOWN), names.iter().map(String::as_str)));
        error.context(format!("fields are {}", names.join(", ")))
    })
}

/// Narrows the field `key` of a domain. A part that only some domains have is given as `true`: the domain must have the part, and keeps it.
fn narrow(domain: &mut Value, key: &str, given: &Value) -> Result<()> {
    if *given == Value::Bool(true) && domain.get(key).is_some_and(is_part) {
        return Ok(());
    }
    let field = place(domain, key)?;
    match within(field, given) {
        Some(part) => *field = part,
        None => bail!("`{key}` is {}, of which {} is no part", shown(field), bounded(&given.to_string(), SHOWN)),
    }
    Ok(())
}

/// Returns the ends of a range, if the object is a range.
fn range(value: &Value) -> Option<[&Value; 2]> {
    Some([value.get("start")?, value.get("end")?])
}

/// True if a field has subfields.
fn is_part(field: &Value) -> bool {
    field.is_object() && range(field).is_none()
}

/// Visits every field of a domain, including subfields.
fn fields(domain: &Value, say: &mut impl FnMut(&str, &Value)) {
    for (name, value) in domain.as_object().into_iter().flatten() {
        if is_part(value) { fields(value, say) } else { say(name, value) }
    }
}

/// Finds the field `key`.
fn field<'a>(domain: &'a mut Value, key: &str) -> Option<&'a mut Value> {
    for (name, value) in domain.as_object_mut()? {
        let found = if is_part(value) { field(value, key) } else { (name == key).then_some(value) };
        if found.is_some() {
            return found;
        }
    }
    None
}

/// Returns the given value in the form of the field, if the value is a part of the field.
fn within(field: &Value, given: &Value) -> Option<Value> {
    let integer = |value: &Value| value.as_i64().map(i128::from).or_else(|| value.as_u64().map(i128::from));
    if let Some([first, last]) = range(field) {
        let [start, end] = match given {
            Value::Array(ends) => [ends.first()?, ends.get(1).filter(|_| ends.len() == 2)?],
            one => [one, one],
        };
        let inside =
            integer(first)? <= integer(start)? && integer(start)? <= integer(end)? && integer(end)? <= integer(last)?;
        return inside.then(|| serde_json::json!({"start": start, "end": end}));
    }
    match field {
        Value::Bool(allowed) => given.as_bool().filter(|wanted| *allowed || !wanted).map(Value::Bool),
        // Lists of lists describe how a kernel is made, so they are fixed.
        Value::Array(all) if !all.iter().any(Value::is_array) => {
            let wanted = given.as_array().cloned().unwrap_or_else(|| vec![given.clone()]);
            let inside = |one: &Value| one.is_string() && (all.is_empty() || all.contains(one));
            (!wanted.is_empty() && wanted.iter().all(inside)).then_some(Value::Array(wanted))
        }
        fixed => (fixed == given).then(|| fixed.clone()),
    }
}

/// Formats a field in the syntax of offers.
fn shown(field: &Value) -> String {
    match (range(field), field) {
        (Some([first, last]), _) => format!("[{first},{last}]"),
        (None, Value::Array(all)) if all.is_empty() => "everything".to_owned(),
        _ => field.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn domain() -> Value {
        json!({"output": "i8", "bias": true, "clamp": false, "kinds": ["layer", "channel"], "any": [], "pairs": [[0, 1]],
            "channels": {"shifts": {"start": -31, "end": 31}, "depth": {"start": 1, "end": u64::MAX}}})
    }

    #[test]
    fn a_part_of_a_domain_is_taken() {
        for (key, given, path, expected) in [
            ("shifts", json!([-8, 0]), "/channels/shifts", json!({"start": -8, "end": 0})),
            ("shifts", json!(-8), "/channels/shifts", json!({"start": -8, "end": -8})),
            ("depth", json!([1, u64::MAX]), "/channels/depth", json!({"start": 1, "end": u64::MAX})),
            ("output", json!("i8"), "/output", json!("i8")),
            ("bias", json!(false), "/bias", json!(false)),
            ("kinds", json!("layer"), "/kinds", json!(["layer"])),
            ("any", json!(["i4"]), "/any", json!(["i4"])),
            ("channels", json!(true), "/channels/shifts", json!({"start": -31, "end": 31})),
        ] {
            let mut part = domain();
            narrow(&mut part, key, &given).expect(key);
            assert_eq!(part.pointer(path), Some(&expected), "{key}");
        }
    }

    #[test]
    fn what_is_no_part_is_refused_with_what_there_is() {
        for (key, given, said) in [
            ("shifts", json!([-32, 0]), "`shifts` is [-31,31], of which [-32,0] is no part"),
            ("shifts", json!([0, -8]), "no part"),
            ("shifts", json!([0]), "no part"),
            ("shifts", json!("0"), "no part"),
            ("output", json!("u8"), "`output` is \"i8\", of which \"u8\" is no part"),
            ("clamp", json!(true), "no part"),
            ("kinds", json!([]), "no part"),
            ("kinds", json!(["blocks"]), "no part"),
            ("pairs", json!([]), "no part"),
            ("shift", json!(0), "did you mean `shifts`?"),
            ("channels", json!({}), "fields are output, bias"),
            ("transposed", json!(true), "fields are output, bias"),
        ] {
            let mut part = domain();
            let error = narrow(&mut part, key, &given).expect_err(key);
            let sorted = format!("{error:#}");
            let all = said.split(", bias").next().expect("a beginning");
            assert!(sorted.contains(all.trim_end_matches(" output")) && part == domain(), "{sorted}");
        }
    }
}
