//! Types of what the commands that compare schemes print as JSON.

use super::{Number, forms};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

forms! {
    /// One case of a fixed point multiply.
    struct Case {
        x: i32,
        m: i32,
        s: i32,
        q: u32,
        /// The exact value, a fraction.
        exact: String,
        schemes: Vec<OfScheme>,
    }

    /// A scheme's result, with its steps.
    struct OfScheme {
        scheme: String,
        /// Null without a value.
        result: Option<i64>,
        steps: Vec<Step>,
    }

    /// A step, and the exact value after it.
    struct Step {
        step: String,
        value: String,
    }

    /// An explanation of one input.
    struct Explained {
        op: String,
        /// Arguments by name.
        input: BTreeMap<String, Value>,
        notes: Vec<String>,
        exact: Option<Fraction>,
        parties: Vec<Party>,
        comparisons: Vec<Comparison>,
    }

    /// An exact number.
    struct Fraction {
        fraction: String,
        decimal: String,
    }

    /// A scheme or a kernel.
    struct Party {
        name: String,
        result: Option<Number>,
        /// Result minus the exact value, a fraction.
        error: Option<String>,
        /// The scheme whose steps are shown for a kernel.
        steps_of: Option<String>,
        /// Null if nothing has steps.
        steps: Option<Vec<Explanation>>,
    }

    /// What a step does.
    struct Explanation {
        step: String,
        before: Exact,
        /// Null after the step that gives no value.
        after: Option<Exact>,
        effect: String,
        /// After minus before, a fraction.
        by: Option<String>,
        /// Rule of a rounding.
        rule: Option<String>,
        /// Whether the value was a tie.
        tie: Option<bool>,
        /// Place of the rounding in the product.
        bit: Option<i64>,
        /// Format of a rounding to a float.
        to: Option<String>,
    }

    /// Two parties.
    struct Comparison {
        left: String,
        right: String,
        left_value: Option<Number>,
        right_value: Option<Number>,
        /// Class of the difference; null without a difference.
        class: Option<String>,
        because: Option<String>,
        sentence: String,
    }

    /// Agreement of schemes.
    struct Atlas {
        /// Pairs of multiplier and shift.
        parameters: u64,
        accumulators_each: u64,
        /// Schemes that never differ on them.
        classes: Vec<Vec<Member>>,
        pairs: Vec<Pair>,
    }

    /// A scheme, and the kernels that promise it.
    struct Member {
        scheme: String,
        kernels: Vec<String>,
    }

    /// Two schemes.
    struct Pair {
        left: String,
        right: String,
        identical: bool,
        identical_parameters: u64,
        counted_parameters: u64,
        apart_parameters: u64,
        not_counted_parameters: u64,
        /// Ranges of shifts, both ends inside.
        identical_shifts: Vec<[i32; 2]>,
        identical_multipliers: Vec<i32>,
        inputs: u64,
        differ: u64,
        highest_rate: Option<Rate>,
        /// Right minus left; null without a difference, or if it is larger than told.
        largest_delta: Option<i64>,
        larger_than_told: bool,
        witness: Option<PairWitness>,
    }

    struct Rate {
        rate: f64,
        multiplier: i32,
        shift: i32,
    }

    struct PairWitness {
        x: i64,
        multiplier: i32,
        shift: i32,
        left: i64,
        right: i64,
    }

    /// Accumulators on which two schemes differ, at one multiplier and shift.
    struct Census {
        left: String,
        right: String,
        multiplier: i32,
        shift: i32,
        /// Those of the right scheme, if they are others.
        right_multiplier: Option<i32>,
        right_shift: Option<i32>,
        x_min: i64,
        x_max: i64,
        /// How results become the outputs that are compared.
        output: Option<Clamped>,
        /// Accumulators on which both schemes have a value.
        inputs: u64,
        differ: u64,
        /// Right minus left; `other` counts the deltas that are not listed.
        by_delta: BTreeMap<String, u64>,
        nearest_zero: Option<Nearest>,
        /// `closed-form`, `bisection` of monotone results, or `each` input.
        method: String,
        /// Accumulators that differ, if they are asked for.
        list: Option<Vec<Place>>,
    }

    struct Clamped {
        zero_point: i32,
        min: i32,
        max: i32,
    }

    struct Nearest {
        x: i64,
        left: i64,
        right: i64,
    }

    struct Place {
        x: i64,
        left: i64,
        right: i64,
        /// x * m * 2^(s-31), a fraction.
        exact: String,
        decimal: String,
    }

    /// The plan of a space.
    struct Plan {
        format: u32,
        space: String,
        version: String,
        commit: String,
        left: String,
        right: String,
        shifts: [i32; 2],
        multipliers: [i32; 2],
        chunk: u64,
        /// The part of the plan that was counted, of so many.
        shard: Option<String>,
    }

    /// Sums of a shift.
    struct OfShift {
        shift: i32,
        pairs: u64,
        pairs_differ: u64,
        /// Counts up to 2^67 are texts.
        inputs: String,
        out_of_domain: String,
        differ: String,
        by_delta: BTreeMap<String, String>,
        most: Option<Rarest>,
        first: Option<PairWitness>,
    }

    /// Sums of everything.
    struct Sums {
        pairs: u64,
        pairs_differ: u64,
        inputs: String,
        out_of_domain: String,
        differ: String,
        by_delta: BTreeMap<String, String>,
        most: Option<Rarest>,
        first: Option<PairWitness>,
    }

    /// The pair with the most differing inputs.
    struct Rarest {
        multiplier: i32,
        shift: i32,
        differ: u64,
    }

    /// Proofs.
    struct Proofs {
        /// 2^64.
        inputs_per_shift: String,
        pairs: Vec<Proved>,
    }

    /// Two schemes.
    struct Proved {
        left: String,
        right: String,
        decided: bool,
        statements: Vec<Statement>,
        shifts: Vec<Shift>,
        solvers: Vec<Solver>,
    }

    /// What holds at some shifts.
    struct Statement {
        shifts: [i32; 2],
        verdict: String,
        r#where: Vec<String>,
        witness: Option<ProofWitness>,
    }

    /// What holds at one shift.
    struct Shift {
        shift: i32,
        /// `identical`, `differ` or `unknown`.
        verdict: String,
        same_domain: Option<bool>,
        reason: Option<String>,
        products: Option<[i64; 2]>,
        left_shift: Option<i64>,
        differences: Option<Vec<Difference>>,
        extent: Option<String>,
        witness: Option<ProofWitness>,
    }

    struct ProofWitness {
        x: i64,
        m: i64,
        left: i64,
        right: i64,
    }

    /// Products on which the schemes differ.
    struct Difference {
        bits: u32,
        delta: Value,
        first: Number,
        last: Number,
        lo: Number,
        hi: Number,
    }

    /// A function against a scheme.
    struct ProvedCode {
        source: String,
        function: String,
        contract: String,
        /// What each parameter is: x, m, s, or made of s.
        arguments: String,
        /// Least and greatest multiplier; null if all int32.
        multipliers: Option<[i32; 2]>,
        zero_point: Option<i32>,
        clamp: Option<[i32; 2]>,
        /// Compiler of C with its flags.
        compiler: Option<String>,
        /// An input to which the contract gives no value; nothing is proved there.
        without_value: Option<Valueless>,
        /// Whether each shift that the contract has is proved.
        proved: bool,
        /// Inputs on which terms and compiled code agree.
        compared: u64,
        /// Versions.
        solvers: Vec<String>,
        shifts: Vec<CodeShift>,
    }

    /// An input without a value.
    struct Valueless {
        x: i32,
        m: i32,
        s: i32,
    }

    /// The verdict on code at one shift.
    struct CodeShift {
        shift: i32,
        /// `proved`, `refuted`, `not promised` or `unknown`.
        verdict: String,
        /// Whether code and scheme are one term, so that no solver was asked.
        same_term: Option<bool>,
        reason: Option<String>,
        x: Option<i32>,
        m: Option<i32>,
        /// The result by the terms; null if the code is undefined.
        got: Option<i32>,
        expected: Option<i32>,
        /// What the code returned when it was called.
        returned: Option<i32>,
    }

    /// Kernels against their contracts.
    struct ProvedKernels {
        solvers: Vec<String>,
        /// Whether each kernel is proved and each mutant refuted.
        holds: bool,
        rows: Vec<KernelRow>,
    }

    /// One form of a kernel against one promise.
    struct KernelRow {
        /// `fpm` or `requantize`.
        op: String,
        kernel: String,
        mutant: bool,
        /// `portable` or `native`.
        form: String,
        positions: Vec<u64>,
        contract: String,
        proved: bool,
        refuted: bool,
        /// Seconds of the run that decided it.
        seconds: f64,
        /// Whether it was taken from an earlier run.
        kept: bool,
        /// SHA-256 of code, contract and axioms as terms.
        terms: String,
        /// Why the code has no terms.
        not_translated: Option<String>,
        compared: Option<u64>,
        shifts: Option<Vec<CodeShift>>,
    }

    /// Bounds of narrow lanes and casts, and the axioms of products.
    struct ProvedBounds {
        solvers: Vec<String>,
        /// Whether each statement is proved and each false axiom refused.
        holds: bool,
        bounds: Vec<ProvedBound>,
        axioms: Vec<Axiom>,
    }

    /// A statement for all inputs.
    struct ProvedBound {
        /// Instruction or cast.
        name: String,
        claim: String,
        proved: bool,
        seconds: f64,
        questions: Vec<BoundQuestion>,
    }

    /// A question to the solvers: is there such an input?
    struct BoundQuestion {
        question: String,
        /// `yes`, `no` or `no answer` of each solver.
        answers: Vec<String>,
        /// Whether every answer is the one that the statement needs.
        held: bool,
        /// An input that was computed again.
        witness: Option<String>,
    }

    /// An axiom, or a range that is none.
    struct Axiom {
        name: String,
        r#true: bool,
        /// Whether a solver finds a product against it: `yes`, `no` or `no answer`.
        denial: String,
        held: bool,
    }

    /// What an SMT solver answered.
    struct Solver {
        solver: String,
        version: String,
        confirmed: u64,
        contradicted: u64,
        vacuous: u64,
        unanswered: u64,
        not_posed: u64,
    }

    /// The quantized types and the ops of the quant dialect in a file.
    struct CheckedFile {
        file: String,
        items: Vec<CheckedItem>,
        /// Items that break a rule.
        broken: u64,
    }

    struct CheckedItem {
        line: u64,
        text: String,
        /// The rule that it breaks; null if it is sound.
        error: Option<String>,
    }

    /// A type or an op of MLIR's quant dialect.
    struct Checked {
        text: String,
        op: Option<String>,
        /// Null if the type is not quantized.
        quantized: Option<Quantized>,
    }

    struct Quantized {
        storage: String,
        min: i64,
        max: i64,
        expressed: String,
        /// Which elements share a scale.
        shares: String,
        scales: Vec<Scale>,
        warnings: Vec<String>,
    }

    struct Scale {
        scale: f64,
        /// The scale in the expressed type, exactly.
        step: String,
        bits: String,
        zero_point: i64,
        least: String,
        most: String,
        converted: [String; 2],
        /// Stored values whose real is no number of the expressed type.
        inexact: u64,
        first_inexact: Option<i64>,
        same: Option<[i64; 2]>,
    }

    /// A rewrite at a type.
    struct Rewrite {
        rewrite: String,
        #[serde(rename = "type")]
        ty: String,
        /// What the RFC says: `same`, `slight`, `nothing` or `ways`.
        said: String,
        /// `exhaustive` or `sampled`.
        coverage: String,
        inputs: serde_json::Number,
        same: serde_json::Number,
        differ: serde_json::Number,
        undefined: serde_json::Number,
        largest: Option<String>,
        witness: Option<String>,
        nearer: Option<String>,
    }
}

/// An exact number, or a text such as `inf`.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
#[allow(dead_code)]
pub(super) enum Exact {
    Number(Fraction),
    Text(String),
}

/// A line of `census --space` and of `merge`.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[allow(dead_code)]
pub(super) enum Space {
    Plan(Plan),
    Shift(OfShift),
    Total(Sums),
}
