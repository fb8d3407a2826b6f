//! Capabilities of an operation on values without its types.

use super::operation::Erased;
use super::values::{Domain, Kernel, Params, Scheme};
use crate::operation::{
    Capabilities, Case, Causes, Change, Compiled, Control, Counted, Deviations, Operation, Options, PathStep,
    SelfChecks, Spec, Spelling, Sweeps, Tensors, Witnesses, find,
};

/// Returns the capabilities of an operation.
pub(super) const fn of<O: Operation>() -> Capabilities<Erased> {
    Capabilities {
        tensors: Tensors {
            has_len: O::CAPABILITIES.tensors.has_len,
            sizes: |domain, params| (O::CAPABILITIES.tensors.sizes)(domain.typed::<O>(), params.typed::<O>()),
            element: |domain, params, t| (O::CAPABILITIES.tensors.element)(domain.typed::<O>(), params.typed::<O>(), t),
        },
        deviations: Deviations {
            contract: |kernel| (O::CAPABILITIES.deviations.contract)(kernel.typed::<O>()).map(Scheme::of::<O>),
            declared: |scheme| (O::CAPABILITIES.deviations.declared)(scheme.typed::<O>()),
            in_case: |scheme, case| (O::CAPABILITIES.deviations.in_case)(scheme.typed::<O>(), &case.typed::<O>()),
        },
        compiled: Compiled {
            is: |domain| (O::CAPABILITIES.compiled.is)(domain.typed::<O>()),
            compared: O::CAPABILITIES.compiled.compared,
            function: |params| (O::CAPABILITIES.compiled.function)(params.typed::<O>()),
            faults: |kernel, lane, params| (O::CAPABILITIES.compiled.faults)(kernel, lane, params.typed::<O>()),
            at_fault: |kernel, lane, scheme, case| {
                (O::CAPABILITIES.compiled.at_fault)(kernel, lane, scheme.typed::<O>(), &case.typed::<O>())
            },
        },
        shared_code: |kernel| (O::CAPABILITIES.shared_code)(kernel.typed::<O>()),
        sweeps: Sweeps {
            exhaustive: |domain| (O::CAPABILITIES.sweeps.exhaustive)(domain.typed::<O>()),
            params: |domain, selection| {
                let all = (O::CAPABILITIES.sweeps.params)(domain.typed::<O>(), selection);
                all.into_iter().map(Params::of::<O>).collect()
            },
            small_sweeps: |kernel, runner, selection| {
                (O::CAPABILITIES.sweeps.small_sweeps)(known::<O>(kernel), runner, selection)
            },
            all: |kernel, runner, selection, wanted| {
                (O::CAPABILITIES.sweeps.all)(known::<O>(kernel), runner, selection, wanted)
            },
        },
        causes: Causes {
            undefined_class: O::CAPABILITIES.causes.undefined_class,
            path: |contract, reference, domain| {
                let steps =
                    (O::CAPABILITIES.causes.path)(contract.typed::<O>(), reference.typed::<O>(), domain.typed::<O>());
                steps.into_iter().map(PathStep::erased).collect()
            },
            contract_cause: |contract, reference| {
                let cause = (O::CAPABILITIES.causes.contract_cause)(contract.typed::<O>(), reference.typed::<O>());
                cause.map(Change::erased)
            },
            matches_undefined: |params, outs, index| {
                (O::CAPABILITIES.causes.matches_undefined)(params.typed::<O>(), outs, index)
            },
            groups: |scheme, params, results| {
                (O::CAPABILITIES.causes.groups)(scheme.typed::<O>(), params.typed::<O>(), results)
            },
            in_group: |group, contract, scheme, domain, kept| {
                let (contract, scheme) = (contract.typed::<O>(), scheme.typed::<O>());
                let causes = (O::CAPABILITIES.causes.in_group)(group, contract, scheme, domain.typed::<O>(), kept);
                causes.into_iter().map(Change::erased).collect()
            },
        },
        options: Options {
            takes: O::CAPABILITIES.options.takes,
            takes_layer: O::CAPABILITIES.options.takes_layer,
            on_types: |domain, case| {
                Case::of::<O>((O::CAPABILITIES.options.on_types)(domain.typed::<O>(), case.typed::<O>()))
            },
            reference: O::CAPABILITIES.options.reference,
            caller_coverage: |domain, selection, params, run| {
                let params: Vec<_> = params.iter().map(|params| params.typed::<O>()).collect();
                (O::CAPABILITIES.options.caller_coverage)(domain.typed::<O>(), selection, &params, run)
            },
            widened: O::CAPABILITIES.options.widened,
            is_asked: |selection, params| (O::CAPABILITIES.options.is_asked)(selection, params.typed::<O>()),
        },
        self_checks: SelfChecks {
            controls: || {
                let erased = |Control { name, kernel, origin }: Control<O>| Control {
                    name,
                    kernel: Kernel::of::<O>(&kernel),
                    origin,
                };
                (O::CAPABILITIES.self_checks.controls)().into_iter().map(erased).collect()
            },
            trial: match O::CAPABILITIES.self_checks.trial {
                None => None,
                Some(_) => Some(trial::<O>),
            },
            published: |witness| {
                let (case, index) = (O::CAPABILITIES.self_checks.published)(witness)?;
                Some((Case::of::<O>(case), index))
            },
        },
        counted: Counted {
            kinds: |scheme, case, expected| {
                (O::CAPABILITIES.counted.kinds)(scheme.typed::<O>(), &case.typed::<O>(), expected)
            },
            pairs: |params| (O::CAPABILITIES.counted.pairs)(params.typed::<O>()),
            products: |params| (O::CAPABILITIES.counted.products)(params.typed::<O>()),
        },
        spelling: Spelling {
            result: |case, index, class| (O::CAPABILITIES.spelling.result)(&case.typed::<O>(), index, class),
            is_replayable: |case| (O::CAPABILITIES.spelling.is_replayable)(&case.typed::<O>()),
            command: O::CAPABILITIES.spelling.command,
        },
        witnesses: Witnesses {
            isolate_result: |case, domain, index| {
                let all = (O::CAPABILITIES.witnesses.isolate_result)(&case.typed::<O>(), domain.typed::<O>(), index);
                all.into_iter().map(|(case, index)| (Case::of::<O>(case), index)).collect()
            },
            simpler: |witness, domain| {
                let all = (O::CAPABILITIES.witnesses.simpler)(&witness.typed::<O>(), domain.typed::<O>());
                all.into_iter().map(Case::of::<O>).collect()
            },
            shrink_priority: |seen| (O::CAPABILITIES.witnesses.shrink_priority)(&seen.typed::<O>()),
            rank: |witness| (O::CAPABILITIES.witnesses.rank)(&witness.typed::<O>()),
            channels: |params, results| (O::CAPABILITIES.witnesses.channels)(params.typed::<O>(), results),
        },
    }
}

fn trial<O: Operation>(domain: &Domain, seed: u64) -> Vec<Spec<Params>> {
    let specs = O::CAPABILITIES.self_checks.trial.map(|trial| trial(domain.typed::<O>(), seed));
    specs.into_iter().flatten().map(Spec::of::<O>).collect()
}

/// Returns the kernel in the operation's lists, or the caller's.
fn known<O: Operation>(kernel: &Kernel) -> &'static crate::operation::Kernel<O> {
    find::<O>(kernel.name).unwrap_or_else(|| panic!("{} is no kernel of {}", kernel.name, O::OP))
}
