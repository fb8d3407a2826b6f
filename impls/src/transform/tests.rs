//! Each transform against the index formula of its source.

use super::{Domain, Kind, Params, find, kernels, map, packing, pad};
use crate::conv2d::{
    self,
    im2col::{depth, im2col},
};
use crate::matmul::blocks::{DEPTH, ROWS, padded};

/// Runs a registered transform on `1, 2, 3, ...`, over an output whose unwritten places show.
fn run(name: &str, params: &Params) -> (Vec<i32>, Vec<i32>) {
    let kernel = find(name).expect("a transform");
    let sizes = kernel.contract.domain.sizes(params).expect("a shape that can be");
    let input: Vec<i32> = (1..).take(sizes.input()).collect();
    let mut out = vec![i32::MIN; sizes.outputs];
    (kernel.portable)(params, &input, &mut out);
    (input, out)
}

/// Returns every shape up to a little over two blocks.
fn shapes(row_block: usize, column_block: usize) -> impl Iterator<Item = (usize, usize)> {
    (1..=2 * row_block + 1).flat_map(move |rows| (1..=2 * column_block + 1).map(move |columns| (rows, columns)))
}

#[test]
fn interleave_is_a_of_z_plus_4x_and_w_plus_16y() {
    for (rows, columns) in shapes(ROWS, DEPTH) {
        let (a, out) = run("tvm-interleave", &Params::Matrix { batches: 1, rows, columns });
        let blocks = padded(columns, DEPTH) / DEPTH;
        for (at, got) in out.iter().enumerate() {
            let (w, z, y, x) = (at % 16, at / 16 % 4, at / 64 % blocks, at / 64 / blocks);
            let (i, k) = (z + 4 * x, w + 16 * y);
            let expected = if i < rows && k < columns { a[i * columns + k] } else { 0 };
            assert_eq!(*got, expected, "{rows}x{columns} at {at}");
        }
    }
}

#[test]
fn block_transpose_is_b_of_w_plus_16y_and_z_plus_4x() {
    for (columns, rows) in shapes(ROWS, DEPTH) {
        let (b, out) = run("tvm-block-transpose", &Params::Matrix { batches: 1, rows, columns });
        let blocks = padded(rows, DEPTH) / DEPTH;
        for (at, got) in out.iter().enumerate() {
            let (w, z, y, x) = (at % 16, at / 16 % 4, at / 64 % blocks, at / 64 / blocks);
            let (k, j) = (w + 16 * y, z + 4 * x);
            let expected = if k < rows && j < columns { b[k * columns + j] } else { 0 };
            assert_eq!(*got, expected, "{rows}x{columns} at {at}");
        }
    }
}

#[test]
fn unpack_is_c_of_x_over_4_and_y_over_4() {
    for (rows, columns) in shapes(ROWS, ROWS) {
        let (c, out) = run("tvm-unpack", &Params::Matrix { batches: 1, rows, columns });
        let blocks = padded(columns, ROWS) / ROWS;
        for (at, got) in out.iter().enumerate() {
            let (x, y) = (at / columns, at % columns);
            let expected = c[(((x / 4) * blocks + y / 4) * 4 + x % 4) * 4 + y % 4];
            assert_eq!(*got, expected, "{rows}x{columns} at {at}");
        }
    }
}

fn convolutions() -> Vec<conv2d::Params> {
    let plain = conv2d::Params {
        batches: 2,
        height: 5,
        width: 4,
        channels: 6,
        kernel_h: 3,
        kernel_w: 2,
        out_channels: 6,
        groups: 1,
        stride_h: 1,
        stride_w: 1,
        dilation_h: 1,
        dilation_w: 1,
        top: 0,
        bottom: 0,
        left: 0,
        right: 0,
        input_zero_point: -77,
        weight_zero_point: 0,
        ..conv2d::Params::default()
    };
    let padded = conv2d::Params { top: 2, bottom: 1, left: 1, right: 3, ..plain };
    let strided = conv2d::Params { stride_h: 2, stride_w: 3, dilation_h: 2, dilation_w: 2, ..padded };
    // Padding wider than the filter: whole patches are outside the image.
    let outside = conv2d::Params { kernel_h: 1, kernel_w: 1, ..padded };
    let alone = conv2d::Params { batches: 1, height: 1, width: 1, channels: 1, out_channels: 1, ..padded };
    vec![plain, padded, strided, outside, alone]
}

/// Returns the element at a place of the matrix of one group, by coordinates in the unpadded image.
fn column(params: &conv2d::Params, group: usize, input: &[i32], at: usize) -> i32 {
    let channels = params.channels / params.groups;
    let (rows, columns) = params.output().expect("it fits");
    let (place, position) = (at % depth(params), at / depth(params));
    let (c, j, i) = (place % channels, place / channels % params.kernel_w, place / channels / params.kernel_w);
    let (x, y, b) = (position % columns, position / columns % rows, position / columns / rows);
    let row = (y * params.stride_h + i * params.dilation_h) as i64 - params.top as i64;
    let column = (x * params.stride_w + j * params.dilation_w) as i64 - params.left as i64;
    if !(0..params.height as i64).contains(&row) || !(0..params.width as i64).contains(&column) {
        return params.input_zero_point;
    }
    let (row, column) = (row as usize, column as usize);
    input[((b * params.height + row) * params.width + column) * params.channels + group * channels + c]
}

#[test]
fn im2col_is_the_element_the_filter_sees() {
    for params in convolutions() {
        // All channels, for any number of groups.
        for groups in [1, params.channels] {
            let (input, out) = run("tvm-im2col", &Params::Conv2d(conv2d::Params { groups, ..params }));
            for (at, got) in out.iter().enumerate() {
                assert_eq!(*got, column(&params, 0, &input, at), "{params:?} at {at}");
            }
        }
    }
}

#[test]
fn im2col_of_one_group_takes_that_groups_channels() {
    for params in convolutions().into_iter().filter(|params| params.channels == 6) {
        for groups in [2, 3, 6] {
            let params = conv2d::Params { groups, ..params };
            let input: Vec<i32> = (1..).take(params.sizes().expect("it fits").inputs[0]).collect();
            let (rows, columns) = params.output().expect("it fits");
            for group in 0..groups {
                let mut out = vec![i32::MIN; params.batches * rows * columns * depth(&params)];
                im2col(&params, group, &input, params.input_zero_point, &mut out);
                for (at, got) in out.iter().enumerate() {
                    assert_eq!(*got, column(&params, group, &input, at), "{params:?} group {group} at {at}");
                }
            }
        }
    }
}

#[test]
fn spatial_packs_are_their_index_formulas() {
    for params in convolutions() {
        let (rows, columns) = params.output().expect("it fits");
        let (tiles, blocks) = (columns.div_ceil(16), params.out_channels.div_ceil(16));
        let (c, kh, kw) = (params.channels, params.kernel_h, params.kernel_w);
        let (data, packed) = run("tvm-data-pack", &Params::Conv2d(params));
        for (at, got) in packed.iter().enumerate() {
            let (v, j, i, channel) = (at % 16, at / 16 % kw, at / 16 / kw % kh, at / 16 / kw / kh % c);
            let (tile, y, b) = (
                at / 16 / kw / kh / c % tiles,
                at / 16 / kw / kh / c / tiles % rows,
                at / 16 / kw / kh / c / tiles / rows,
            );
            let x = tile * 16 + v;
            let row = (y * params.stride_h + i * params.dilation_h) as i64 - params.top as i64;
            let column = (x * params.stride_w + j * params.dilation_w) as i64 - params.left as i64;
            let within = (0..params.height as i64).contains(&row) && (0..params.width as i64).contains(&column);
            let expected = match (x < columns, within) {
                (false, _) => 0,
                (true, false) => params.input_zero_point,
                _ => data[((b * c + channel) * params.height + row as usize) * params.width + column as usize],
            };
            assert_eq!(*got, expected, "{params:?} at {at}");
        }
        let depth = c * kh * kw;
        let (filters, packed) = run("tvm-kernel-pack", &Params::Conv2d(params));
        for (at, got) in packed.iter().enumerate() {
            let (o, d) = (at / 16 / depth * 16 + at % 16, at / 16 % depth);
            let expected = if o < params.out_channels { filters[o * depth + d] } else { 0 };
            assert_eq!(*got, expected, "{params:?} at {at}");
        }
        let (weights, packed) = run("tvm-weight-prepack", &Params::Conv2d(params));
        let (outputs, steps) = (params.out_channels, depth.div_ceil(16));
        for (at, got) in packed.iter().enumerate() {
            let (o, d) = (at / 64 / steps * 4 + at / 16 % 4, at / 64 % steps * 16 + at % 16);
            let expected = if o < outputs && d < depth { weights[d * outputs + o] } else { 0 };
            assert_eq!(*got, expected, "{params:?} at {at}");
        }
        let (tiled, out) = run("tvm-spatial-unpack", &Params::Conv2d(params));
        for (at, got) in out.iter().enumerate() {
            let (x, y) = (at % columns, at / columns % rows);
            let (o, b) = (at / columns / rows % params.out_channels, at / columns / rows / params.out_channels);
            let block = ((b * rows + y) * tiles + x / 16) * blocks + o / 16;
            assert_eq!(*got, tiled[(block * 16 + x % 16) * 16 + o % 16], "{params:?} at {at}");
        }
    }
}

#[test]
fn unflatten_moves_nothing() {
    for params in convolutions() {
        let (input, out) = run("tvm-unflatten", &Params::Conv2d(params));
        assert_eq!(input, out);
    }
}

/// A batch consists of consecutive matrices, to blocks and back.
#[test]
fn batches_are_matrices_one_after_another() {
    for name in ["tvm-interleave", "tvm-unpack"] {
        for (rows, columns) in [(1, 1), (5, 17), (4, 16), (7, 3)] {
            let (input, out) = run(name, &Params::Matrix { batches: 3, rows, columns });
            for batch in 0..3 {
                let (first, alone) = run(name, &Params::Matrix { batches: 1, rows, columns });
                let (elements, results) = (input.len() / 3, out.len() / 3);
                let moved = |v: &i32| if *v == 0 { 0 } else { v + (batch * elements) as i32 };
                let expected: Vec<i32> = alone.iter().map(moved).collect();
                assert_eq!((first.len(), &out[batch * results..][..results]), (elements, &expected[..]), "{name}");
            }
        }
    }
}

/// Compares each kernel of padding with coordinates in the tensor.
#[test]
fn pads_are_the_zero_point_around_the_tensor() {
    for code in 0..256usize {
        let side = |at: usize| code >> at & 1;
        let p = pad::Params {
            batches: 2,
            height: 3,
            width: 2,
            channels: 3,
            batches_before: side(0),
            batches_after: 2 * side(1),
            top: side(2),
            bottom: 3 * side(3),
            left: 2 * side(4),
            right: side(5),
            channels_before: side(6),
            channels_after: 2 * side(7),
            zero_point: -77,
        };
        let sizes = [
            2 + side(0) + 2 * side(1),
            3 + side(2) + 3 * side(3),
            2 + 2 * side(4) + side(5),
            3 + side(6) + 2 * side(7),
        ];
        for kernel in kernels().iter().filter(|kernel| kernel.contract.domain.kind == Kind::Pad) {
            let (input, out) = run(kernel.name, &Params::Pad(p));
            assert_eq!(out.len(), sizes.iter().product::<usize>());
            for (at, got) in out.iter().enumerate() {
                let c = at % sizes[3];
                let (x, y) = (at / sizes[3] % sizes[2], at / sizes[3] / sizes[2] % sizes[1]);
                let b = at / sizes[3] / sizes[2] / sizes[1];
                let inside = [(b, side(0), 2), (y, side(2), 3), (x, 2 * side(4), 2), (c, side(6), 3)]
                    .map(|(at, before, size)| at.checked_sub(before).filter(|at| *at < size));
                let [Some(b), Some(y), Some(x), Some(c)] = inside else {
                    assert_eq!(*got, -77, "{} {p:?} at {at}", kernel.name);
                    continue;
                };
                assert_eq!(*got, input[((b * 3 + y) * 2 + x) * 3 + c], "{} {p:?} at {at}", kernel.name);
            }
        }
    }
}

/// Compares the bits of elements and words with their definitions.
#[test]
fn packed_bits_are_where_their_formats_have_them() {
    for (rows, columns) in [(1, 1), (2, 5), (1, 8), (2, 16), (3, 32), (1, 63), (2, 64)] {
        for (bits, word) in (1..=4).flat_map(|bits| [8, 16, 32].map(|word| (bits, word))) {
            let p = packing::Params { rows, columns, bits, word, signed: false };
            if columns % word != 0 {
                continue;
            }
            let (input, out) = run("tvm-bitpack", &Params::Packed(p));
            for (at, element) in input.iter().enumerate() {
                let (row, column) = (at / columns, at % columns);
                for bit in 0..bits {
                    let of = out[(row * bits + bit) * (columns / word) + column / word] as u32;
                    let got = of >> (word - 1 - column % word) & 1;
                    assert_eq!(got, *element as u32 >> bit & 1, "{p:?} at {at}, bit {bit}");
                }
            }
            for signed in [false, true] {
                let p = Params::Packed(packing::Params { signed, ..p });
                let mut back = vec![0; input.len()];
                (find("bit-planes-unpack").expect("registered").portable)(&p, &out, &mut back);
                let extended = |v: &i32| {
                    let value = v & ((1 << bits) - 1);
                    if signed && value >> (bits - 1) == 1 { value - (1 << bits) } else { value }
                };
                assert_eq!(back, input.iter().map(extended).collect::<Vec<_>>(), "{p:?}");
            }
        }
        let nibbles = |signed| Params::Packed(packing::Params { rows, columns, bits: 4, word: 8, signed });
        for (pack, unpacks, first) in [
            ("onnx-int4-pack", &["onnx-int4-unpack", "int4-unpack-neon"][..], 0),
            ("torchao-uint4-pack", &["torchao-uint4-unpack"][..], 4),
        ] {
            let (input, out) = run(pack, &nibbles(false));
            for (at, element) in input.iter().enumerate() {
                let (row, column) = (at / columns, at % columns);
                let shift = if column % 2 == 0 { first } else { 4 - first };
                assert_eq!(out[row * columns.div_ceil(2) + column / 2] >> shift & 15, element & 15, "{pack} at {at}");
            }
            for signed in [false, true] {
                for unpack in unpacks {
                    let kernel = find(unpack).expect("registered");
                    for form in [crate::Form::Portable, crate::Form::Native] {
                        let mut back = vec![0; input.len()];
                        kernel.run(form)(&nibbles(signed), &out, &mut back);
                        let extended = |v: &i32| if signed && v & 8 != 0 { (v & 15) - 16 } else { v & 15 };
                        assert_eq!(back, input.iter().map(extended).collect::<Vec<_>>(), "{unpack}");
                    }
                }
            }
        }
    }
}

#[test]
fn every_kind_is_registered() {
    let kinds: Vec<_> = kernels().iter().map(|kernel| kernel.contract.domain.kind).collect();
    let times = |kind| kinds.iter().filter(|other| **other == kind).count();
    assert_eq!((kinds.len(), times(Kind::Pad), times(Kind::NibbleUnpackLow)), (21, 4, 2));
    assert!(kinds.iter().all(|kind| [Kind::Pad, Kind::NibbleUnpackLow].contains(kind) || times(*kind) == 1));
}

#[test]
fn matrix_maps_are_their_index_formula() {
    for (rows, columns, gap) in [(1, 1, 0), (3, 5, 0), (5, 3, 2), (17, 4, 1), (4, 17, 9)] {
        for column_major in [false, true] {
            let len = if column_major { rows } else { columns };
            let p = map::Params { rows, columns, stride: len + gap, column_major };
            let (input, out) = run("gemmlowp-matrix-map", &Params::Map(p));
            for (at, got) in out.iter().enumerate() {
                let (row, column) = (at / columns, at % columns);
                let place = if column_major { row + column * p.stride } else { row * p.stride + column };
                assert_eq!(*got, input[place], "{p:?} at {at}");
            }
        }
    }
    let narrow = map::Params { rows: 2, columns: 5, stride: 4, column_major: false };
    assert!(Domain { kind: Kind::MatrixMap }.sizes(&Params::Map(narrow)).is_err());
}
