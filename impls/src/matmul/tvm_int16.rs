//! TVM: a product with an int16 `out_dtype`. Operands are cast to int16 before multiplication, so products and their sum are int16 and wrap.
//!
//! Source: apache/tvm python/tvm/topi/nn/dense.py, `matmul`: `te.sum(a.astype(out_dtype) * b.astype(out_dtype))`.

use super::blocks::{DEPTH, ROWS};
use super::micro::BLOCK;
use super::{Domain, Kernel, contract, portable};
use crate::element::Element;

/// int8. Two products of -128 by -128 overflow the sum.
pub(crate) const I8: Kernel = Kernel {
    name: "tvm-dense-int16-i8",
    summary: "TVM dense, int8, out_dtype int16: products and sums of int16",
    contract: contract(
        "sum-s16-wrap",
        Domain { lhs_offsets: 0..=0, rhs_offsets: 0..=0, ..Domain::all(Element::I8, Element::I8) },
        "apache/tvm python/tvm/topi/nn/dense.py, matmul",
    ),
    portable: portable!(I8, I8, |depth_blocks, a, b, c| {
        let panels = a.as_chunks::<BLOCK>().0.iter().zip(b.as_chunks::<BLOCK>().0).take(depth_blocks);
        let mut sums = [0i16; ROWS * ROWS];
        for (a, b) in panels {
            for (at, sum) in sums.iter_mut().enumerate() {
                let (a, b) = (&a[at / ROWS * DEPTH..][..DEPTH], &b[at % ROWS * DEPTH..][..DEPTH]);
                let wide = |byte: &u8| i16::from(*byte as i8);
                *sum = a.iter().zip(b).fold(*sum, |sum, (a, b)| sum.wrapping_add(wide(a).wrapping_mul(wide(b))));
            }
        }
        for (c, sum) in c.iter_mut().zip(sums) {
            *c = sum.into();
        }
    }),
    native: None,
};
