//! Text of numbers, cases, witnesses and findings, equal in every report.

use crate::ledger::{
    Bound, BoundWitness, Case, CatalogueRun, Counts, Coverage, Example, Finding, LaneStatus, OutsideDomain, Rewrite,
    Verdict, Witness,
};
use indexmap::IndexMap;
use std::collections::BTreeMap;

/// Formats a count with thousands separators: `4,294,967,296`.
pub fn count(n: u64) -> String {
    big_count(n.into())
}

/// Formats a count that may not fit in 64 bits.
pub fn big_count(n: u128) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Formats a number of parameter pairs: a dash for an operation without pairs.
pub fn parameters(n: u64) -> String {
    if n == 0 { "-".to_owned() } else { count(n) }
}

/// Formats a count with its noun: `1 finding`, `3 findings`.
pub fn plural(n: usize, noun: &str) -> String {
    format!("{} {noun}{}", count(n as u64), if n == 1 { "" } else { "s" })
}

/// Formats seconds with three decimals below 1, fewer above, and none from 100: `0.042`, `3.17`, `41.9`, `1,204`.
pub fn seconds(s: f64) -> String {
    match s {
        s if s < 1.0 => format!("{s:.3}"),
        s if s < 10.0 => format!("{s:.2}"),
        s if s < 100.0 => format!("{s:.1}"),
        s => count(s.round() as u64),
    }
}

/// Formats a delta with its sign: `+1`, `-1`.
pub fn delta(delta: &str) -> String {
    match delta.parse::<i128>() {
        Ok(d) => format!("{d:+}"),
        Err(_) => delta.to_owned(),
    }
}

/// Formats differences by delta, one item each: `+1: 8,388,607`. One up and one down come first, then the most frequent deltas. A last item
/// counts the deltas beyond `most` items.
pub fn deltas(by_delta: &BTreeMap<String, u64>, most: usize) -> Vec<String> {
    let mut items: Vec<(i128, u64)> = by_delta.iter().filter_map(|(d, n)| Some((d.parse().ok()?, *n))).collect();
    items.sort_by_key(|(d, n)| (d.abs() > 1, std::cmp::Reverse(*n), d.abs(), *d));
    let mut out: Vec<String> =
        items.iter().take(most).map(|(d, n)| format!("{}: {}", delta(&d.to_string()), count(*n))).collect();
    let shown: u64 = items.iter().take(most).map(|(_, n)| n).sum();
    match by_delta.values().sum::<u64>() - shown {
        0 => {}
        rest => out.push(format!("others: {}", count(rest))),
    }
    out
}

/// Formats differences by class, the most frequent first. A single class has no count, because the sum is known.
pub fn classes(classes: &BTreeMap<String, u64>, most: usize, noun: &str) -> Vec<String> {
    if classes.len() == 1 {
        return classes.keys().cloned().collect();
    }
    let mut items: Vec<_> = classes.iter().map(|(class, n)| (class.clone(), *n)).collect();
    items.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    counted(items.into_iter(), most, noun)
}

/// Formats all classes with their counts, after the sum: `33,683 differ: wrap 21,276, double-rounding 12,407`.
pub fn all_classes(differ: u64, classes: &BTreeMap<String, u64>) -> String {
    let mut items: Vec<_> = classes.iter().collect();
    items.sort_by_key(|(_, n)| std::cmp::Reverse(**n));
    let items: Vec<_> = items.into_iter().map(|(class, n)| format!("{class} {}", count(*n))).collect();
    format!("{} differ: {}", count(differ), items.join(", "))
}

fn counted(items: impl ExactSizeIterator<Item = (String, u64)>, most: usize, rest: &str) -> Vec<String> {
    let hidden = items.len().saturating_sub(most);
    let mut left = 0;
    let mut out = Vec::new();
    for (i, (name, n)) in items.enumerate() {
        if i < most {
            out.push(format!("{name}: {}", count(n)));
        } else {
            left += n;
        }
    }
    if hidden > 0 {
        let ending = if rest.ends_with('s') { "es" } else { "s" };
        let ending = if hidden == 1 { "" } else { ending };
        out.push(format!("{hidden} {rest}{ending}: {}", count(left)));
    }
    out
}

/// Returns the first `most` names, and the number of the rest: `a, b and 3 more`.
pub(crate) fn some<T: AsRef<str>>(names: &[T], most: usize) -> String {
    let shown: Vec<&str> = names.iter().take(most).map(AsRef::as_ref).collect();
    let shown = shown.join(", ");
    match names.len().saturating_sub(most) {
        0 => shown,
        more => format!("{shown} and {} more", count(more as u64)),
    }
}

/// Returns at most `most` bytes of a text on one line, cut between words if possible, with a mark for the missing rest.
pub(crate) fn cut(text: &str, most: usize) -> String {
    const MARK: &str = " ...";
    let text = one_line(text);
    if text.len() <= most {
        return text;
    }
    let end = text.floor_char_boundary(most.saturating_sub(MARK.len()));
    // A word longer than this, such as a path, is cut inside.
    const WORD: usize = 32;
    let space = text.match_indices(' ').map(|(at, _)| at).take_while(|at| *at <= end).last();
    let words = space.filter(|space| end - space < WORD).unwrap_or(end);
    format!("{}{MARK}", text[..words].trim_end_matches([' ', ',', ';', ':']))
}

/// Formats a case: `x=-1 m=1073741825 s=-1`. Numbers are bare, to be pasted into a command or a catalogue.
pub fn case(case: &Case) -> String {
    let arguments: Vec<_> = case.iter().map(|(name, value)| format!("{name}={value}")).collect();
    arguments.join(" ")
}

/// Returns a scheme without the most common policy: `gemmlowp-double:wrap` is `gemmlowp-double`, while `gemmlowp-double:saturate` keeps
/// its name, because the policy may be the difference.
pub fn scheme(scheme: &str) -> &str {
    scheme.strip_suffix(":wrap").unwrap_or(scheme)
}

/// Formats a witness: `x=-1 m=1073741825 s=-1: got 0, ties-up 1, class tie-direction`. Without a value to compare (a crash), the text is
/// `x=-1 m=1073741825 s=-1: class crash`.
pub fn witness(witness: &Witness) -> String {
    /// Number of characters beyond which a case follows its results.
    const LONG: usize = 240;
    let Witness { got, class, .. } = witness;
    let case = case(&witness.case);
    match &witness.expected {
        Some(expected) => {
            let results = format!("got {got}, {} {expected}, class {class}", scheme(&witness.scheme));
            // The results would otherwise be far from the kernel's name.
            if case.len() > LONG { format!("{results}: {case}") } else { format!("{case}: {results}") }
        }
        None => format!("{case}: class {class}"),
    }
}

/// Formats a difference of another class than that of the smallest difference.
pub fn example(example: &Example) -> String {
    let Example { class, case, got, expected, .. } = example;
    format!("of class {class}: {case}: got {got}, expected {expected}")
}

/// Returns foreign text on one line, because a worker's text must not control the terminal.
pub fn one_line(text: &str) -> String {
    let words = text.split(|c: char| c.is_control() || c.is_whitespace());
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Formats a finding in one line that a reader can act on: with values if there are any, otherwise with the message:
/// - `fpm tvm-neon-rfc aarch64-qemu x=-1 m=1073741825 s=-1: got 0, gemmlowp-double -1, class tie-direction`
/// - `fpm gemmlowp-neon aarch64-qemu x=7 m=5 s=0: the worker ended with signal 4, class crash`
/// - `aarch64-qemu: no qemu-aarch64 on PATH, class not-run`
pub fn finding(finding: &Finding) -> String {
    finding_in(finding, &finding.lane)
}

/// Formats a finding of several lanes, whose names are in `lane`.
pub(crate) fn finding_in(finding: &Finding, lane: &str) -> String {
    let subject = subject(finding, lane);
    let line = match &finding.witness {
        Some(seen) if seen.expected.is_some() => format!("{subject} {}", witness(seen)),
        Some(seen) => {
            format!("{subject} {}: {}, class {}", case(&seen.case), finding.message, finding.class)
        }
        None => format!("{subject}: {}, class {}", finding.message, finding.class),
    };
    one_line(&line)
}

/// Returns explanations in addition to a finding's line: the message if the line has values instead, and the cause that reproduces them.
pub fn finding_details(finding: &Finding) -> Vec<String> {
    let Some(witness) = &finding.witness else {
        return Vec::new();
    };
    let message = witness.expected.as_ref().map(|_| finding.message.as_str());
    let details = message.into_iter().chain([witness.because.as_str()]);
    details.map(one_line).filter(|line| !line.is_empty()).collect()
}

fn subject(finding: &Finding, lane: &str) -> String {
    let named = [finding.op.as_str(), finding.kernel.as_str(), lane];
    let named: Vec<_> = named.into_iter().filter(|name| !name.is_empty()).collect();
    named.join(" ")
}

/// Returns the command that reproduces a finding: the command of its witness, or of the whole run.
pub fn rerun<'a>(finding: &'a Finding, run: &'a str) -> &'a str {
    match &finding.witness {
        Some(witness) if !witness.command.is_empty() => &witness.command,
        _ => run,
    }
}

/// Formats the status of a lane: `aarch64, via qemu-aarch64 worker`, or `not run: reason`.
pub fn lane(status: &LaneStatus) -> String {
    let line = match status {
        LaneStatus::Ran { arch, via } if via == "in process" => format!("{arch}, in process"),
        LaneStatus::Ran { arch, via } => format!("{arch}, via {via}"),
        LaneStatus::NotRun { reason, allowed: true } => format!("not run: {reason} (allowed)"),
        LaneStatus::NotRun { reason, allowed: false } => format!("not run: {reason}"),
    };
    one_line(&line)
}

/// Returns the verdict in a word.
pub fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Holds => "holds",
        Verdict::Broken => "broken",
        Verdict::Unfinished => "unfinished",
    }
}

/// Returns the coverage in a word.
pub fn coverage(coverage: Coverage) -> &'static str {
    match coverage {
        Coverage::Exhaustive => "exhaustive",
        Coverage::Sampled => "sampled",
    }
}

/// Describes the outputs of kept cases: the number judged, the number outside a contract, and the number of cases without an answer.
pub(crate) fn catalogue_outcome([judged, broken, unanswered]: [u64; 3]) -> String {
    let outcome = match (broken, judged) {
        (0, 0) => "nothing judged".to_owned(),
        (0, _) if unanswered > 0 => "as promised".to_owned(),
        (0, _) => "all as promised".to_owned(),
        (n, _) => format!("{} not as promised", count(n)),
    };
    match unanswered {
        0 => outcome,
        n => format!("{outcome}, {} without an answer", plural(n as usize, "case")),
    }
}

/// Formats a catalogue run in one line.
pub fn catalogue(run: &CatalogueRun) -> String {
    let outcome = catalogue_outcome([run.judged, run.broken, run.unanswered]);
    let not_taken = match run.not_taken {
        0 => String::new(),
        n => format!(" ({} accepted by no kernel of this run)", count(n)),
    };
    format!("{} {}: {} cases{not_taken}, {} outputs, {outcome}", run.op, run.lane, count(run.cases), count(run.judged))
}

/// Lists kernels outside a run's parameters, grouped by domain: `fpm tvm-neon-rfc, gemmlowp: s <= 0`.
pub fn outside_domain(all: &[OutsideDomain]) -> Vec<String> {
    let mut groups: IndexMap<(&str, &str), Vec<&str>> = IndexMap::new();
    for outside in all {
        groups.entry((&outside.op, &outside.domain)).or_default().push(&outside.kernel);
    }
    groups.iter().map(|((op, domain), kernels)| format!("{op} {}: {domain}", kernels.join(", "))).collect()
}

/// Formats the number of a bound, or `none`.
pub fn bound(bound: &Bound) -> String {
    bound
        .bound
        .map_or("none".to_owned(), |n| if n < 0 { format!("-{}", count(n.unsigned_abs())) } else { count(n as u64) })
}

/// Formats the results one past a bound: `got -2147451646, exact 2147515650`.
pub fn past(bound: &Bound) -> String {
    let format_values = |w: &BoundWitness| format!("got {}, exact {}", w.got, w.exact);
    bound.witness_past_bound.as_ref().map_or("safe everywhere".to_owned(), format_values)
}

/// Returns the verdict of a rewrite, and the recorded counts if the run's counts differ.
pub(crate) fn rewrite(rewrite: &Rewrite) -> String {
    let Counts { same, differ, undefined } = rewrite.recorded;
    let [same, differ, undefined] = [same, differ, undefined].map(count);
    match rewrite.held() {
        true => rewrite.verdict.clone(),
        false => format!("{}; recorded are {same} same, {differ} differ, {undefined} poison", rewrite.verdict),
    }
}

/// Counts the bounds that were shown.
pub fn bounds(all: &[Bound]) -> String {
    let shown = all.iter().filter(|b| b.shown).count();
    let open = all.len() - shown;
    let failed = if open == 0 { String::new() } else { format!(", {open} not shown") };
    format!("{}: sums are exact at the bound and wrong one past it{failed}", plural(shown, "bound"))
}
