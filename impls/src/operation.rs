//! Interface of an operation for everything that runs kernels: its registry of kernels and known bugs, the sizes of its tensors, and the call for a
//! payload.
//!
//! An operation is a folder of this crate and one line in `operations!`, from which the protocol's jobs, the worker's greeting and the execution of
//! both are made.

use crate::Form;
use crate::elsewhere;
use crate::execute::{Lengths, check_len, guard, split_tensors};
use crate::job_error::JobError;
use crate::kernel::Kernel;
use crate::mutants::tensor::Mutant;
use crate::shape::{ShapeError, Sizes};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Debug;

/// Code with a name.
pub trait Code: Sync + 'static {
    /// Name on the command line and in every report.
    fn name(&self) -> &'static str;
    /// Describes what executes under `form`.
    fn isa_path(&self, form: Form) -> String;
}

impl<R: Copy + Sync, D: Sync> Code for Kernel<R, D> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn isa_path(&self, form: Form) -> String {
        Kernel::isa_path(self, form)
    }
}

/// Operation of any kind.
pub trait Operation {
    /// Name, the same in every room.
    const NAME: &'static str;
    /// Parameters of a batch, besides its elements.
    type Parameters: Clone + Debug + Eq + Serialize + DeserializeOwned;
    /// Code under test.
    type Kernel: Code;

    /// Returns kernels, then known bugs.
    fn every() -> impl Iterator<Item = &'static Self::Kernel>;
    /// Returns the known bugs that end their process, and run only in a worker.
    fn process_mutants() -> impl Iterator<Item = &'static Self::Kernel>;
    /// Returns the place where a kernel without code in this crate runs; `None` if the code is here.
    fn elsewhere(_kernel: &Self::Kernel) -> Option<&'static str> {
        None
    }
    /// Returns the lengths of a job over `len` elements.
    fn lengths(kernel: &Self::Kernel, parameters: &Self::Parameters, len: usize) -> Result<Lengths, JobError>;
    /// True if a batch may be a range, which [`Operation::fill`] expands.
    fn takes_ranges(kernel: &Self::Kernel, parameters: &Self::Parameters) -> bool;
    /// Writes the inputs of a range.
    fn fill(kernel: &Self::Kernel, parameters: &Self::Parameters, start: i32, elements: &mut [i32]);
    /// Runs the kernel.
    fn execute(
        kernel: &Self::Kernel,
        parameters: &Self::Parameters,
        form: Form,
        input: &[i32],
        output: &mut [i32],
        misalign: usize,
    ) -> Result<(), JobError>;

    /// Returns the kernel or known bug of this name.
    fn find(name: &str) -> Result<&'static Self::Kernel, JobError> {
        let found = Self::every().chain(Self::process_mutants()).find(|kernel| kernel.name() == name);
        found.ok_or_else(|| JobError::UnknownKernel { op: Self::NAME, kernel: name.to_owned() })
    }

    /// Returns the kernel or known bug of this name, or a caller's kernel, which has a contract and no code.
    fn known(name: &str) -> Result<&'static Self::Kernel, JobError> {
        Self::find(name).or_else(|unknown| elsewhere::find(Self::NAME, name).ok_or(unknown))
    }
}

/// Writes consecutive integers.
pub fn consecutive(start: i32, elements: &mut [i32]) {
    elements.iter_mut().enumerate().for_each(|(i, value)| *value = start.wrapping_add(i as i32));
}

/// Operation on tensors.
pub trait TensorOperation: 'static {
    /// Name, the same in every room.
    const OP: &'static str;
    /// Parameters of a batch: shape, offsets, ...
    type Params: Clone + Debug + Eq + Send + Sync + Serialize + DeserializeOwned;
    /// Domain of a contract.
    type Domain: Clone + Debug + Send + Sync + Serialize + DeserializeOwned + 'static;
    /// Function type of the kernels.
    type Run: Copy + Send + Sync + 'static;

    /// Returns every kernel, in the order of reports.
    fn kernels() -> &'static [Kernel<Self::Run, Self::Domain>];
    /// Returns the known bugs.
    fn mutants() -> &'static [Mutant<Self::Run, Self::Domain>];
    /// Returns the known bugs that end their process, and run only in a worker.
    fn process_mutants() -> &'static [Kernel<Self::Run, Self::Domain>] {
        &[]
    }
    /// Returns the words read and written.
    fn sizes(domain: &Self::Domain, params: &Self::Params) -> Result<Sizes, ShapeError>;
    /// Returns the place where kernels of this domain run if this crate has no code for them; `None` if the code is here.
    fn elsewhere(_domain: &Self::Domain) -> Option<&'static str> {
        None
    }
    /// True if a batch may be a range.
    fn takes_ranges(_domain: &Self::Domain, _params: &Self::Params) -> bool {
        false
    }
    /// Writes the inputs of a range.
    fn fill(_domain: &Self::Domain, _params: &Self::Params, start: i32, elements: &mut [i32]) {
        consecutive(start, elements);
    }
    /// Calls the code on tensors in words. Operands of 8 or 16 bits are placed `misalign` elements past a 64-byte boundary.
    fn call(call: Call<'_, Self>) -> Result<(), JobError>
    where
        Self: Sized;
}

/// Lists the kernels of an operation's module, and defines its functions `kernels` and `find`. A row has a module of the operation and the module's
/// constants; kernels that a macro makes are in brackets, before all rows.
macro_rules! lookups {
    ($([$($made:expr),+ $(,)?])? $($module:ident: $($kernel:ident)+;)*) => {
        static KERNELS: &[Kernel] = &[$($($made),+,)? $($($module::$kernel,)+)*];

        /// Returns every kernel, in the order of reports.
        pub fn kernels() -> &'static [Kernel] {
            KERNELS
        }

        /// Returns the kernel of this name; mutants are not kernels.
        pub fn find(name: &str) -> Option<&'static Kernel> {
            KERNELS.iter().find(|kernel| kernel.name == name)
        }
    };
}
pub(crate) use lookups;

/// Items of [`TensorOperation`] that are the same in every operation: name, types, lists, and the domain's sizes unless the operation has its
/// own. The known bugs are in the module of [`crate::mutants`] with the operation's name.
macro_rules! common_items {
    ($op:ident) => {
        $crate::operation::common_items!($op, own sizes);

        fn sizes(domain: &Domain, params: &Params) -> Result<$crate::shape::Sizes, $crate::shape::ShapeError> {
            domain.sizes(params)
        }
    };
    ($op:ident, own sizes) => {
        const OP: &'static str = stringify!($op);
        type Params = Params;
        type Domain = Domain;
        type Run = Run;

        fn kernels() -> &'static [Kernel] {
            KERNELS
        }

        fn mutants() -> &'static [$crate::mutants::tensor::Mutant<Run, Domain>] {
            $crate::mutants::$op::MUTANTS
        }
    };
}
pub(crate) use common_items;

/// One call of a kernel.
pub struct Call<'a, O: TensorOperation> {
    /// Name of the kernel.
    pub name: &'static str,
    /// Code of the form that runs.
    pub code: O::Run,
    /// Domain of the kernel.
    pub domain: &'a O::Domain,
    /// Parameters of the batch: shape, offsets, ...
    pub params: &'a O::Params,
    /// Input tensors.
    pub tensors: [&'a [i32]; 3],
    /// Results.
    pub output: &'a mut [i32],
    /// Misalignment, in elements past a 64-byte boundary.
    pub misalign: usize,
}

impl<O: TensorOperation> Operation for O {
    const NAME: &'static str = O::OP;
    type Parameters = O::Params;
    type Kernel = Kernel<O::Run, O::Domain>;

    fn every() -> impl Iterator<Item = &'static Self::Kernel> {
        O::kernels().iter().chain(O::mutants().iter().map(|mutant| &mutant.kernel))
    }

    fn process_mutants() -> impl Iterator<Item = &'static Self::Kernel> {
        <O as TensorOperation>::process_mutants().iter()
    }

    fn elsewhere(kernel: &Self::Kernel) -> Option<&'static str> {
        <O as TensorOperation>::elsewhere(&kernel.contract.domain)
    }

    fn lengths(kernel: &Self::Kernel, params: &O::Params, len: usize) -> Result<Lengths, JobError> {
        let sizes = O::sizes(&kernel.contract.domain, params)?;
        if sizes.outputs != len {
            return Err(JobError::Results { requested: len, expected: sizes.outputs });
        }
        Ok(Lengths { input: sizes.input(), output: sizes.outputs })
    }

    fn takes_ranges(kernel: &Self::Kernel, params: &O::Params) -> bool {
        <O as TensorOperation>::takes_ranges(&kernel.contract.domain, params)
    }

    fn fill(kernel: &Self::Kernel, params: &O::Params, start: i32, elements: &mut [i32]) {
        <O as TensorOperation>::fill(&kernel.contract.domain, params, start, elements);
    }

    fn execute(
        kernel: &Self::Kernel,
        params: &O::Params,
        form: Form,
        input: &[i32],
        output: &mut [i32],
        misalign: usize,
    ) -> Result<(), JobError> {
        if let Some(place) = <O as Operation>::elsewhere(kernel) {
            return Err(JobError::Elsewhere { kernel: kernel.name.to_owned(), place });
        }
        let domain = &kernel.contract.domain;
        let sizes = O::sizes(domain, params)?;
        check_len(sizes.outputs, output.len())?;
        let tensors = split_tensors(&sizes, input)?;
        let (name, code) = (kernel.name, kernel.run(form));
        guard(name, || O::call(Call { name, code, domain, params, tensors, output, misalign }))?
    }
}
