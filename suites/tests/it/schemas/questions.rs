//! Types of the JSON output of commands that compare schemes.

use super::{Number, forms};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

forms! {
    /// Case of a fixed point multiply.
    struct Case {
        x: i32,
        m: i32,
        s: i32,
        q: u32,
        /// Exact value, a fraction.
        exact: String,
        schemes: Vec<OfScheme>,
    }

    /// Result of a scheme, with its steps.
    struct OfScheme {
        scheme: String,
        /// Result; null without a value.
        result: Option<i64>,
        steps: Vec<Step>,
    }

    /// Step, and the exact value after it.
    struct Step {
        step: String,
        value: String,
    }

    /// Explanation of one input.
    struct Explained {
        op: String,
        /// Arguments by name.
        input: BTreeMap<String, Value>,
        notes: Vec<String>,
        exact: Option<Fraction>,
        parties: Vec<Party>,
        comparisons: Vec<Comparison>,
    }

    /// Exact number.
    struct Fraction {
        fraction: String,
        decimal: String,
    }

    /// Scheme or kernel.
    struct Party {
        name: String,
        result: Option<Number>,
        /// Result minus the exact value, a fraction.
        error: Option<String>,
        /// Scheme whose steps are shown for a kernel.
        steps_of: Option<String>,
        /// Steps; null if there are none.
        steps: Option<Vec<Explanation>>,
    }

    /// Effect of a step.
    struct Explanation {
        step: String,
        before: Exact,
        /// Value after the step; null if the step gives none.
        after: Option<Exact>,
        effect: String,
        /// After minus before, a fraction.
        by: Option<String>,
        /// Rule of a rounding.
        rule: Option<String>,
        /// True if the value was a tie.
        tie: Option<bool>,
        /// Place of the rounding in the product.
        bit: Option<i64>,
        /// Format of a rounding to a float.
        to: Option<String>,
    }

    /// Comparison of two parties.
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
        /// Schemes that never differ on the counted parameters.
        classes: Vec<Vec<Member>>,
        pairs: Vec<Pair>,
    }

    /// Scheme, and the kernels with this scheme as their contract.
    struct Member {
        scheme: String,
        kernels: Vec<String>,
    }

    /// Pair of schemes.
    struct Pair {
        left: String,
        right: String,
        identical: bool,
        identical_parameters: u64,
        counted_parameters: u64,
        apart_parameters: u64,
        not_counted_parameters: u64,
        /// Ranges of shifts, both ends included.
        identical_shifts: Vec<[i32; 2]>,
        identical_multipliers: Vec<i32>,
        inputs: u64,
        differ: u64,
        highest_rate: Option<Rate>,
        /// Right minus left; null without a difference, or if `larger_than_told`.
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
        /// Multiplier and shift of the right scheme, if they differ.
        right_multiplier: Option<i32>,
        right_shift: Option<i32>,
        x_min: i64,
        x_max: i64,
        /// Conversion of results to the compared outputs.
        output: Option<Clamped>,
        /// Accumulators on which both schemes have a value.
        inputs: u64,
        differ: u64,
        /// Right minus left; `other` counts the deltas that are not listed.
        by_delta: BTreeMap<String, u64>,
        nearest_zero: Option<Nearest>,
        /// `closed-form`, `bisection` of monotone results, or `each` input.
        method: String,
        /// Accumulators that differ, if requested.
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

    /// Plan of a space.
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
        /// Counted part of the plan, as `I/N`.
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

    /// Sums over all shifts.
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

    /// Pair with the most differing inputs.
    struct Rarest {
        multiplier: i32,
        shift: i32,
        differ: u64,
    }

    /// Proofs of pairs of schemes.
    struct Proofs {
        /// Inputs at each shift: 2^64.
        inputs_per_shift: String,
        pairs: Vec<Proved>,
    }

    /// Proof of a pair of schemes.
    struct Proved {
        left: String,
        right: String,
        decided: bool,
        statements: Vec<Statement>,
        shifts: Vec<Shift>,
        solvers: Vec<Solver>,
    }

    /// Statement on some shifts.
    struct Statement {
        shifts: [i32; 2],
        verdict: String,
        r#where: Vec<String>,
        witness: Option<ProofWitness>,
    }

    /// Verdict at one shift.
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

    /// Proof of a function against a scheme.
    struct ProvedCode {
        source: String,
        function: String,
        contract: String,
        /// Meaning of each parameter: x, m, s, or made of s.
        arguments: String,
        /// Smallest and largest multiplier; null for all int32.
        multipliers: Option<[i32; 2]>,
        zero_point: Option<i32>,
        clamp: Option<[i32; 2]>,
        /// C compiler with its flags.
        compiler: Option<String>,
        /// Input without a value of the contract; nothing is proved there.
        without_value: Option<Valueless>,
        /// True if each shift of the contract is proved.
        proved: bool,
        /// Inputs on which terms and compiled code agree.
        compared: u64,
        /// Versions of the solvers.
        solvers: Vec<String>,
        shifts: Vec<CodeShift>,
    }

    /// Input without a value.
    struct Valueless {
        x: i32,
        m: i32,
        s: i32,
    }

    /// Verdict on code at one shift.
    struct CodeShift {
        shift: i32,
        /// `proved`, `refuted`, `not promised` or `unknown`.
        verdict: String,
        /// True if code and scheme are one term, so that no solver ran.
        same_term: Option<bool>,
        reason: Option<String>,
        x: Option<i32>,
        m: Option<i32>,
        /// Result by the terms; null if the code is undefined.
        got: Option<i32>,
        expected: Option<i32>,
        /// Result of a call of the code.
        returned: Option<i32>,
    }

    /// Proofs of kernels against their contracts.
    struct ProvedKernels {
        solvers: Vec<String>,
        /// True if each kernel is proved and each mutant refuted.
        holds: bool,
        rows: Vec<KernelRow>,
    }

    /// Proof of one form of a kernel against one contract.
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
        /// Seconds of the run that decided the proof.
        seconds: f64,
        /// True if the proof was taken from an earlier run.
        kept: bool,
        /// SHA-256 of code, contract and axioms as terms.
        terms: String,
        /// Reason why the code has no terms.
        not_translated: Option<String>,
        compared: Option<u64>,
        shifts: Option<Vec<CodeShift>>,
    }

    /// Bounds of narrow lanes and casts, and the axioms of products.
    struct ProvedBounds {
        solvers: Vec<String>,
        /// True if each statement is proved and each false axiom rejected.
        holds: bool,
        bounds: Vec<ProvedBound>,
        axioms: Vec<Axiom>,
    }

    /// Statement for all inputs.
    struct ProvedBound {
        /// Instruction or cast.
        name: String,
        claim: String,
        proved: bool,
        seconds: f64,
        questions: Vec<BoundQuestion>,
    }

    /// Question to the solvers: does such an input exist?
    struct BoundQuestion {
        question: String,
        /// `yes`, `no` or `no answer` of each solver.
        answers: Vec<String>,
        /// True if every answer is the one that the statement needs.
        held: bool,
        /// Input that was computed again.
        witness: Option<String>,
    }

    /// Axiom, or a range in which it does not hold.
    struct Axiom {
        name: String,
        r#true: bool,
        /// Counterexample by a solver: `yes`, `no` or `no answer`.
        denial: String,
        held: bool,
    }

    /// Answers of an SMT solver.
    struct Solver {
        solver: String,
        version: String,
        confirmed: u64,
        contradicted: u64,
        vacuous: u64,
        unanswered: u64,
        not_posed: u64,
    }

    /// Quantized types and ops of the quant dialect in a file.
    struct CheckedFile {
        file: String,
        items: Vec<CheckedItem>,
        /// Items that break a rule.
        broken: u64,
    }

    struct CheckedItem {
        line: u64,
        text: String,
        /// Rule that the item breaks; null if it is valid.
        error: Option<String>,
    }

    /// Type or op of MLIR's quant dialect.
    struct Checked {
        text: String,
        op: Option<String>,
        /// Quantized type; null if the type is not quantized.
        quantized: Option<Quantized>,
    }

    struct Quantized {
        storage: String,
        min: i64,
        max: i64,
        expressed: String,
        /// Elements that share a scale.
        shares: String,
        scales: Vec<Scale>,
        warnings: Vec<String>,
    }

    struct Scale {
        scale: f64,
        /// Exact value of the scale in the expressed type.
        step: String,
        bits: String,
        zero_point: i64,
        least: String,
        most: String,
        converted: [String; 2],
        /// Stored values whose real value is not a number of the expressed type.
        inexact: u64,
        first_inexact: Option<i64>,
        same: Option<[i64; 2]>,
    }

    /// Rewrite at a type.
    struct Rewrite {
        rewrite: String,
        #[serde(rename = "type")]
        ty: String,
        /// Claim of the RFC: `same`, `slight`, `nothing` or `ways`.
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

/// Exact number, or a text such as `inf`.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
#[allow(dead_code)]
pub(super) enum Exact {
    Number(Fraction),
    Text(String),
}

/// Line of `census --space` and of `merge`.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[allow(dead_code)]
pub(super) enum Space {
    Plan(Plan),
    Shift(OfShift),
    Total(Sums),
}
