//! SMT-LIB text of terms. Products are multiplications, or free integers with proved axioms.
//!
//! A plain 63-bit interval in place of a product is too weak: true statements would have counterexamples. The axioms are proved over integers by
//! [`axioms`], in the same run. If no such integers contradict a statement, no products do. A counterexample counts only after two factors of the
//! product are found.

use super::term::{Node, Op, Term, Terms};
use std::collections::HashMap;
use std::fmt::Write;

/// Encoding of products.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Products {
    /// Multiplications.
    Full,
    /// Free integers with axioms.
    Abstract,
}

/// Product of two 32-bit words.
#[derive(Clone, Debug)]
struct Product {
    term: Term,
    number: usize,
}

/// Declarations and definitions of terms, with their products.
#[derive(Clone, Debug)]
pub(crate) struct Query {
    text: String,
}

impl Query {
    /// Defines everything that `roots` need.
    pub(crate) fn new(terms: &mut Terms, roots: &[Term], products: Products) -> Self {
        let mut all = roots.to_vec();
        let (factors, found) = match products {
            Products::Full => (Vec::new(), Vec::new()),
            Products::Abstract => found(terms, roots),
        };
        factors.iter().for_each(|(a, b)| all.extend([*a, *b]));
        let mut query = Self { text: "(set-logic QF_BV)\n".to_owned() };
        for term in terms.needed(&all) {
            query.define(terms, term, &found);
        }
        query.constrain(&factors);
        query.bound(terms, &factors);
        query
    }

    /// Returns the definitions with terms numbered in order, and the numbers of `roots`. Equal graphs have equal texts.
    pub(crate) fn renumbered(&self, roots: &[Term]) -> String {
        let mut numbers: HashMap<String, usize> = HashMap::new();
        let mut text = String::new();
        let roots = roots.iter().map(|root| format!(" t{}", Terms::position(*root))).collect::<String>();
        for part in (self.text.clone() + &roots).split_inclusive([' ', '(', ')', '\n']) {
            let word = part.trim_end_matches([' ', '(', ')', '\n']);
            let is_term =
                word.strip_prefix('t').is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()));
            if is_term {
                let next = numbers.len();
                let number = *numbers.entry(word.to_owned()).or_insert(next);
                // Writing to a string cannot fail.
                let _ = write!(text, "t{number}{}", &part[word.len()..]);
            } else {
                text.push_str(part);
            }
        }
        text
    }

    /// Asserts that these truth values hold.
    pub(crate) fn given(mut self, held: &[Term]) -> Self {
        for term in held {
            self.write(format_args!("(assert (= t{} #b1))\n", Terms::position(*term)));
        }
        self
    }

    /// Returns the text of a question; the answer includes the values of these variables.
    pub(crate) fn ask(&self, names: &[&str]) -> String {
        let values = if names.is_empty() { String::new() } else { format!("(get-value ({}))\n", names.join(" ")) };
        format!("{}(check-sat)\n{values}", self.text)
    }

    /// Returns declarations, definitions and assertions.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    fn write(&mut self, text: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = self.text.write_fmt(text);
    }

    fn define(&mut self, terms: &Terms, term: Term, found: &[Product]) {
        let (at, width) = (Terms::position(term), terms.width(term));
        let text = match (found.iter().find(|product| product.term == term), terms.node(term)) {
            (Some(product), _) if width == 64 => format!("p{}", product.number),
            (Some(product), _) => format!("((_ sign_extend {}) p{})", width - 64, product.number),
            (None, Node::Variable(name)) => {
                self.write(format_args!("(declare-const {name} (_ BitVec {width}))\n"));
                name.clone()
            }
            (None, Node::Constant(bits)) => format!("(_ bv{bits} {width})"),
            (None, Node::Apply(op, operands)) => applied(terms, *op, operands, width),
        };
        if let Some(product) = found.iter().find(|product| product.term == term)
            && !self.text.contains(&format!("(declare-const p{} ", product.number))
        {
            self.write(format_args!("(declare-const p{} (_ BitVec 64))\n", product.number));
        }
        self.write(format_args!("(define-fun t{at} () (_ BitVec {width}) {text})\n"));
    }

    /// Asserts the bounds of products whose factors have narrower bounds than a word. A product is between the products of these bounds.
    fn bound(&mut self, terms: &Terms, factors: &[(Term, Term)]) {
        let word = super::range::whole(32);
        for (n, (a, b)) in factors.iter().enumerate() {
            let (a, b) = (terms.range(*a), terms.range(*b));
            if a == word && b == word {
                continue;
            }
            let corners = [a.0 * b.0, a.0 * b.1, a.1 * b.0, a.1 * b.1];
            let low = corners.into_iter().fold(i128::MAX, i128::min);
            let high = corners.into_iter().fold(i128::MIN, i128::max);
            let [low, high] = [low, high].map(|n| format!("(_ bv{} 64)", n as u64));
            self.write(format_args!("(assert (and (bvsge p{n} {low}) (bvsle p{n} {high})))\n"));
        }
    }

    /// Asserts the axioms of each product, and that equal factors have equal products.
    fn constrain(&mut self, factors: &[(Term, Term)]) {
        let word = |term: Term| format!("t{}", Terms::position(term));
        for (n, (a, b)) in factors.iter().enumerate() {
            let (a, b) = (word(*a), word(*b));
            self.write(format_args!("{}\n", of_product(&format!("p{n}"), &a, &b)));
            for (k, (c, d)) in factors[..n].iter().enumerate() {
                let (c, d) = (word(*c), word(*d));
                self.write(format_args!(
                    "(assert (=> (or (and (= {a} {c}) (= {b} {d})) (and (= {a} {d}) (= {b} {c}))) (= p{n} p{k})))\n"
                ));
            }
        }
    }
}

/// Returns the products of two words that `roots` need, numbered by their factors. Products with a constant are left out.
fn found(terms: &mut Terms, roots: &[Term]) -> (Vec<(Term, Term)>, Vec<Product>) {
    let mut numbers: HashMap<(Term, Term), usize> = HashMap::new();
    let mut factors = Vec::new();
    let mut all = Vec::new();
    for term in terms.needed(roots) {
        let Node::Apply(Op::Mul, operands) = terms.node(term).clone() else { continue };
        let (a, b) = (operands[0], operands[1]);
        if terms.width(term) < 64 || terms.value(a).is_some() || terms.value(b).is_some() {
            continue;
        }
        let (Some(a), Some(b)) = (terms.word(a), terms.word(b)) else { continue };
        let key = (a.min(b), a.max(b));
        let number = *numbers.entry(key).or_insert_with(|| {
            factors.push(key);
            factors.len() - 1
        });
        all.push(Product { term, number });
    }
    (factors, all)
}

fn applied(terms: &Terms, op: Op, operands: &[Term], width: u32) -> String {
    let of = |n: usize| format!("t{}", Terms::position(operands[n]));
    let plain = |name: &str| format!("({name} {} {})", of(0), of(1));
    let truth = |name: &str| format!("(ite ({name} {} {}) #b1 #b0)", of(0), of(1));
    match op {
        Op::Not => format!("(bvnot {})", of(0)),
        Op::And => plain("bvand"),
        Op::Or => plain("bvor"),
        Op::Xor => plain("bvxor"),
        Op::Add => plain("bvadd"),
        Op::Sub => plain("bvsub"),
        Op::Mul => plain("bvmul"),
        Op::SignedDiv => plain("bvsdiv"),
        Op::SignedRem => plain("bvsrem"),
        Op::UnsignedDiv => plain("bvudiv"),
        Op::UnsignedRem => plain("bvurem"),
        Op::Shl => plain("bvshl"),
        Op::LogicalShr => plain("bvlshr"),
        Op::ArithmeticShr => plain("bvashr"),
        Op::Equal => truth("="),
        Op::UnsignedLess => truth("bvult"),
        Op::SignedLess => truth("bvslt"),
        Op::Choose => format!("(ite (= {} #b1) {} {})", of(0), of(1), of(2)),
        Op::Extract(low) => format!("((_ extract {} {low}) {})", low + width - 1, of(0)),
        Op::ZeroExtend => format!("((_ zero_extend {}) {})", width - terms.width(operands[0]), of(0)),
        Op::SignExtend => format!("((_ sign_extend {}) {})", width - terms.width(operands[0]), of(0)),
    }
}

/// Returns the axioms of `p = a * b` for words: the largest product is far from all others, and the sign follows from the factors.
fn of_product(p: &str, a: &str, b: &str) -> String {
    let (top, most) = (1i128 << 62, (1i128 << 62) - (1 << 31));
    let number = |n: i128| format!("(_ bv{} 64)", n as u64);
    let (least, zero) = ("#x80000000", "#x00000000");
    format!(
        "(assert (or (= {p} {top}) (and (bvsge {p} {low}) (bvsle {p} {high}))))\n\
         (assert (= (= {p} {top}) (and (= {a} {least}) (= {b} {least}))))\n\
         (assert (= (bvslt {p} {none}) (or (and (bvslt {a} {zero}) (bvsgt {b} {zero})) (and (bvsgt {a} {zero}) (bvslt {b} {zero})))))\n\
         (assert (= (= {p} {none}) (or (= {a} {zero}) (= {b} {zero}))))",
        top = number(top),
        low = number(-most),
        high = number(most),
        none = number(0),
    )
}

/// Returns the negated axioms of [`of_product`] over integers: two words and their product. Each is unsatisfiable.
pub(crate) fn axioms() -> Vec<(&'static str, String)> {
    [
        (
            "the gap below the largest product",
            "(or (= p 4611686018427387904) (and (<= (- 4611686016279904256) p) (<= p 4611686016279904256)))",
        ),
        ("the largest product", "(= (= p 4611686018427387904) (and (= a (- 2147483648)) (= b (- 2147483648))))"),
        ("the sign of a product", "(= (< p 0) (or (and (< a 0) (> b 0)) (and (> a 0) (< b 0))))"),
        ("a product of zero", "(= (= p 0) (or (= a 0) (= b 0)))"),
    ]
    .map(|(name, axiom)| (name, denied(axiom)))
    .into()
}

/// Returns negated ranges that look like axioms and are false. Each is satisfiable, so that the check of axioms refuses it.
pub(crate) fn false_axioms() -> Vec<(&'static str, String)> {
    [
        ("every product is below 2^62", "(< p 4611686018427387904)"),
        (
            "every product is at most 2^62 - 2^31 from zero",
            "(and (<= (- 4611686016279904256) p) (<= p 4611686016279904256))",
        ),
    ]
    .map(|(name, axiom)| (name, denied(axiom)))
    .into()
}

fn denied(axiom: &str) -> String {
    format!(
        "(set-logic QF_NIA)\n(declare-const a Int)\n(declare-const b Int)\n(declare-const p Int)\n\
         (assert (and (<= (- 2147483648) a) (< a 2147483648) (<= (- 2147483648) b) (< b 2147483648) (= p (* a b))))\n\
         (assert (not {axiom}))\n(check-sat)\n"
    )
}
