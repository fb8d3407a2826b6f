//! Transforms move every element to its position, once, and pad the rest; together they compute a matrix product.

use proptest::prelude::*;
use tiebreak_oracle::conv2d::Convolution;
use tiebreak_oracle::matmul::{Product, Scheme};
use tiebreak_oracle::transform::map::Map;
use tiebreak_oracle::transform::packing::{First, Form, Packing};
use tiebreak_oracle::transform::pad::Pad;
use tiebreak_oracle::transform::{Source, Transform};

fn transpose(matrix: &[i32], columns: usize) -> Vec<i32> {
    (0..columns).flat_map(|j| matrix.iter().skip(j).step_by(columns).copied()).collect()
}

fn numbered(n: usize) -> Vec<i32> {
    (1..=n as i32).collect()
}

/// Counts the occurrences of each input element, and the padding elements.
fn census(transform: Transform) -> (Vec<usize>, usize) {
    let [inputs, outputs] = transform.check().unwrap();
    let sources = transform.sources().unwrap();
    assert_eq!(sources.len(), outputs);
    let (mut seen, mut padding) = (vec![0; inputs], 0);
    for source in sources {
        match source {
            Source::Element(i) => seen[i] += 1,
            Source::Zero | Source::ZeroPoint => padding += 1,
        }
    }
    (seen, padding)
}

#[test]
fn blocks_hold_every_element_once_and_zeros() {
    for rows in 1..=35 {
        for columns in 1..=35 {
            let (by4, by16) = (usize::next_multiple_of, usize::next_multiple_of);
            for (transform, padded) in [
                (Transform::Interleave { batches: 1, rows, columns }, by4(rows, 4) * by16(columns, 16)),
                (Transform::BlockTranspose { rows, columns }, by16(rows, 16) * by4(columns, 4)),
            ] {
                let (seen, padding) = census(transform);
                assert!(seen.iter().all(|n| *n == 1), "{transform:?}");
                assert_eq!(padding, padded - rows * columns, "{transform:?}");
            }
            let (seen, padding) = census(Transform::Unpack { batches: 1, rows, columns });
            assert_eq!((seen.iter().sum::<usize>(), seen.iter().max(), padding), (rows * columns, Some(&1), 0));
        }
    }
}

#[test]
fn block_transpose_is_interleave_of_the_transposed_matrix() {
    for (rows, columns) in [(1, 1), (16, 4), (17, 5), (33, 9), (3, 40)] {
        let matrix = numbered(rows * columns);
        let transposed =
            Transform::Interleave { batches: 1, rows: columns, columns: rows }.expected(&transpose(&matrix, columns));
        assert_eq!(Transform::BlockTranspose { rows, columns }.expected(&matrix), transposed);
    }
}

#[test]
fn unpack_undoes_interleave_of_blocks_cut_to_four_columns() {
    for (rows, columns) in [(1, 1), (4, 16), (5, 17), (9, 33), (40, 3)] {
        let matrix = numbered(rows * columns);
        let blocks = Transform::Interleave { batches: 1, rows, columns }.expected(&matrix).unwrap();
        // A block of 4 by 16 is four blocks of 4 by 4; blocks completely after the last column are not part of the unpacked layout.
        let cut = |block: &[i32]| {
            (0..4)
                .flat_map(|part| {
                    block.chunks(16).flat_map(move |row| row[4 * part..][..4].to_vec()).collect::<Vec<_>>()
                })
                .collect::<Vec<i32>>()
        };
        let row_of_blocks = columns.div_ceil(16) * 64;
        let small: Vec<i32> = blocks
            .chunks(row_of_blocks)
            .flat_map(|row| row.chunks(64).flat_map(cut).take(columns.div_ceil(4) * 16).collect::<Vec<_>>())
            .collect();
        assert_eq!(Transform::Unpack { batches: 1, rows, columns }.expected(&small).unwrap(), matrix);
    }
}

/// Computes the 4 by 4 blocks of a product, from operands in blocks of 4 by 16.
fn blocks_product(a: &[i32], b: &[i32], depth: usize) -> Vec<i32> {
    let of_depth = depth.div_ceil(16) * 64;
    let mut out = Vec::new();
    for a in a.chunks(of_depth) {
        for b in b.chunks(of_depth) {
            for (z, v) in (0..4).flat_map(|z| (0..4).map(move |v| (z, v))) {
                let blocks = a.chunks(64).zip(b.chunks(64));
                out.push(blocks.map(|(a, b)| (0..16).map(|w| a[16 * z + w] * b[16 * v + w]).sum::<i32>()).sum());
            }
        }
    }
    out
}

fn shape() -> impl Strategy<Value = Convolution> {
    let sides = (1usize..=6, 1usize..=4, 1usize..=3, 1usize..=3, 0usize..=4, 0usize..=4);
    (1usize..=2, 1usize..=3, 1usize..=3, sides.clone(), sides).prop_filter_map("no such shape", |(b, c, o, h, w)| {
        let p = Convolution {
            batches: b,
            channels: c,
            out_channels: o,
            groups: 1,
            height: h.0,
            kernel_h: h.1,
            stride_h: h.2,
            dilation_h: h.3,
            top: h.4,
            bottom: h.5,
            width: w.0,
            kernel_w: w.1,
            stride_w: w.2,
            dilation_w: w.3,
            left: w.4,
            right: w.5,
            input_zero_point: -7,
            weight_zero_point: 0,
            transposed: false,
            output_padding_h: 0,
            output_padding_w: 0,
        };
        p.check().ok().map(|_| p)
    })
}

/// Counts the pairs of an output and a filter element that meet `at`, along one side.
fn covered(at: usize, outputs: usize, stride: usize, kernel: usize, dilation: usize, before: usize) -> usize {
    (0..outputs).map(|y| (0..kernel).filter(|i| y * stride + i * dilation == at + before).count()).sum()
}

proptest! {
    #[test]
    fn interleaved_block_transposed_and_unpacked_it_is_the_product(
        (m, n, k) in (1usize..=20, 1usize..=20, 1usize..=40),
        values in prop::collection::vec(-128..=255i32, 1600),
    ) {
        let (lhs, rhs) = (&values[..m * k], &values[800..][..k * n]);
        let a = Transform::Interleave { batches: 1, rows: m, columns: k }.expected(lhs).unwrap();
        let b = Transform::BlockTranspose { rows: k, columns: n }.expected(rhs).unwrap();
        let c = Transform::Unpack { batches: 1, rows: m, columns: n }.expected(&blocks_product(&a, &b, k)).unwrap();
        let p = Product { m, n, k, lhs_offset: 0, rhs_offset: 0 };
        let product = Scheme::parse("exact").unwrap().expected(&p, lhs, rhs).unwrap();
        prop_assert_eq!(c.into_iter().map(Some).collect::<Vec<_>>(), product);
    }

    #[test]
    fn im2col_holds_each_element_as_often_as_the_filter_covers_it(p in shape()) {
        let (rows, columns) = p.output().unwrap();
        let (seen, padding) = census(Transform::Im2col(p));
        for (i, n) in seen.iter().enumerate() {
            let (row, column) = (i / p.channels / p.width % p.height, i / p.channels % p.width);
            let vertical = covered(row, rows, p.stride_h, p.kernel_h, p.dilation_h, p.top);
            let horizontal = covered(column, columns, p.stride_w, p.kernel_w, p.dilation_w, p.left);
            prop_assert_eq!(*n, vertical * horizontal, "element {} of {:?}", i, p);
        }
        let all = p.batches * rows * columns * p.kernel_h * p.kernel_w * p.channels;
        prop_assert_eq!(padding, all - seen.iter().sum::<usize>());
    }

    #[test]
    fn an_output_is_every_place_where_the_filter_fits(p in shape()) {
        let places = |padded: usize, stride: usize, kernel: usize, dilation: usize| {
            (0..padded).filter(|at| at % stride == 0 && at + (kernel - 1) * dilation < padded).count()
        };
        let rows = places(p.height + p.top + p.bottom, p.stride_h, p.kernel_h, p.dilation_h);
        let columns = places(p.width + p.left + p.right, p.stride_w, p.kernel_w, p.dilation_w);
        prop_assert_eq!(p.output(), Ok((rows, columns)));
    }

    #[test]
    fn unflatten_moves_nothing(p in shape()) {
        let [_, _, outputs] = p.check().unwrap();
        prop_assert_eq!(Transform::Unflatten(p).expected(&numbered(outputs)).unwrap(), numbered(outputs));
    }
}

/// Both forms on numbered elements: fetched from the source, and copied to the destination.
#[test]
fn every_element_comes_from_where_it_is_put() {
    let mut transforms = Vec::new();
    for rows in 1..=21 {
        for columns in 1..=37 {
            transforms.push(Transform::Interleave { batches: 1 + rows % 3, rows, columns });
            transforms.push(Transform::BlockTranspose { rows: columns, columns: rows });
            transforms.push(Transform::Unpack { batches: 1 + columns % 3, rows, columns });
        }
    }
    let whole = Convolution {
        batches: 2,
        height: 5,
        width: 6,
        channels: 3,
        kernel_h: 2,
        kernel_w: 3,
        out_channels: 4,
        groups: 1,
        stride_h: 1,
        stride_w: 1,
        dilation_h: 1,
        dilation_w: 1,
        top: 0,
        bottom: 0,
        left: 0,
        right: 0,
        input_zero_point: -7,
        weight_zero_point: 0,
        transposed: false,
        output_padding_h: 0,
        output_padding_w: 0,
    };
    for code in 0..4usize.pow(6) {
        let digit = |at: u32| code / 4usize.pow(at) % 4;
        let p = Convolution {
            stride_h: 1 + digit(0),
            stride_w: 1 + digit(1),
            dilation_h: 1 + digit(2),
            dilation_w: 1 + digit(3),
            top: digit(4),
            bottom: digit(5),
            left: digit(5),
            right: digit(4) / 2,
            ..whole
        };
        transforms
            .extend(p.check().is_ok().then_some([Transform::Im2col(p), Transform::Unflatten(p)]).into_iter().flatten());
    }
    assert!(transforms.len() > 8000);
    for transform in transforms {
        let input = numbered(transform.check().unwrap()[0]);
        assert_eq!(transform.placed(&input), transform.expected(&input), "{transform:?}");
    }
}

/// A batch gives the results of its single matrices, one after another.
#[test]
fn a_batch_is_its_matrices_one_after_another() {
    for (rows, columns) in [(1, 1), (4, 16), (5, 17), (3, 2), (9, 33)] {
        let of = |batches, unpacks| match unpacks {
            true => Transform::Unpack { batches, rows, columns },
            false => Transform::Interleave { batches, rows, columns },
        };
        for unpacks in [false, true] {
            let [inputs, outputs] = of(3, unpacks).check().unwrap();
            let input = numbered(inputs);
            let alone: Vec<i32> =
                input.chunks(inputs / 3).flat_map(|matrix| of(1, unpacks).expected(matrix).unwrap()).collect();
            assert_eq!(alone.len(), outputs);
            assert_eq!(of(3, unpacks).expected(&input).unwrap(), alone);
        }
    }
    assert_eq!(Transform::Unpack { batches: 0, rows: 1, columns: 1 }.check().unwrap_err().argument, "batches");
}

/// Every element once, the zero point elsewhere; both forms agree; empty padding changes nothing.
#[test]
fn padding_keeps_every_element_in_its_order() {
    // One in eleven of all 65,536.
    for code in (0..4usize.pow(8)).step_by(11) {
        let side = |at: u32| code / 4usize.pow(at) % 4;
        let pad = Pad {
            sizes: [1 + code % 2, 1 + code % 3, 2, 1 + code % 4],
            before: [side(0), side(1), side(2), side(3)],
            after: [side(4), side(5), side(6), side(7)],
            zero_point: -77,
        };
        let transform = Transform::Pad(pad);
        let input = numbered(transform.check().unwrap()[0]);
        let out = transform.expected(&input).unwrap();
        assert_eq!(transform.placed(&input).unwrap(), out, "{pad:?}");
        assert_eq!(out.iter().filter(|v| **v != -77).copied().collect::<Vec<_>>(), input, "{pad:?}");
    }
    let pad = Pad { sizes: [1, 2, 1, 1], before: [0, 1, 0, 0], after: [0, 0, 2, 0], zero_point: 9 };
    assert_eq!(Transform::Pad(pad).expected(&[1, 2]).unwrap(), [9, 9, 9, 1, 9, 9, 2, 9, 9]);
    let huge = Pad { after: [0, usize::MAX, 0, 0], ..pad };
    assert_eq!(Transform::Pad(huge).check().unwrap_err().argument, "side");
    assert_eq!(Transform::Pad(Pad { sizes: [1, 0, 1, 1], ..pad }).check().unwrap_err().argument, "height");
}

fn packings(rows: usize, columns: usize) -> Vec<Packing> {
    let forms = (1..=4).flat_map(|bits| [8, 16, 32].map(|word| Form::Planes { bits, word })).chain([Form::Nibbles]);
    let firsts = forms.flat_map(|form| [First::Low, First::High].map(|first| (form, first)));
    firsts
        .flat_map(|(form, first)| {
            [(false, false), (true, false), (true, true)].map(|(unpacks, signed)| Packing {
                form,
                first,
                unpacks,
                signed,
                rows,
                columns,
            })
        })
        .collect()
}

/// Both forms agree for every valid number of elements, and packed elements unpack to the same values.
#[test]
fn packed_elements_come_back() {
    for (rows, columns) in [(1, 1), (1, 2), (2, 3), (3, 7), (1, 8), (2, 16), (1, 24), (2, 32), (1, 64), (3, 96)] {
        for packing in packings(rows, columns) {
            let transform = Transform::Packing(packing);
            let Ok([inputs, _]) = transform.check() else { continue };
            let input: Vec<i32> = (0..inputs as i32).map(|i| i.wrapping_mul(0x2545_f491) >> 3).collect();
            let out = transform.expected(&input).unwrap();
            assert_eq!(transform.placed(&input).unwrap(), out, "{packing:?}");
            if packing.unpacks {
                let bits = if let Form::Planes { bits, .. } = packing.form { bits } else { 4 };
                let least = if packing.signed { -(1 << (bits - 1)) } else { 0 };
                assert!(out.iter().all(|v| (least..least + (1 << bits)).contains(v)), "{packing:?}");
                let packs = Transform::Packing(Packing { unpacks: false, signed: false, ..packing });
                assert_eq!(transform.expected(&packs.expected(&out).unwrap()).unwrap(), out, "{packing:?}");
            }
        }
    }
}

/// apache/tvm bitpack: the first of eight elements is the highest bit. ONNX: the first of two nibbles is the low nibble.
#[test]
fn packings_of_known_values() {
    let planes = |bits, word| Form::Planes { bits, word };
    let of = |form, first, [unpacks, signed]: [bool; 2], columns, input: &[i32]| {
        Transform::Packing(Packing { form, first, unpacks, signed, rows: 1, columns }).expected(input).unwrap()
    };
    let (pack, unsigned, signed) = ([false, false], [true, false], [true, true]);
    assert_eq!(of(planes(2, 8), First::High, pack, 8, &[3, 0, 0, 0, 0, 0, 0, 1]), [129, 128]);
    assert_eq!(of(planes(2, 8), First::Low, pack, 8, &[3, 0, 0, 0, 0, 0, 0, 1]), [129, 1]);
    let first: Vec<i32> = (0..32).map(|i| i32::from(i == 0)).collect();
    assert_eq!(of(planes(1, 32), First::High, pack, 32, &first), [i32::MIN]);
    assert_eq!(of(Form::Nibbles, First::Low, pack, 3, &[-8, 7, 1]), [0x78, 1]);
    assert_eq!(of(Form::Nibbles, First::High, pack, 3, &[-8, 7, 1]), [0x87, 0x10]);
    assert_eq!(of(Form::Nibbles, First::Low, signed, 3, &[0x78, 1]), [-8, 7, 1]);
    assert_eq!(of(Form::Nibbles, First::Low, unsigned, 3, &[0x78, 1]), [8, 7, 1]);
    assert_eq!(of(planes(2, 8), First::High, signed, 8, &[129, 128]), [-1, 0, 0, 0, 0, 0, 0, 1]);
    let wrong = |form, columns| {
        let p = Packing { form, first: First::Low, unpacks: false, signed: false, rows: 1, columns };
        Transform::Packing(p).check().unwrap_err().argument
    };
    assert_eq!([wrong(planes(5, 8), 8), wrong(planes(1, 9), 9), wrong(planes(1, 8), 9)], ["bits", "word", "columns"]);
}

/// Both forms of every small matrix in memory, in both orders and with gaps; and values by hand.
#[test]
fn matrices_in_memory_are_read_row_by_row() {
    for (rows, columns) in (1..6).flat_map(|rows| (1..6).map(move |columns| (rows, columns))) {
        for (column_major, gap) in [(false, 0), (false, 3), (true, 0), (true, 3)] {
            let stride = gap + if column_major { rows } else { columns };
            let map = Map { rows, columns, stride, column_major };
            let transform = Transform::Map(map);
            let [inputs, outputs] = transform.check().unwrap();
            let input: Vec<i32> = (1..).take(inputs).collect();
            let out = transform.expected(&input).unwrap();
            assert_eq!(out.len(), outputs);
            assert_eq!(transform.placed(&input).unwrap(), out, "{map:?}");
            assert_eq!((out[0], out[outputs - 1]), (1, inputs as i32), "{map:?}: from the first to the last");
        }
    }
    let map = |stride, column_major| Transform::Map(Map { rows: 2, columns: 3, stride, column_major });
    assert_eq!(map(4, false).expected(&[1, 2, 3, 0, 4, 5, 6]).unwrap(), [1, 2, 3, 4, 5, 6]);
    assert_eq!(map(2, true).expected(&[1, 4, 2, 5, 3, 6]).unwrap(), [1, 2, 3, 4, 5, 6]);
    assert!(map(2, false).check().is_err(), "rows overlap");
}
