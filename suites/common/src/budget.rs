//! Budgets of all efforts.

/// Effort of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Effort {
    /// A quarter of a minute: catalogue, directed inputs, a few random inputs, every position; only a sample in lanes that run identical code.
    Quick,
    /// A minute: as quick, with many more parameters.
    Standard,
    /// Every accumulator of each parameter pair.
    Exhaustive,
}

/// Number of inputs of each kind for an effort.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Random (multiplier, shift) pairs in addition to the directed grid, if the caller gives no pairs.
    pub random_parameters: usize,
    /// Random accumulators for each pair, in addition to the directed accumulators.
    pub random_accumulators: usize,
    /// Near-tie accumulators computed for each pair.
    pub near_ties: usize,
    /// Pairs for which every length and misalignment runs.
    pub position_parameters: usize,
    /// Random operand pairs for each instruction.
    pub instruction_pairs: usize,
    /// Calls of each kernel with the same input.
    pub repeated_calls: u64,
    /// Random cases of each tensor kernel.
    pub random_tensors: usize,
    /// True if every combination of tails, patterns and offsets runs, and every shift. Otherwise, combinations along the axes and the diagonal run.
    pub every_tail: bool,
    /// True if every accumulator of each pair also runs.
    pub sweep: bool,
}

impl Effort {
    /// Name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Quick => "quick",
            Self::Standard => "standard",
            Self::Exhaustive => "exhaustive",
        }
    }

    /// Number of inputs of each kind for this effort.
    pub fn budget(self) -> Budget {
        match self {
            Self::Quick => Budget {
                random_parameters: 64,
                random_accumulators: 256,
                near_ties: 64,
                position_parameters: 4,
                instruction_pairs: 1 << 12,
                repeated_calls: 4,
                random_tensors: 64,
                every_tail: false,
                sweep: false,
            },
            Self::Standard => Budget {
                random_parameters: 640,
                random_accumulators: 256,
                near_ties: 128,
                position_parameters: 16,
                instruction_pairs: 1 << 16,
                repeated_calls: 64,
                random_tensors: 320,
                every_tail: true,
                sweep: false,
            },
            Self::Exhaustive => Budget { sweep: true, ..Self::Standard.budget() },
        }
    }
}
