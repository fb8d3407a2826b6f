//! Protocol of a worker (`impls/worker/src/protocol/mod.rs`), for adapters of libraries in Rust: one line of JSON and little-endian int32 on standard
//! input, and the same on standard output. An adapter includes this file as a module.

use serde_json::{Value, json};
use std::io::{self, BufRead, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Reason for a call without results.
pub enum Failure {
    /// The library has no such call: neither a failure nor a pass.
    OutsideDomain(&'static str),
    /// The library reports an error, or the request is wrong.
    Failed(String),
}

/// Converts an error to a failure with its message.
pub fn failed(error: impl std::fmt::Display) -> Failure {
    Failure::Failed(error.to_string())
}

/// Returns the integer parameter with this name.
pub fn integer(params: &Value, name: &str) -> Result<i64, Failure> {
    params[name].as_i64().ok_or_else(|| Failure::Failed(format!("no integer {name} in the parameters")))
}

/// Function from parameters, inputs and the number of results to the results.
type Run = Box<dyn Fn(&Value, &[i32], usize) -> Result<Vec<i32>, Failure>>;

/// Kernel of a library: operation, name, the project's kernel whose contract or domain it claims, its scheme if it differs from that contract, and
/// the code.
pub struct Kernel {
    pub op: &'static str,
    pub name: String,
    pub like: &'static str,
    pub scheme: Option<&'static str>,
    pub run: Run,
}

impl Kernel {
    fn offer(&self, isa_path: &str) -> Value {
        let mut offer = json!({"op": self.op, "kernel": self.name, "isa_path": isa_path, "like": self.like});
        if let Some(scheme) = self.scheme {
            offer["scheme"] = json!(scheme);
        }
        offer
    }

    fn results(&self, params: &Value, inputs: &[i32], len: usize) -> Result<Vec<i32>, Failure> {
        let run = AssertUnwindSafe(|| (self.run)(params, inputs, len));
        let out = catch_unwind(run).unwrap_or_else(|_| Err(Failure::Failed("the library panicked".to_owned())))?;
        if out.len() == len { Ok(out) } else { Err(Failure::Failed(format!("{} results", out.len()))) }
    }
}

/// Reads the inputs of a request: the payload that follows, or consecutive values.
fn read(source: &Value, len: usize, input: &mut impl BufRead) -> io::Result<Vec<i32>> {
    let Some(bytes) = source["payload"]["bytes"].as_u64() else {
        let start = source["range"]["start"].as_i64().unwrap_or_default();
        return Ok((start..).take(len).map(|x| x as i32).collect());
    };
    let mut payload = vec![0; bytes as usize];
    input.read_exact(&mut payload)?;
    Ok(payload.chunks_exact(4).map(|word| i32::from_le_bytes(word.try_into().expect("four bytes"))).collect())
}

fn answer(output: &mut impl Write, header: &Value, payload: &[i32]) -> io::Result<()> {
    let bytes: Vec<u8> = payload.iter().flat_map(|word| word.to_le_bytes()).collect();
    writeln!(output, "{header}")?;
    output.write_all(&bytes)?;
    output.flush()
}

/// Answers requests until the input ends.
pub fn serve(isa_path: &str, kernels: &[Kernel]) -> io::Result<()> {
    let (mut input, mut output) = (io::stdin().lock(), io::stdout().lock());
    let mut line = String::new();
    while input.read_line(&mut line)? > 0 {
        let request: Value = serde_json::from_str(&line)?;
        line.clear();
        if request["command"] == "hello" {
            let offers: Vec<Value> = kernels.iter().map(|kernel| kernel.offer(isa_path)).collect();
            let hello = json!({"answer": "hello", "protocol": 1, "arch": std::env::consts::ARCH, "kernels": offers});
            answer(&mut output, &hello, &[])?;
            continue;
        }
        let len = request["len"].as_u64().unwrap_or_default() as usize;
        let inputs = read(&request["source"], len, &mut input)?;
        let kernel = kernels.iter().find(|kernel| request["op"] == kernel.op && request["kernel"] == *kernel.name);
        let results = match kernel {
            Some(kernel) => kernel.results(&request["params"], &inputs, len),
            None => Err(Failure::Failed("no such kernel".to_owned())),
        };
        match results {
            Ok(out) => answer(&mut output, &json!({"answer": "done", "bytes": 4 * len}), &out)?,
            Err(Failure::OutsideDomain(reason)) => {
                answer(&mut output, &json!({"answer": "failed", "reason": reason, "kind": "outside-domain"}), &[])?;
            }
            Err(Failure::Failed(reason)) => answer(&mut output, &json!({"answer": "failed", "reason": reason}), &[])?,
        }
    }
    Ok(())
}
