//! Registry of fuzz targets: all operations, all readers, and the censuses.

use super::{cases, census, quant_type, readers, seeds, tensor};
use crate::registry::{Visitor, visit_tensors};
use tensor::Fuzzed;
use tiebreak_oracle::names::{UnknownName, unknown};

/// Judges an input. An error describes a fault.
type Judge = fn(&[u8]) -> Result<(), String>;
/// Returns the initial inputs of a target.
type Seeds = fn() -> Vec<String>;
/// Checks that a target has a kernel of that name.
type Known = fn(&str) -> Result<(), UnknownName>;

/// Fuzz target, run by `fuzz/fuzz_targets/target.rs` under its name.
#[derive(Clone)]
pub struct Target {
    /// Name: the operation, reader or census.
    pub name: &'static str,
    /// Judges an input. An error describes a fault. A reader panics instead.
    pub judge: Judge,
    /// Initial inputs. Models are made elsewhere.
    pub seeds: Seeds,
    /// Text of an input, if the input itself is not text.
    pub text: fn(&[u8]) -> Option<String>,
    /// Check of a kernel name. `None` for a target that runs no kernels.
    pub kernel: Option<Known>,
}

/// Returns all targets.
pub fn targets() -> Vec<Target> {
    let mut all = Operations(Vec::new());
    visit_tensors(&mut all);
    let none: Seeds = Vec::new;
    let readers: [(&'static str, Judge, Seeds); 9] = [
        ("cases", |text| read(cases::cases, text), seeds::cases),
        ("quant_type", |text| read(quant_type, text), seeds::quant_types),
        ("parameters", |text| read(readers::parameters, text), seeds::parameters),
        ("tflite", |bytes| read(readers::tflite, bytes), none),
        ("onnx", |bytes| read(readers::onnx, bytes), none),
        ("lanes", |text| read(readers::lanes, text), lanes),
        ("protocol", |bytes| read(readers::protocol, bytes), protocol),
        ("ledger", |text| read(readers::ledger, text), none),
        ("space", |text| read(readers::space, text), none),
    ];
    let reader = |(name, judge, seeds)| Target { name, judge, seeds, text: |_| None, kernel: None };
    all.0.extend(readers.map(reader));
    all.0.push(Target {
        name: "census",
        judge: census::census,
        seeds: census::seeds,
        text: census::line,
        kernel: None,
    });
    all.0
}

/// Finds a target by name.
pub fn find(name: &str) -> Result<Target, UnknownName> {
    let all = targets();
    let unknown = unknown("fuzz target", name, all.iter().map(|target| target.name));
    all.into_iter().find(|target| target.name == name).ok_or(unknown)
}

fn read(reader: fn(&[u8]), input: &[u8]) -> Result<(), String> {
    reader(input);
    Ok(())
}

struct Operations(Vec<Target>);

impl Visitor for Operations {
    fn visit<O: Fuzzed>(&mut self) {
        self.0.push(Target {
            name: O::OP,
            judge: tensor::run::<O>,
            seeds: tensor::seeds::<O>,
            text: tensor::line::<O>,
            kernel: Some(|name| tensor::one::<O>(name).map(drop)),
        });
    }
}

fn lanes() -> Vec<String> {
    let files = [
        r#"{"lanes":[{"name":"host-worker","command":["tiebreak-worker"]}]}"#,
        r#"{"lanes":[{"name":"aarch64-qemu","not_run":"no compiler"},{"name":"mine","command":["w","--x"],"patience_seconds":3,"objdump":"o"}]}"#,
        r#"{"lanes":[{"name":"mlir-x86-64","command":["w"],"modules":{"opt":"mlir-opt","translate":"mlir-translate","compile":["clang","-O2"],"target":"x86_64","features":"+avx2"}}]}"#,
    ];
    files.map(str::to_owned).to_vec()
}

/// Returns requests with payloads, in the form that a harness writes, and answers.
fn protocol() -> Vec<String> {
    let requests = [
        "{\"command\":\"hello\"}\n",
        "{\"command\":\"run\",\"op\":\"fpm\",\"kernel\":\"tvm-neon\",\"params\":{\"q\":31,\"channels\":[{\"multiplier\":1073741824,\"shift\":-1}]},\"len\":4,\"source\":{\"range\":{\"start\":-2}},\"misalign\":3}\n",
        "{\"command\":\"run\",\"op\":\"transform\",\"kernel\":\"tiebreak-transpose\",\"params\":{\"matrix\":{\"rows\":1,\"columns\":2}},\"len\":2,\"source\":{\"payload\":{\"bytes\":8}},\"misalign\":0}\nabcdefgh{\"command\":\"hello\"}\n",
        "{\"answer\":\"done\",\"bytes\":8}\n",
        "{\"answer\":\"failed\",\"reason\":\"no such kernel\"}\n",
        "{\"answer\":\"hello\",\"protocol\":1,\"arch\":\"x86_64\",\"kernels\":[{\"op\":\"fpm\",\"kernel\":\"a\",\"isa_path\":\"scalar\"}]}\n",
    ];
    requests.map(str::to_owned).to_vec()
}
