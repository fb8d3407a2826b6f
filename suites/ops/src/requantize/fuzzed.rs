//! Requantizations made from a fuzzer's numbers.

use super::Requantize;
use crate::fuzzing::{Fuzzed, Numbers, moved};
use tiebreak_impls::requantize::{Domain, Params};
use tiebreak_reports::ledger::{self, Value};

impl Fuzzed for Requantize {
    fn params(domain: &Domain, numbers: &mut Numbers<'_>) -> Params {
        let output = domain.output.range();
        let count = if domain.channels.per_channel { numbers.size(5) } else { 1 };
        let mut channel = || moved(numbers.int32(), numbers.byte() as i8 as i32, domain.fraction(), &domain.channels);
        let channels: Vec<_> = (0..count).map(|_| channel()).collect();
        let bias = channels.iter().map(|_| if domain.bias { numbers.int32() } else { 0 }).collect();
        let zero_point = if domain.zero_point { numbers.of(output.clone()) } else { 0 };
        let ends = if domain.clamp { [numbers.of(output.clone()), numbers.of(output.clone())] } else { [0; 2] };
        let (min, max) = match ends {
            // Equal bounds are rarely of interest, and come from numbers that are all alike.
            [a, b] if a == b => (*output.start(), *output.end()),
            [a, b] => (a.min(b), a.max(b)),
        };
        Params { len: numbers.size(40), channels, bias, zero_point, min, max }
    }

    /// Only for a case of one channel and one accumulator.
    fn explained(case: &ledger::Case, _: &str, scheme: &str) -> Option<String> {
        let of = |name: &str| case.get(name).map_or("0".to_owned(), Value::to_string);
        let named = [of("x"), of("bias"), of("m"), of("s"), of("zero_point"), of("min"), of("max")];
        let [acc, bias, m, s, zero_point, min, max] = &named;
        let one = !case.contains_key("len") && named.iter().all(|value| value.parse::<i32>().is_ok());
        one.then(|| {
            let channel = format!("--multiplier={m} --shift={s} --bias={bias}");
            let output = format!("--zero-point={zero_point} --clamp={min}:{max}");
            format!("requantize --scheme {scheme} --acc={acc} {channel} {output}")
        })
    }
}
