//! Tensors from files in a line: `@a.npy` or `@all.npz:member` replaces a list. Paths are relative to the file with the lines.

use crate::cli::plain;
use npyz::{DType, Deserialize, NpyFile, Order, TypeChar};
use serde_json::{Number, Value as Json, json};
use std::borrow::Cow;
use std::io::{Cursor, Read};
use std::path::Path;
use tiebreak_reports::read::{self, MODEL};

/// Replaces file names in the case and in the results with the elements of the files.
pub(super) fn fill(line: &mut Json, base: &Path) -> Result<(), String> {
    line.get_mut("case").map_or(Ok(()), |case| fill_case(case, base))?;
    line.get_mut("expected").map_or(Ok(()), |value| replace("expected", value, base))
}

/// Replaces file names in a case, or in the cases of a chain.
fn fill_case(case: &mut Json, base: &Path) -> Result<(), String> {
    match case {
        Json::Object(arguments) => arguments.iter_mut().try_for_each(|(name, value)| replace(name, value, base)),
        Json::Array(stages) => stages.iter_mut().try_for_each(|case| fill_case(case, base)),
        Json::String(text) if text.contains("=@") => {
            *text = words(text, base)?;
            Ok(())
        }
        _ => Ok(()),
    }
}

fn replace(name: &str, value: &mut Json, base: &Path) -> Result<(), String> {
    if let Some(file) = value.as_str().and_then(|text| text.strip_prefix('@')) {
        *value = Json::Array(elements(file, base).map_err(|error| format!("{name}: {error}"))?);
    }
    Ok(())
}

/// Replaces file names in the text of a case, where file names contain no spaces.
fn words(text: &str, base: &Path) -> Result<String, String> {
    let word = |word: &str| {
        let Some((name, file)) = word.split_once("=@") else { return Ok(word.to_owned()) };
        let all = elements(file, base).map_err(|error| format!("{name}: {error}"))?;
        Ok(format!("{name}=[{}]", all.iter().map(plain).collect::<Vec<_>>().join(",")))
    };
    text.split_whitespace().map(word).collect::<Result<Vec<String>, String>>().map(|words| words.join(" "))
}

/// Reads the elements of a file's tensor, row by row.
pub(in crate::cli) fn elements(name: &str, base: &Path) -> Result<Vec<Json>, String> {
    let (file, member) = match name.rsplit_once(".npz:") {
        Some((file, member)) => (format!("{file}.npz"), Some(member)),
        None => (name.to_owned(), None),
    };
    let bytes = read::bytes(&base.join(&file), MODEL).map_err(|error| error.to_string())?;
    let is_archive = file.ends_with(".npz");
    let array =
        if is_archive { self::member(bytes, member).map_err(|error| format!("{file}: {error}"))? } else { bytes };
    npy(&array).map_err(|error| format!("{name}: {error}"))
}

/// Reads an array of an archive. Without a name, the archive must have a single array.
fn member(bytes: Vec<u8>, name: Option<&str>) -> Result<Vec<u8>, String> {
    let archive = zip::ZipArchive::new(Cursor::new(bytes));
    let mut archive = archive.map_err(|error| format!("no archive of numpy ({error}); write it with numpy.savez"))?;
    let array = |name: Cow<'_, str>| npyz::npz::array_name_from_file_name(&name).map(str::to_owned);
    let arrays: Vec<String> = archive.file_names().filter_map(|name| array(name.ok()?)).collect();
    let wanted = match (name, &arrays[..]) {
        (Some(name), _) if arrays.iter().any(|array| array == name) => name,
        (None, [only]) => only,
        (Some(name), _) => return Err(format!("no array `{name}`; it has {}", arrays.join(", "))),
        (None, _) => {
            return Err(format!("it has {} arrays ({}); name one as FILE.npz:ARRAY", arrays.len(), arrays.join(", ")));
        }
    };
    let file = archive.by_name(&npyz::npz::file_name_from_array_name(wanted));
    let mut array = Vec::new();
    let size = file.map_err(|error| error.to_string())?.take(MODEL + 1).read_to_end(&mut array);
    match size {
        Ok(size) if size as u64 <= MODEL => Ok(array),
        Ok(_) => Err(format!("`{wanted}` is larger than {MODEL} bytes; give a smaller array")),
        Err(error) => Err(format!("`{wanted}` is damaged ({error}); write the archive again")),
    }
}

/// Reads the elements of an array in numpy's format.
fn npy(bytes: &[u8]) -> Result<Vec<Json>, String> {
    let file = NpyFile::new(bytes).map_err(|error| format!("no array of numpy ({error}); write it with numpy.save"))?;
    let dtype = file.dtype();
    let DType::Plain(plain) = &dtype else {
        return Err(format!("its elements are records, {}; give an array of numbers", dtype.descr()));
    };
    let (kind, width) = (plain.type_char(), plain.size_field());
    // A header may state any size. Check before allocating.
    if file.len().checked_mul(width).is_none_or(|size| size > bytes.len() as u64) {
        let shape = file.shape();
        return Err(format!("it is cut off: its shape is {shape:?}, and it has {} bytes", bytes.len()));
    }
    match (kind, width) {
        (TypeChar::Bool, 1) => all(file, |v: bool| json!(u8::from(v))),
        (TypeChar::Int, 1) => all(file, |v: i8| json!(v)),
        (TypeChar::Int, 2) => all(file, |v: i16| json!(v)),
        (TypeChar::Int, 4) => all(file, |v: i32| json!(v)),
        (TypeChar::Int, 8) => all(file, |v: i64| json!(v)),
        (TypeChar::Uint, 1) => all(file, |v: u8| json!(v)),
        (TypeChar::Uint, 2) => all(file, |v: u16| json!(v)),
        (TypeChar::Uint, 4) => all(file, |v: u32| json!(v)),
        (TypeChar::Uint, 8) => all(file, |v: u64| json!(v)),
        (TypeChar::Float, 2) => all(file, |v: half::f16| single(v.to_f32())),
        (TypeChar::Float, 4) => all(file, single),
        (TypeChar::Float, 8) => all(file, |v: f64| float(v.is_nan(), &format!("{v:?}"))),
        _ => Err(format!("its elements are {}; give integers, or floats of 16, 32 or 64 bits", dtype.descr())),
    }
}

/// Converts a float32 to the shortest decimal that reads as the same float32.
pub(super) fn single(v: f32) -> Json {
    float(v.is_nan(), &format!("{v:?}"))
}

/// Converts a finite number to a JSON number, other values to text.
fn float(is_nan: bool, text: &str) -> Json {
    match serde_json::from_str::<Number>(text) {
        _ if is_nan => json!("nan"),
        Ok(number) => Json::Number(number),
        Err(_) => json!(text),
    }
}

/// Reads all elements, row by row, for either order of the file.
fn all<T: Deserialize>(file: NpyFile<&[u8]>, json: impl Fn(T) -> Json) -> Result<Vec<Json>, String> {
    let (order, shape) = (file.order(), file.shape().to_vec());
    let values: Vec<T> = file.into_vec().map_err(|error| format!("it is damaged ({error}); write it again"))?;
    let values: Vec<Json> = values.into_iter().map(json).collect();
    Ok(match order {
        Order::C => values,
        Order::Fortran => by_rows(&values, &shape),
    })
}

/// Reorders elements from column-major to row-major.
fn by_rows(values: &[Json], shape: &[u64]) -> Vec<Json> {
    let place = |mut at: usize| {
        let (mut place, mut stride) = (0, values.len());
        for size in shape.iter().rev().map(|size| *size as usize) {
            stride /= size;
            place += at % size * stride;
            at /= size;
        }
        place
    };
    (0..values.len()).map(|at| values[place(at)].clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_read_as_rows() {
        let values: Vec<Json> = [1, 4, 2, 5, 3, 6].map(|v| json!(v)).to_vec();
        assert_eq!(json!(by_rows(&values, &[2, 3])), json!([1, 2, 3, 4, 5, 6]));
    }

    #[test]
    fn floats_keep_their_value() {
        assert_eq!([0.3, -0.0, 1e-30].map(|v| single(v).to_string()), ["0.3", "-0.0", "1e-30"]);
        assert_eq!(
            [f32::NAN, f32::INFINITY, f32::NEG_INFINITY].map(single),
            [json!("nan"), json!("inf"), json!("-inf")]
        );
    }
}
