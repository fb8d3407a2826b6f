//! Parameters of the functions, as C has them.

/// `tiebreak_fpm_params`.
#[repr(C)]
pub(super) struct Fpm {
    pub(super) len: usize,
    pub(super) channels: usize,
    pub(super) multiplier: *const i32,
    pub(super) shift: *const i32,
    pub(super) q: u32,
}

/// `tiebreak_requantize_params`.
#[repr(C)]
pub(super) struct Requantize {
    pub(super) len: usize,
    pub(super) channels: usize,
    pub(super) multiplier: *const i32,
    pub(super) shift: *const i32,
    pub(super) bias: *const i32,
    pub(super) zero_point: i32,
    pub(super) min: i32,
    pub(super) max: i32,
}

/// `tiebreak_cast_params`.
#[repr(C)]
pub(super) struct Cast {
    pub(super) len: usize,
    pub(super) channels: usize,
    pub(super) inner: usize,
    pub(super) scale: *const f64,
    pub(super) zero_point: *const i32,
    pub(super) min: i32,
    pub(super) max: i32,
}

/// `tiebreak_operand`.
#[repr(C)]
pub(super) struct Scaled {
    pub(super) scale: f32,
    pub(super) zero_point: i32,
}

/// `tiebreak_elementwise_params`.
#[repr(C)]
pub(super) struct Elementwise {
    pub(super) len: usize,
    pub(super) lhs: Scaled,
    pub(super) rhs: Scaled,
    pub(super) out: Scaled,
    pub(super) min: i32,
    pub(super) max: i32,
}

/// `tiebreak_matmul_params`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Matmul {
    pub(super) m: usize,
    pub(super) n: usize,
    pub(super) k: usize,
    pub(super) lhs_offset: i32,
    pub(super) rhs_offset: i32,
}

/// `tiebreak_conv2d_params`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Conv2d {
    pub(super) batches: usize,
    pub(super) height: usize,
    pub(super) width: usize,
    pub(super) channels: usize,
    pub(super) kernel_h: usize,
    pub(super) kernel_w: usize,
    pub(super) out_channels: usize,
    pub(super) groups: usize,
    pub(super) stride_h: usize,
    pub(super) stride_w: usize,
    pub(super) dilation_h: usize,
    pub(super) dilation_w: usize,
    pub(super) top: usize,
    pub(super) bottom: usize,
    pub(super) left: usize,
    pub(super) right: usize,
    pub(super) out_height: usize,
    pub(super) out_width: usize,
    pub(super) input_zero_point: i32,
    pub(super) weight_zero_point: i32,
}

/// `tiebreak_pool_params`.
#[repr(C)]
pub(super) struct Pool {
    pub(super) batches: usize,
    pub(super) height: usize,
    pub(super) width: usize,
    pub(super) channels: usize,
    pub(super) kernel_h: usize,
    pub(super) kernel_w: usize,
    pub(super) stride_h: usize,
    pub(super) stride_w: usize,
    pub(super) top: usize,
    pub(super) bottom: usize,
    pub(super) left: usize,
    pub(super) right: usize,
    pub(super) out_height: usize,
    pub(super) out_width: usize,
    pub(super) count_padding: i32,
    pub(super) input: Scaled,
    pub(super) out: Scaled,
    pub(super) min: i32,
    pub(super) max: i32,
}

/// `tiebreak_qconv2d_params`.
#[repr(C)]
pub(super) struct Qconv2d {
    pub(super) conv: Conv2d,
    pub(super) multiplier: *const i32,
    pub(super) shift: *const i32,
    pub(super) bias: *const i32,
    pub(super) zero_point: i32,
    pub(super) min: i32,
    pub(super) max: i32,
}

/// `tiebreak_qmatmul_params`.
#[repr(C)]
pub(super) struct Qmatmul {
    pub(super) product: Matmul,
    pub(super) multiplier: *const i32,
    pub(super) shift: *const i32,
    pub(super) bias: *const i32,
    pub(super) zero_point: i32,
    pub(super) min: i32,
    pub(super) max: i32,
}

/// `tiebreak_concat_params`.
#[repr(C)]
pub(super) struct Concat {
    pub(super) rank: usize,
    pub(super) axis: usize,
    pub(super) inputs: usize,
    pub(super) shape: *const usize,
    pub(super) sizes: *const usize,
    pub(super) scale: *const f32,
    pub(super) zero_point: *const i32,
    pub(super) out: Scaled,
}

/// `tiebreak_softmax_params`.
#[repr(C)]
pub(super) struct Softmax {
    pub(super) rows: usize,
    pub(super) depth: usize,
    pub(super) multiplier: i32,
    pub(super) left_shift: i32,
    pub(super) diff_min: i32,
}
