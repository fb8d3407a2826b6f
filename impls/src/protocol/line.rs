//! Reading a request in one pass. What serde derives for tagged and flattened types copies all fields first, to look for the tag among them: a
//! worker in an emulator spent more time on that than on its kernels.

use super::{Batch, Job, Request, Source};
use serde::de::Error;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// The fields of every request. The operation says what the parameters are.
#[derive(Deserialize)]
struct Line<'a> {
    command: Command,
    #[serde(borrow)]
    op: Option<Cow<'a, str>>,
    kernel: Option<String>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    len: Option<usize>,
    source: Option<Source>,
    misalign: Option<usize>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Command {
    Hello,
    Run,
}

/// From JSON in memory only: the text of the parameters is borrowed until the operation is known.
impl<'de> Deserialize<'de> for Request {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let line = Line::deserialize(deserializer)?;
        match line.command {
            Command::Hello => Ok(Self::Hello),
            Command::Run => Ok(Self::Run(Box::new(batch(line)?))),
        }
    }
}

fn batch<E: Error>(line: Line<'_>) -> Result<Batch, E> {
    let (op, kernel) = (given("op", line.op)?, given("kernel", line.kernel)?);
    let params = given("params", line.params)?;
    Ok(Batch {
        job: Job::read(&op, kernel, params.get())?,
        len: given("len", line.len)?,
        source: given("source", line.source)?,
        misalign: given("misalign", line.misalign)?,
    })
}

fn given<T, E: Error>(field: &'static str, value: Option<T>) -> Result<T, E> {
    value.ok_or_else(|| E::missing_field(field))
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN: &str = r#"{"command":"run","op":"fpm","kernel":"tvm-relay","params":{"q":31,"channels":[{"multiplier":1,"shift":-8}]},"len":2,"source":{"payload":{"bytes":8}},"misalign":3}"#;

    fn read(line: &str) -> Result<Request, String> {
        serde_json::from_str(line).map_err(|error| error.to_string())
    }

    #[test]
    fn fields_come_in_any_order_and_others_are_ignored() {
        let line = r#"{"misalign":3,"later":[1,{}],"source":{"payload":{"bytes":8}},"len":2,"params":{"channels":[{"shift":-8,"multiplier":1}],"q":31},"kernel":"tvm\u002drelay","op":"\u0066pm","command":"run"}"#;
        let request = read(line).expect("a request");
        assert_eq!(serde_json::to_string(&request).expect("JSON"), RUN);
        assert_eq!(Ok(request), read(RUN));
        assert_eq!(read(r#"{"len":1,"command":"hello"}"#), Ok(Request::Hello));
    }

    #[test]
    fn what_lacks_or_is_unknown_is_named() {
        for (field, value) in [
            ("op", r#""op":"fpm","#),
            ("kernel", r#""kernel":"tvm-relay","#),
            ("params", r#""params":{"q":31,"channels":[{"multiplier":1,"shift":-8}]},"#),
            ("len", r#""len":2,"#),
            ("source", r#""source":{"payload":{"bytes":8}},"#),
            ("misalign", r#","misalign":3"#),
            ("command", r#""command":"run","#),
        ] {
            let error = read(&RUN.replace(value, "")).expect_err(field);
            assert!(error.contains(&format!("missing field `{field}`")), "{error}");
        }
        for (from, to, part) in [
            ("fpm", "fpn", "unknown variant `fpn`, expected one of `fpm`, `instruction`"),
            ("run", "walk", "unknown variant `walk`"),
            (r#""q":31,"#, "", "params: missing field `q`"),
            (r#""q":31"#, r#""q":"31""#, "params: invalid type"),
        ] {
            let error = read(&RUN.replace(from, to)).expect_err(to);
            assert!(error.contains(part), "{error}");
        }
    }
}
