//! Quantized types and ops of the quant dialect in an MLIR file, each with its line.

use super::{Error, Item, parse};
use std::collections::BTreeMap;

/// Beginning of a quantized type.
const UNIFORM: &str = "!quant.uniform<";
const TENSOR: &str = "tensor<";
const OPS: [&str; 3] = ["quant.qcast", "quant.dcast", "quant.scast"];

/// Type or op in a file.
#[derive(Clone, Debug)]
pub struct Found {
    /// Line of the item, from 1.
    pub line: usize,
    /// Text of the item, with type aliases expanded.
    pub text: String,
    /// Parsed item, or the rule that the text breaks.
    pub item: Result<Item, Error>,
}

/// Returns every op of the quant dialect, and every quantized type on lines without such an op. An op must be on one line, as `mlir-opt` prints it.
pub fn items(text: &str) -> Vec<Found> {
    let lines: Vec<&str> = text.lines().map(|line| line.split("//").next().unwrap_or(line)).collect();
    let aliases = aliases(&lines);
    let mut out = Vec::new();
    for (at, line) in lines.into_iter().enumerate() {
        let line = written_out(line, &aliases);
        let texts = if OPS.iter().any(|op| line.contains(op)) { vec![op(&line)] } else { types(&line) };
        out.extend(texts.into_iter().map(|text| Found { line: at + 1, item: parse(&text), text }));
    }
    out
}

/// Returns the type aliases: `!name = type`.
fn aliases(lines: &[&str]) -> BTreeMap<String, String> {
    let alias = |line: &&str| {
        let (name, ty) = line.trim().split_once('=')?;
        let name = name.trim().strip_prefix('!')?;
        name.chars().all(is_of_name).then(|| (format!("!{name}"), ty.trim().to_owned()))
    };
    lines.iter().filter_map(alias).collect()
}

fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '$'
}

/// Expands the type aliases in a line.
fn written_out(line: &str, aliases: &BTreeMap<String, String>) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some(at) = rest.find('!') {
        out.push_str(&rest[..at]);
        let end = rest[at + 1..].find(|c| !is_of_name(c)).map_or(rest.len(), |len| at + 1 + len);
        let (name, after) = (&rest[at..end], &rest[end..]);
        let is_named = !after.trim_start().starts_with('=');
        out.push_str(aliases.get(name).filter(|_| is_named).map_or(name, String::as_str));
        rest = after;
    }
    out + rest
}

/// Returns the text of the op on a line, without the location that `mlir-opt` prints after it.
fn op(line: &str) -> String {
    let end = line.find(" loc(").unwrap_or(line.len());
    line[..end].trim().to_owned()
}

/// Returns the quantized types of a line. The element type of a tensor is returned with its tensor.
fn types(line: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(begin) = line[at..].find(UNIFORM).map(|found| at + found) {
        let tensor = line[at..begin].rfind(TENSOR).map(|found| at + found);
        let holds = |from: usize| end(line, from).is_some_and(|end| end > begin);
        let from = tensor.filter(|from| holds(*from)).unwrap_or(begin);
        let to = end(line, from).unwrap_or(line.len());
        out.push(line[from..to].to_owned());
        at = to;
    }
    out
}

/// Returns the position after the bracket that closes the first bracket from here on.
fn end(line: &str, from: usize) -> Option<usize> {
    let mut open = 0;
    for (at, c) in line[from..].char_indices() {
        match c {
            '<' => open += 1,
            '>' if open == 1 => return Some(from + at + 1),
            '>' => open -= 1,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_and_ops_are_found_with_their_lines() {
        let text = "\
!q = !quant.uniform<i8<-8:7>:f32, 0.3:1>
func.func @f(%0: tensor<2x!q>, %1: tensor<4xf32>) -> (tensor<?x3x!quant.uniform<i8:f32:1, {1.0, 2.0, 4.0}>>, !q) { // !quant.uniform<none>
  %2 = quant.dcast %0 : tensor<2x!q> to tensor<2xf32> loc(#loc)
  %3 = \"quant.qcast\"(%2) : (tensor<2xf32>) -> tensor<3x!q>
  return
}";
        let found: Vec<_> = items(text).into_iter().map(|it| (it.line, it.text, it.item.is_ok())).collect();
        let q = "!quant.uniform<i8<-8:7>:f32, 0.3:1>";
        let expected = [
            (1, q.to_owned(), true),
            (2, format!("tensor<2x{q}>"), true),
            (2, "tensor<?x3x!quant.uniform<i8:f32:1, {1.0, 2.0, 4.0}>>".to_owned(), true),
            (2, q.to_owned(), true),
            (3, format!("%2 = quant.dcast %0 : tensor<2x{q}> to tensor<2xf32>"), true),
            (4, format!("%3 = \"quant.qcast\"(%2) : (tensor<2xf32>) -> tensor<3x{q}>"), false),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_bracket_that_is_never_closed_is_an_error_of_its_line() {
        let found = items("\n  %0 = \"a\"() : () -> !quant.uniform<i8:f32, 2.0");
        assert!(matches!(&found[..], [Found { line: 2, item: Err(_), .. }]), "{found:?}");
    }
}
