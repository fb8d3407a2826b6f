//! Vectors as a C header: constants, and a test of a kernel for each function of `tiebreak.h`.

use super::{summary, typed};
use crate::engine::vectors::{Vector, Vectors};
use anyhow::{Result, anyhow, bail};
use serde_json::Value;
use std::collections::BTreeMap;
use tiebreak_worker::library::source::{Array, Call, call};
use tiebreak_worker::protocol::Job;

/// Vector with its C call.
struct One<'a> {
    at: usize,
    vector: &'a Vector,
    call: Call,
}

/// True if `tiebreak.h` has a function for the call.
pub(super) fn fits(job: &Job, domain: &Value, input: &[i32], results: &[i32]) -> bool {
    call(job, domain, input, results).is_ok()
}

/// Formats the header. Fails if `tiebreak.h` has no function for the operation.
pub(super) fn header(vectors: &Vectors, again: &str) -> Result<String> {
    let mut of_symbols: BTreeMap<String, Vec<One<'_>>> = BTreeMap::new();
    for (at, vector) in vectors.vectors.iter().enumerate() {
        let input: Vec<i32> = vector.operands.iter().flat_map(|tensor| tensor.words.iter().copied()).collect();
        let call = call(&vector.job, &vector.domain, &input, &vector.expected.words);
        let call = call.map_err(|why| anyhow!("{why}; --format json has the same vectors"))?;
        of_symbols.entry(call.symbol.clone()).or_default().push(One { at, vector, call });
    }
    if of_symbols.is_empty() {
        bail!(
            "tiebreak.h has no function of {} that these vectors fit; --format json has vectors of every type",
            vectors.op
        );
    }
    let scheme = identifier(&vectors.scheme);
    let guard = format!("TIEBREAK_VECTORS_{}_{scheme}_H", vectors.op).to_uppercase();
    let about: String = summary(vectors).lines().map(|line| format!(" * {}\n", comment(line))).collect();
    let mut out = format!("/*\n * Test vectors, made by `{} --format c-header`.\n *\n{about} *\n", comment(again));
    out += " * tiebreak_vectors_* calls a kernel with every vector of its types, prints to `log` (if it is not NULL) each vector of which a result is wrong, and\n";
    out += " * returns how many there are. A changed operand and a write behind the results are wrong, too. Vectors for which the kernel returns\n";
    out +=
        " * TIEBREAK_OUTSIDE_DOMAIN are counted separately; if there is no other vector, all of them are wrong.\n */\n";
    out += &format!("#ifndef {guard}\n#define {guard}\n\n");
    out += "#include \"tiebreak.h\"\n#include <stddef.h>\n#include <stdint.h>\n#include <stdio.h>\n#include <string.h>\n\n";
    out +=
        "#ifndef TIEBREAK_VECTORS_ALIGNED\n#ifdef __cplusplus\n#define TIEBREAK_VECTORS_ALIGNED alignas(64)\n#else\n";
    out += "#define TIEBREAK_VECTORS_ALIGNED _Alignas(64)\n#endif\n#endif\n";
    for (symbol, all) in &of_symbols {
        let name = symbol.strip_prefix("tiebreak_").unwrap_or(symbol);
        let prefix = format!("tiebreak_vector_{scheme}_{name}");
        all.iter().for_each(|one| out += &constants(&prefix, one));
        out += &tested(&prefix, &format!("tiebreak_vectors_{scheme}_{name}"), all);
    }
    Ok(out + "\n#endif\n")
}

/// Escapes text for a C comment.
fn comment(text: &str) -> String {
    text.replace("*/", "* /").replace("/*", "/ *")
}

fn identifier(text: &str) -> String {
    text.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}

/// Formats the description of a vector as a C string literal.
fn literal(vector: &Vector) -> String {
    let text = format!(
        "{}: detects {}",
        typed(vector),
        if vector.detects.is_empty() { "other schemes".to_owned() } else { vector.detects.join(", ") }
    );
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Formats the constants of a vector.
fn constants(prefix: &str, One { at, vector, call }: &One<'_>) -> String {
    let name = |array: &str| format!("{prefix}_{at}_{array}");
    let mut out = format!("\n/* {} */\n", comment(&typed(vector)));
    for array in call.arrays.iter().chain(&call.operands).chain([&call.results]) {
        // C has no empty arrays.
        let elements = if array.elements.is_empty() { "0".to_owned() } else { array.elements.join(", ") };
        out += &format!("static const {} {}[] = {{ {elements} }};\n", array.stored, name(array.name));
    }
    let field = |field: &String| field.strip_prefix('*').map_or_else(|| field.clone(), name);
    let fields: Vec<String> = call.fields.iter().map(field).collect();
    out + &format!("static const {} {} = {{ {} }};\n", call.params, name("params"), fields.join(", "))
}

/// Formats the list of vectors of a function, and the test of a kernel.
fn tested(prefix: &str, function: &str, all: &[One<'_>]) -> String {
    let first = &all[0].call;
    let (params, results) = (first.params, &first.results);
    let members =
        |array: &Array| format!("    const {} *{};\n    size_t {}_len;\n", array.stored, array.name, array.name);
    let operands: String = first.operands.iter().map(members).collect();
    let list = format!("{prefix}_list");
    let mut out = format!(
        "\nstatic const struct {{\n    const {params} *params;\n{operands}{}    size_t misalign; /* elements between a 64-byte boundary and each operand */\n    const char *what;\n}} {list}[] = {{\n",
        members(results)
    );
    for One { at, vector, call } in all {
        let array = |array: &Array| format!("{prefix}_{at}_{}, {}", array.name, array.elements.len());
        let arrays: Vec<String> = call.operands.iter().chain([&call.results]).map(array).collect();
        let (arrays, what) = (arrays.join(", "), literal(vector));
        out += &format!("    {{ &{prefix}_{at}_params, {arrays}, {}, {what} }},\n", vector.misalign);
    }
    out += "};\n\n";
    let passed: String = first.operands.iter().map(|array| format!("const {} *, ", array.passed)).collect();
    out += &format!(
        "static inline size_t {function}(int (*kernel)(const {params} *, {passed}{} *), FILE *log)\n{{\n",
        results.passed
    );
    let most = |of: &dyn Fn(&Call) -> usize| all.iter().map(|one| of(&one.call)).max().unwrap_or(0);
    for (at, array) in first.operands.iter().enumerate() {
        let len = most(&|call| call.operands[at].elements.len());
        out += &format!("    TIEBREAK_VECTORS_ALIGNED static {} {}_memory[{len} + 16];\n", array.passed, array.name);
    }
    let len = most(&|call| call.results.elements.len());
    out += &format!("    TIEBREAK_VECTORS_ALIGNED static {} out_memory[{len} + 32];\n", results.passed);
    out += "    size_t wrong = 0, outside = 0, v, at;\n\n";
    out += &format!("    for (v = 0; v < sizeof {list} / sizeof {list}[0]; v++) {{\n");
    out += "        const unsigned char *behind;\n        int code, changed = 0;\n";
    out += &format!("        {} *out = out_memory + {list}[v].misalign;\n", results.passed);
    for Array { name, passed, .. } in &first.operands {
        out += &format!("        {passed} *{name} = {name}_memory + {list}[v].misalign;\n");
    }
    out.push('\n');
    for Array { name, .. } in &first.operands {
        out += &format!("        memcpy({name}, {list}[v].{name}, {list}[v].{name}_len * sizeof *{name});\n");
    }
    out += "        memset(out_memory, 0x5a, sizeof out_memory);\n";
    let names: String = first.operands.iter().map(|array| format!("{}, ", array.name)).collect();
    out += &format!("        code = kernel({list}[v].params, {names}out);\n");
    for Array { name, .. } in &first.operands {
        out += &format!(
            "        changed |= memcmp({name}, {list}[v].{name}, {list}[v].{name}_len * sizeof *{name}) != 0;\n"
        );
    }
    out += &format!("        behind = (const unsigned char *)(out + {list}[v].out_len);\n");
    out += "        for (at = 0; at < 16 * sizeof *out; at++)\n            changed |= behind[at] != 0x5a;\n";
    out += &format!(
        "        for (at = 0; at < {list}[v].out_len; at++)\n            if (memcmp(&out[at], &{list}[v].out[at], sizeof *out) != 0)\n                break;\n"
    );
    out += &format!(
        "        if (code == TIEBREAK_OK && !changed && at == {list}[v].out_len)\n            continue;\n        if (code == TIEBREAK_OUTSIDE_DOMAIN && !changed) {{\n            outside++;\n            continue;\n        }}\n        wrong++;\n        if (log == NULL)\n            continue;\n"
    );
    out += &format!("        fprintf(log, \"vector %lu, %s\\n\", (unsigned long)v, {list}[v].what);\n");
    out += "        if (code != TIEBREAK_OK)\n            fprintf(log, \"  code %d\\n\", code);\n";
    out += &format!("        else if (at < {list}[v].out_len)\n            {};\n", difference(results, &list));
    out += "        if (changed)\n            fprintf(log, \"  it changed an operand, or wrote behind its results\\n\");\n";
    out += "    }\n    if (outside > 0 && log != NULL)\n";
    out += "        fprintf(log, \"outside the kernel's domain: %lu of %lu vectors\\n\", (unsigned long)outside, (unsigned long)v);\n";
    out + "    return outside == v ? v : wrong;\n}\n"
}

/// Formats the statement that prints the first wrong result.
fn difference(results: &Array, list: &str) -> String {
    match results.passed {
        "float" => format!(
            "fprintf(log, \"  result %lu: got %.9g, expected bits 0x%08lx\\n\", (unsigned long)at, (double)out[at], (unsigned long){list}[v].out[at])"
        ),
        _ => format!(
            "fprintf(log, \"  result %lu: got %ld, expected %ld\\n\", (unsigned long)at, (long)out[at], (long){list}[v].out[at])"
        ),
    }
}
