//! C structures of the functions' parameters.

/// Defines structures of the header; fields of one type are listed together.
macro_rules! structures {
    ($($(#[$doc:meta])* $name:ident { $([$($field:ident),+]: $type:ty;)+ })+) => {$(
        $(#[$doc])*
        #[repr(C)]
        #[derive(Clone, Copy)]
        pub(super) struct $name {
            $($(pub(super) $field: $type,)+)+
        }
    )+};
}

structures! {
    /// `tiebreak_fpm_params`.
    Fpm {
        [len, channels]: usize;
        [multiplier, shift]: *const i32;
        [q]: u32;
    }

    /// Last fields of the parameters of a function that scales sums.
    Scaling {
        [multiplier, shift, bias]: *const i32;
        [zero_point, min, max]: i32;
    }

    /// `tiebreak_requantize_params`.
    Requantize {
        [len, channels]: usize;
        [scaling]: Scaling;
    }

    /// `tiebreak_cast_params`.
    Cast {
        [len, channels, inner]: usize;
        [scale]: *const f64;
        [zero_point]: *const i32;
        [min, max]: i32;
    }

    /// `tiebreak_operand`.
    Scaled {
        [scale]: f32;
        [zero_point]: i32;
    }

    /// `tiebreak_elementwise_params`.
    Elementwise {
        [len]: usize;
        [lhs, rhs, out]: Scaled;
        [min, max]: i32;
    }

    /// `tiebreak_matmul_params`.
    Matmul {
        [m, n, k]: usize;
        [lhs_offset, rhs_offset]: i32;
    }

    /// `tiebreak_conv2d_params`.
    Conv2d {
        [batches, height, width, channels, kernel_h, kernel_w, out_channels, groups]: usize;
        [stride_h, stride_w, dilation_h, dilation_w, top, bottom, left, right, out_height, out_width]: usize;
        [input_zero_point, weight_zero_point]: i32;
    }

    /// `tiebreak_pool_params`.
    Pool {
        [batches, height, width, channels, kernel_h, kernel_w, stride_h, stride_w]: usize;
        [top, bottom, left, right, out_height, out_width]: usize;
        [count_padding]: i32;
        [input, out]: Scaled;
        [min, max]: i32;
    }

    /// `tiebreak_qconv2d_params`.
    Qconv2d {
        [conv]: Conv2d;
        [scaling]: Scaling;
    }

    /// `tiebreak_qmatmul_params`.
    Qmatmul {
        [product]: Matmul;
        [scaling]: Scaling;
    }

    /// `tiebreak_concat_params`.
    Concat {
        [rank, axis, inputs]: usize;
        [shape, sizes]: *const usize;
        [scale]: *const f32;
        [zero_point]: *const i32;
        [out]: Scaled;
    }

    /// `tiebreak_softmax_params`.
    Softmax {
        [rows, depth]: usize;
        [multiplier, left_shift, diff_min]: i32;
    }
}
