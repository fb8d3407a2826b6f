//! Tests of the oracle, in one binary.

mod bounds;
mod cast_facts;
mod cast_forms;
mod cast_runs;
mod census;
mod double_rounding;
mod either_way;
mod elementwise_add;
mod elementwise_domains;
mod elementwise_mul;
mod exp;
mod float_formats;
mod fpm_forms;
mod narrow_lanes;
mod outputs;
mod pool;
mod proofs;
mod qconv2d;
mod qmatmul;
mod shapes;
mod softmax;
mod staircases;
mod steps;
mod tensor_forms;
mod transforms;
mod words;
