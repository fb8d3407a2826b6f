// TOSA as MLIR lowers it and LLVM compiles it, as a lane: `tosa.apply_scale`, `tosa.rescale` behind the bias, and `tosa.matmul`. The functions are those of the
// .mlir files of this directory, with multipliers, shifts and zero points of the run.

#include "../worker.hpp"

#include <cstdlib>
#include <limits>

using shipped::Call;
using shipped::Kernel;
using shipped::OutsideDomain;
using shipped::Words;

namespace {

// A tensor as MLIR's C interface passes it: identity layout, sizes and strides in elements.
template <typename T, std::size_t Rank>
struct Tensor {
  T* base;
  T* data;
  std::int64_t offset;
  std::int64_t sizes[Rank];
  std::int64_t strides[Rank];
};

template <typename T>
Tensor<T, 1> vector(std::vector<T>& of) {
  return {of.data(), of.data(), 0, {static_cast<std::int64_t>(of.size())}, {1}};
}

template <typename T>
Tensor<T, 2> matrix(std::vector<T>& of, std::int64_t rows, std::int64_t columns) {
  return {of.data(), of.data(), 0, {rows, columns}, {columns, 1}};
}

template <typename T>
Tensor<T, 3> batch(std::vector<T>& of, std::int64_t rows, std::int64_t columns) {
  return {of.data(), of.data(), 0, {1, rows, columns}, {rows * columns, columns, 1}};
}

using Channels = Tensor<std::int32_t, 1>;
using Shifts = Tensor<std::int8_t, 1>;
using Matrix = Tensor<std::int32_t, 2>;

extern "C" {
#define APPLY_SCALE(NAME) void _mlir_ciface_##NAME(Matrix* out, Matrix* x, Channels* m, Shifts* s);
APPLY_SCALE(apply_scale_single)
APPLY_SCALE(apply_scale_double)
APPLY_SCALE(apply_scale_single_32)
APPLY_SCALE(apply_scale_double_32)
#define RESCALE(NAME, T) \
  void _mlir_ciface_##NAME(Tensor<T, 2>* out, Matrix* x, Matrix* bias, Channels* m, Shifts* s, Tensor<T, 1>* zero_point);
RESCALE(rescale_single_i8, std::int8_t)
RESCALE(rescale_double_i8, std::int8_t)
RESCALE(rescale_double_u8, std::uint8_t)
RESCALE(rescale_single_i16, std::int16_t)
void _mlir_ciface_matmul(Tensor<std::int32_t, 3>* out, Tensor<std::int8_t, 3>* a, Tensor<std::int8_t, 3>* b);
}

// Multipliers and shifts of a call, as TOSA counts them: 31 is no shift, more is right.
struct Scales {
  std::vector<std::int32_t> multipliers;
  std::vector<std::int8_t> shifts;

  explicit Scales(const Call& call) {
    for (const shipped::Json& one : call.params.at("channels")) {
      multipliers.push_back(one.at("multiplier"));
      shifts.push_back(static_cast<std::int8_t>(31 - one.at("shift").get<int>()));
    }
  }

  std::int64_t count() const { return static_cast<std::int64_t>(multipliers.size()); }
};

// Whole rows of channels: what lacks to the last one is zero, and its results are not kept.
Words rows(const Words& in, std::int64_t channels, std::int64_t* count) {
  *count = (static_cast<std::int64_t>(in.size()) + channels - 1) / channels;
  Words whole = in;
  whole.resize(static_cast<std::size_t>(*count * channels), 0);
  return whole;
}

// The results of a function, whose buffer is the caller's to free.
template <typename T, std::size_t Rank>
void keep(const Tensor<T, Rank>& made, Words& out) {
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = made.data[made.offset + static_cast<std::int64_t>(i)];
  std::free(made.base);
}

template <auto Function>
void scaled(const Call& call) {
  Scales scales(call);
  std::int64_t count = 0;
  Words whole = rows(call.in, scales.count(), &count);
  Matrix x = matrix(whole, count, scales.count()), out;
  Channels m = vector(scales.multipliers);
  Shifts s = vector(scales.shifts);
  Function(&out, &x, &m, &s);
  keep(out, call.out);
}

template <typename T, auto Function>
void rescaled(const Call& call) {
  using Limits = std::numeric_limits<T>;
  if (call.params.at("min") != Limits::min() || call.params.at("max") != Limits::max()) {
    throw OutsideDomain("tosa.rescale clamps to the ends of its type");
  }
  Scales scales(call);
  std::int64_t count = 0;
  Words whole = rows(call.in, scales.count(), &count), bias = call.params.at("bias").get<Words>();
  bias.resize(scales.multipliers.size(), bias.at(0));
  std::vector<T> zero_point = {call.params.at("zero_point").get<T>()};
  Matrix x = matrix(whole, count, scales.count()), b = matrix(bias, 1, scales.count());
  Channels m = vector(scales.multipliers);
  Shifts s = vector(scales.shifts);
  Tensor<T, 1> z = vector(zero_point);
  Tensor<T, 2> out;
  Function(&out, &x, &b, &m, &s, &z);
  keep(out, call.out);
}

void product(const Call& call) {
  if (call.params.at("lhs_offset") != 0 || call.params.at("rhs_offset") != 0) {
    throw OutsideDomain("the shipped lowering of tosa.matmul takes constant zero points alone");
  }
  const std::int64_t m = call.params.at("m"), n = call.params.at("n"), k = call.params.at("k");
  std::vector<std::int8_t> lhs(call.in.begin(), call.in.begin() + m * k), rhs(call.in.begin() + m * k, call.in.end());
  Tensor<std::int8_t, 3> a = batch(lhs, m, k), b = batch(rhs, k, n);
  Tensor<std::int32_t, 3> out;
  _mlir_ciface_matmul(&out, &a, &b);
  keep(out, call.out);
}

}  // namespace

int main() {
  return shipped::serve(
      "mlir-opt 22, llc " LEVEL,
      {
          {"fpm", "shipped-tosa-apply-scale-single", "tosa-apply-scale-32-single", "", scaled<_mlir_ciface_apply_scale_single>},
          {"fpm", "shipped-tosa-apply-scale-double", "tosa-apply-scale-32-double", "", scaled<_mlir_ciface_apply_scale_double>},
          {"fpm", "shipped-tosa-apply-scale-single-32", "tosa-apply-scale-32-single", "", scaled<_mlir_ciface_apply_scale_single_32>},
          {"fpm", "shipped-tosa-apply-scale-double-32", "tosa-apply-scale-32-double", "", scaled<_mlir_ciface_apply_scale_double_32>},
          {"requantize", "shipped-tosa-rescale-single-i8", "tosa-rescale-single-i8", "", rescaled<std::int8_t, _mlir_ciface_rescale_single_i8>},
          {"requantize", "shipped-tosa-rescale-double-i8", "tosa-rescale-i8", "", rescaled<std::int8_t, _mlir_ciface_rescale_double_i8>},
          {"requantize", "shipped-tosa-rescale-double-u8", "tosa-rescale-u8", "", rescaled<std::uint8_t, _mlir_ciface_rescale_double_u8>},
          {"requantize", "shipped-tosa-rescale-single-i16", "tosa-rescale-single-i16", "", rescaled<std::int16_t, _mlir_ciface_rescale_single_i16>},
          {"matmul", "shipped-tosa-matmul", "arm-sadalp", "", product},
      });
}
