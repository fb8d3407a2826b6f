//! Tables that the reader uses, over the verifier and the accessors of the flatbuffers crate: tensorflow/tensorflow
//! `tensorflow/compiler/mlir/lite/schema/schema.fbs`. The number of a field is its index in its table, from 0. A union has two numbers, its type
//! first.
//!
//! All `unsafe` code of the readers is in this file. Accessors of the flatbuffers crate may be called only for fields that its verifier has followed,
//! and one list of fields generates both.

// An accessor follows a field only in a verified table. Verifier and accessor come from the same list of fields.
#![allow(unsafe_code)]

use crate::model::Fault;
use flatbuffers::{
    ErrorTraceDetail, Follow, ForwardsUOffset, InvalidFlatbuffer, Table, Vector, Verifiable, Verifier, VerifierOptions,
};

/// List of tables.
pub(crate) type Tables<'a, T> = Vector<'a, ForwardsUOffset<T>>;

/// Upper bounds on the tables of a file, counted at each reference, and on the bytes that it refers to.
const MOST_TABLES: usize = 1 << 20;
const MOST_BYTES: usize = 1 << 31;

/// Returns the offset of a field in the vtable, whose first two entries are lengths.
const fn slot(number: u16) -> u16 {
    4 + 2 * number
}

/// List of int64 at any multiple of 4. Some writers align only its length, and LiteRT's verifier requires no more.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Longs<'a>(&'a [[u8; 8]]);

impl Longs<'_> {
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = i64> {
        self.0.iter().map(|bytes| i64::from_le_bytes(*bytes))
    }
}

/// Size of a list's length, in bytes.
const LENGTH: usize = 4;

impl<'a> Follow<'a> for Longs<'a> {
    type Inner = Self;
    unsafe fn follow(bytes: &'a [u8], at: usize) -> Self {
        let (length, values) = bytes[at..].split_at(LENGTH);
        let length = length.try_into().map_or(0, u32::from_le_bytes) as usize;
        Self(&values.as_chunks().0[..length])
    }
}

impl Verifiable for Longs<'_> {
    fn run_verifier(verifier: &mut Verifier<'_, '_>, at: usize) -> Result<(), InvalidFlatbuffer> {
        let length = verifier.get_uoffset(at)? as usize;
        verifier.range_in_buffer(at.saturating_add(LENGTH), length.saturating_mul(size_of::<i64>()))
    }
}

/// Defines a table: its fields by number and name, with the type that is followed, and the variants of its union.
macro_rules! table {
    ($(#[$doc:meta])* $table:ident { $($number:literal $field:ident: $kind:ty),* $(,)? } $(union $value:literal { $($key:literal $option:ident: $variant:ident),* $(,)? })?) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub(crate) struct $table<'a>(Table<'a>);

        impl<'a> Follow<'a> for $table<'a> {
            type Inner = Self;
            unsafe fn follow(bytes: &'a [u8], at: usize) -> Self {
                // SAFETY: the caller has verified that a table is here.
                Self(unsafe { Table::new(bytes, at) })
            }
        }

        impl<'a> Verifiable for $table<'a> {
            fn run_verifier(verifier: &mut Verifier<'_, '_>, at: usize) -> Result<(), InvalidFlatbuffer> {
                #[allow(unused_mut)]
                let mut table = verifier.visit_table(at)?;
                $(table = table.visit_field::<$kind>(stringify!($field), slot($number), false)?;)*
                $(table = table.visit_union::<u8, _>(
                    "builtin_options_type", slot($value - 1), "builtin_options", slot($value), false,
                    |key, verifier, at| match key {
                        $($key => verifier.verify_union_variant::<ForwardsUOffset<$variant<'a>>>(stringify!($variant), at),)*
                        _ => Ok(()),
                    },
                )?;)?
                table.finish();
                Ok(())
            }
        }

        impl<'a> $table<'a> {
            $(pub(crate) fn $field(&self) -> Option<<$kind as Follow<'a>>::Inner> {
                // SAFETY: a table consists of verified bytes only, and the verifier has followed this field as this type.
                unsafe { self.0.get::<$kind>(slot($number), None) }
            })*

            $(pub(crate) fn options_type(&self) -> u8 {
                // SAFETY: as for every field: if the table has this byte, the verifier has read it.
                unsafe { self.0.get::<u8>(slot($value - 1), None) }.unwrap_or(0)
            }

            $(pub(crate) fn $option(&self) -> Option<$variant<'a>> {
                if self.options_type() != $key {
                    return None;
                }
                // SAFETY: for this type of the union, the verifier has followed the value as this table.
                unsafe { self.0.get::<ForwardsUOffset<$variant<'a>>>(slot($value), None) }
            })*)?

            /// Returns the byte of the table in the file.
            #[allow(dead_code)]
            pub(crate) fn offset(&self) -> usize {
                self.0.loc()
            }
        }
    };
}

table!(Model {
    1 operator_codes: ForwardsUOffset<Tables<'a, OperatorCode<'a>>>,
    2 subgraphs: ForwardsUOffset<Tables<'a, SubGraph<'a>>>,
    4 buffers: ForwardsUOffset<Tables<'a, Buffer<'a>>>,
});

table!(
    /// Operator code: the larger of both fields. The first is a byte, which is too small for newer codes
    /// (`tensorflow/compiler/mlir/lite/schema/schema_utils.cc`, `GetBuiltinCode`).
    OperatorCode {
        0 deprecated_builtin_code: i8,
        1 custom_code: ForwardsUOffset<Vector<'a, u8>>,
        3 builtin_code: i32,
    }
);

table!(SubGraph {
    0 tensors: ForwardsUOffset<Tables<'a, Tensor<'a>>>,
    1 inputs: ForwardsUOffset<Vector<'a, i32>>,
    2 outputs: ForwardsUOffset<Vector<'a, i32>>,
    3 operators: ForwardsUOffset<Tables<'a, Operator<'a>>>,
});

table!(
    Operator {
        0 opcode_index: u32,
        1 inputs: ForwardsUOffset<Vector<'a, i32>>,
        2 outputs: ForwardsUOffset<Vector<'a, i32>>,
    }
    union 4 {
        1 conv_2d: Conv2DOptions,
        2 depthwise_conv_2d: DepthwiseConv2DOptions,
        5 pool_2d: Pool2DOptions,
        8 fully_connected: FullyConnectedOptions,
        10 concatenation: ConcatenationOptions,
        11 add: AddOptions,
        21 mul: MulOptions,
        32 strided_slice: StridedSliceOptions,
        49 transpose_conv: TransposeConvOptions,
        111 var_handle: VarHandleOptions,
    }
);

table!(Tensor {
    0 shape: ForwardsUOffset<Vector<'a, i32>>,
    1 element_type: i8,
    2 buffer: u32,
    3 name: ForwardsUOffset<Vector<'a, u8>>,
    4 quantization: ForwardsUOffset<QuantizationParameters<'a>>,
    6 sparsity: ForwardsUOffset<Sparsity<'a>>,
    7 shape_signature: ForwardsUOffset<Vector<'a, i32>>,
});

table!(QuantizationParameters {
    2 scale: ForwardsUOffset<Vector<'a, f32>>,
    3 zero_point: ForwardsUOffset<Longs<'a>>,
    6 quantized_dimension: i32,
});

table!(
    /// Sparsity. Only the presence of this table matters.
    Sparsity {}
);

table!(Buffer {
    0 data: ForwardsUOffset<Vector<'a, u8>>,
    1 data_offset: u64,
});

table!(Conv2DOptions {
    0 padding: i8,
    1 stride_w: i32,
    2 stride_h: i32,
    3 fused_activation_function: i8,
    4 dilation_w_factor: i32,
    5 dilation_h_factor: i32,
});

table!(DepthwiseConv2DOptions {
    0 padding: i8,
    1 stride_w: i32,
    2 stride_h: i32,
    4 fused_activation_function: i8,
    5 dilation_w_factor: i32,
    6 dilation_h_factor: i32,
});

table!(FullyConnectedOptions {
    0 fused_activation_function: i8,
    1 weights_format: i8,
});

table!(Pool2DOptions {
    0 padding: i8,
    1 stride_w: i32,
    2 stride_h: i32,
    3 filter_width: i32,
    4 filter_height: i32,
    5 fused_activation_function: i8,
});

table!(ConcatenationOptions {
    0 axis: i32,
    1 fused_activation_function: i8,
});

table!(StridedSliceOptions {
    0 begin_mask: i32,
    1 end_mask: i32,
    2 ellipsis_mask: i32,
    3 new_axis_mask: i32,
    4 shrink_axis_mask: i32,
});

table!(TransposeConvOptions {
    0 padding: i8,
    1 stride_w: i32,
    2 stride_h: i32,
    3 fused_activation_function: i8,
});

table!(VarHandleOptions {
    1 shared_name: ForwardsUOffset<Vector<'a, u8>>,
});

table!(AddOptions {
    0 fused_activation_function: i8,
});

table!(MulOptions {
    0 fused_activation_function: i8,
});

table!(
    /// File of TOSA: `schema/tosa.fbs` of its serialization library in package tosa-tools 2026.8.
    TosaGraph {
        1 regions: ForwardsUOffset<Tables<'a, TosaRegion<'a>>>,
    }
);

table!(TosaRegion {
    1 blocks: ForwardsUOffset<Tables<'a, TosaBlock<'a>>>,
});

table!(TosaBlock {
    1 operators: ForwardsUOffset<Tables<'a, TosaOperator<'a>>>,
    2 tensors: ForwardsUOffset<Tables<'a, TosaTensor<'a>>>,
});

table!(
    TosaOperator {
        0 op: u32,
        3 inputs: ForwardsUOffset<Tables<'a, &'a str>>,
        4 outputs: ForwardsUOffset<Tables<'a, &'a str>>,
    }
    union 2 {
        66 rescale: TosaRescale,
    }
);

table!(TosaTensor {
    0 name: ForwardsUOffset<Vector<'a, u8>>,
    1 shape: ForwardsUOffset<Vector<'a, i32>>,
    2 element_type: u32,
    3 data: ForwardsUOffset<Vector<'a, u8>>,
});

table!(TosaRescale {
    1 rounding_mode: u32,
    2 per_channel: bool,
    3 input_unsigned: bool,
    4 output_unsigned: bool,
});

/// Returns the root table of a file after verifying everything that the accessors may follow.
pub(crate) fn root(file: &[u8]) -> Result<Model<'_>, Fault> {
    verified::<Model<'_>>(file)
}

/// Returns the root table of a TOSA file, verified in the same way.
pub(crate) fn tosa(file: &[u8]) -> Result<TosaGraph<'_>, Fault> {
    verified::<TosaGraph<'_>>(file)
}

fn verified<'a, T: Follow<'a> + Verifiable + 'a>(file: &'a [u8]) -> Result<T::Inner, Fault> {
    let options =
        VerifierOptions { max_tables: MOST_TABLES, max_apparent_size: MOST_BYTES, ..VerifierOptions::default() };
    flatbuffers::root_with_opts::<T>(&options, file).map_err(|error| fault(file, &error))
}

/// Returns the error of the verifier with its place in the file.
fn fault(file: &[u8], error: &InvalidFlatbuffer) -> Fault {
    use InvalidFlatbuffer as Bad;
    let end = file.len();
    let (trace, offset, problem) = match error {
        Bad::RangeOutOfBounds { range, error_trace } => (
            error_trace,
            range.start,
            format!("bytes {} to {} are meant, but the file ends at byte {end}", range.start, range.end),
        ),
        Bad::SignedOffsetOutOfBounds { position, error_trace, .. } => {
            (error_trace, *position, "no table is here: its vtable does not lie within the file".to_owned())
        }
        Bad::Unaligned { position, unaligned_type, error_trace } => {
            (error_trace, *position, format!("no {unaligned_type} can stand here: the place is not aligned"))
        }
        Bad::InconsistentUnion { field, field_type, error_trace } => {
            (error_trace, 0, format!("of {field_type} and {field} only one is there"))
        }
        Bad::MissingRequiredField { error_trace, .. }
        | Bad::Utf8Error { error_trace, .. }
        | Bad::MissingNullTerminator { error_trace, .. } => (error_trace, 0, error.to_string()),
        Bad::TooManyTables | Bad::ApparentSizeTooLarge | Bad::DepthLimitReached => {
            let problem =
                format!("more than {MOST_TABLES} tables or {MOST_BYTES} bytes are meant; give a smaller model");
            return Fault::Unsupported { place: "Model".to_owned(), problem };
        }
    };
    let details: &[ErrorTraceDetail] = trace.as_ref();
    let mut place = "Model".to_owned();
    // The innermost detail comes first.
    for detail in details.iter().rev() {
        match detail {
            ErrorTraceDetail::TableField { field_name, .. } => place += &format!(".{field_name}"),
            ErrorTraceDetail::VectorElement { index, .. } => place += &format!("[{index}]"),
            ErrorTraceDetail::UnionVariant { variant, .. } => place += &format!(" as {variant}"),
        }
    }
    // If the verifier gives no byte, the byte of the innermost field.
    let at = details.first().map(|detail| match detail {
        ErrorTraceDetail::TableField { position, .. }
        | ErrorTraceDetail::VectorElement { position, .. }
        | ErrorTraceDetail::UnionVariant { position, .. } => *position,
    });
    Fault::malformed(&place, if offset == 0 { at.unwrap_or(0) } else { offset }, problem)
}
