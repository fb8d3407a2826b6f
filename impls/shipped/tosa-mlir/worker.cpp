// TOSA as a lane, lowered by MLIR and compiled by LLVM: the functions of the .mlir files of this directory. Multipliers and shifts are operands.
// Values that the shipped lowering requires as attributes or constants are filled into a text, which is compiled at its first call.

#include "modules.hpp"
#include "tensors.hpp"
#include "windows.hpp"

#include <cmath>
#include <cstring>
#include <limits>

using shipped::Call;
using shipped::Json;
using shipped::Kernel;
using shipped::OutsideDomain;
using shipped::Words;
using tosa::Shape;
using tosa::Tensor;
using tosa::tensor;
using tosa::vector;

// Copies between layouts. MLIR's lowering calls this function as it calls `malloc`: rank and descriptor of both sides, elements of `size` bytes.
extern "C" void memrefCopy(std::int64_t size, const void* from, const void* to) {
  struct Unranked {
    std::int64_t rank;
    std::int64_t* descriptor;  // Two pointers, the offset, sizes, strides.
  };
  const auto &source = *static_cast<const Unranked*>(from), &target = *static_cast<const Unranked*>(to);
  const std::int64_t *sizes = source.descriptor + 3, rank = source.rank;
  std::int64_t count = 1;
  for (std::int64_t axis = 0; axis < rank; ++axis) count *= sizes[axis];
  const auto place = [&](const Unranked& of, std::int64_t index) {
    std::int64_t at = of.descriptor[2];
    for (std::int64_t axis = rank; axis-- > 0; index /= sizes[axis]) at += index % sizes[axis] * of.descriptor[3 + rank + axis];
    return reinterpret_cast<char*>(of.descriptor[1]) + at * size;
  };
  for (std::int64_t i = 0; i < count; ++i) std::memcpy(place(target, i), place(source, i), static_cast<std::size_t>(size));
}

namespace {

template <typename T>
constexpr const char* kType = sizeof(T) == 1 ? "i8" : sizeof(T) == 2 ? "i16" : "i32";

// Multipliers and shifts, as TOSA counts them: 31 is no shift, more is right.
struct Scales {
  std::vector<std::int32_t> multipliers;
  std::vector<std::int8_t> shifts;

  explicit Scales(const Call& call) {
    for (const Json& one : call.params.at("channels")) {
      multipliers.push_back(one.at("multiplier"));
      shifts.push_back(static_cast<std::int8_t>(31 - one.at("shift").get<int>()));
    }
  }

  // Derives multiplier and shift from a quotient of scales, as `computeMultiplierAndShift` of MLIR's Tosa dialect does.
  explicit Scales(double scale) {
    int exponent = 0;
    std::int64_t multiplier = std::llround(std::ldexp(std::frexp(scale, &exponent), 31));
    if (multiplier == std::int64_t{1} << 31) multiplier /= 2, ++exponent;
    int shift = 31 - exponent;
    if (shift > 62) multiplier >>= std::min(31, shift - 62), shift = 62;
    multipliers = {static_cast<std::int32_t>(multiplier)};
    shifts = {static_cast<std::int8_t>(shift)};
  }

  std::int64_t count() const { return static_cast<std::int64_t>(multipliers.size()); }
};

// Completes the last row of channels with zeros, whose results are discarded.
Words rows(const Words& in, std::int64_t channels, std::int64_t* count) {
  *count = (static_cast<std::int64_t>(in.size()) + channels - 1) / channels;
  Words whole = in;
  whole.resize(static_cast<std::size_t>(*count * channels), 0);
  return whole;
}

template <typename T>
void bounds_of_the_type(const Json& params, const char* op) {
  using Limits = std::numeric_limits<T>;
  if (params.at("min") != Limits::min() || params.at("max") != Limits::max()) {
    throw OutsideDomain(std::string(op) + " clamps to the ends of its type");
  }
}

std::string int8(std::int64_t zero_point) {
  if (zero_point < -128 || zero_point > 127) throw OutsideDomain("a zero point of " + std::to_string(zero_point) + " is no int8");
  return std::to_string(zero_point);
}

class Functions {
 public:
  explicit Functions(tosa::Modules& modules) : modules_(modules) {}

  void scaled(const Call& call, const std::string& rounding, const std::string& options) {
    Scales scales(call);
    std::int64_t count = 0;
    Words whole = rows(call.in, scales.count(), &count);
    auto x = tensor<std::int32_t, 2>(whole, {count, scales.count()}), out = x;
    auto m = vector(scales.multipliers);
    auto s = vector(scales.shifts);
    tosa::call(modules_.function("apply_scale", {{"ROUNDING", rounding}}, options), out, x, m, s);
    keep(out, call.out);
  }

  template <typename T>
  void rescaled(const Call& call, const std::string& rounding) {
    bounds_of_the_type<T>(call.params, "tosa.rescale");
    Scales scales(call);
    std::int64_t count = 0;
    Words whole = rows(call.in, scales.count(), &count), bias = call.params.at("bias").get<Words>();
    bias.resize(scales.multipliers.size(), bias.at(0));
    std::vector<T> zero_point = {call.params.at("zero_point").get<T>()};
    auto x = tensor<std::int32_t, 2>(whole, {count, scales.count()}), b = tensor<std::int32_t, 2>(bias, {1, scales.count()});
    auto m = vector(scales.multipliers);
    auto s = vector(scales.shifts);
    auto z = vector(zero_point);
    Tensor<T, 2> out;
    const char* const is_unsigned = std::is_unsigned_v<T> ? "true" : "false";
    tosa::call(modules_.function("rescale", {{"ROUNDING", rounding}, {"TYPE", kType<T>}, {"UNSIGNED", is_unsigned}}), out, x, b, m, s, z);
    keep(out, call.out);
  }

  void product(const Call& call) {
    const std::int64_t m = call.params.at("m"), n = call.params.at("n"), k = call.params.at("k");
    const std::string za = int8(-call.params.at("lhs_offset").get<std::int64_t>()), zb = int8(-call.params.at("rhs_offset").get<std::int64_t>());
    auto lhs = tosa::stored<std::int8_t>(call.in.begin(), m * k), rhs = tosa::stored<std::int8_t>(call.in.begin() + m * k, k * n);
    auto a = tensor<std::int8_t, 3>(lhs, {1, m, k}), b = tensor<std::int8_t, 3>(rhs, {1, k, n});
    Tensor<std::int32_t, 3> out;
    tosa::call(modules_.function("matmul", {{"A_ZERO_POINT", za}, {"B_ZERO_POINT", zb}}), out, a, b);
    keep(out, call.out);
  }

  // Computes TensorFlow Lite's sum as legalize_tfl.cc lowers it: operands lifted by 2^20, scales over twice the larger scale.
  void sum(const Call& call, bool is_double) {
    bounds_of_the_type<std::int8_t>(call.params, "tosa.rescale");
    const auto scale = [&](const char* of) { return call.params.at(of).at("scale").get<float>(); };
    const auto point = [&](const char* of) { return std::vector<std::int8_t>{call.params.at(of).at("zero_point").get<std::int8_t>()}; };
    const double twice = 2.0f * std::max(scale("lhs"), scale("rhs")), lift = 1 << 20;
    const double before = is_double ? 1 : lift;  // Lift that the only rescale of an operand includes.
    Scales lifted(lift), left(scale("lhs") / twice * before), right(scale("rhs") / twice * before), result(twice / (lift * scale("out")));
    std::vector<std::int8_t> points[] = {point("lhs"), point("rhs"), point("out")};
    const std::int64_t len = call.params.at("len");
    auto lhs = tosa::stored<std::int8_t>(call.in.begin(), len), rhs = tosa::stored<std::int8_t>(call.in.begin() + len, len);
    auto x = vector(lhs), y = vector(rhs), out = x;
    auto zx = vector(points[0]), zy = vector(points[1]), zr = vector(points[2]);
    auto ml = vector(lifted.multipliers), mx = vector(left.multipliers), my = vector(right.multipliers), mr = vector(result.multipliers);
    auto sl = vector(lifted.shifts), sx = vector(left.shifts), sy = vector(right.shifts), sr = vector(result.shifts);
    if (is_double) {
      tosa::call(modules_.function("add", {}), out, x, y, zx, zy, zr, ml, sl, mx, sx, my, sy, mr, sr);
    } else {
      tosa::call(modules_.function("add_single", {}), out, x, y, zx, zy, zr, mx, sx, my, sy, mr, sr);
    }
    keep(out, call.out);
  }

  // Pads a tensor of signed or unsigned bytes if all values and the padding fit, otherwise a tensor of int32.
  void padded(const Call& call) {
    std::int32_t least = call.params.at("pad").at("zero_point"), greatest = least;
    for (const std::int32_t value : call.in) least = std::min(least, value), greatest = std::max(greatest, value);
    if (least >= -128 && greatest <= 127) return padded_as<std::int8_t>(call);
    if (least >= 0 && greatest <= 255) return padded_as<std::uint8_t>(call);
    padded_as<std::int32_t>(call);
  }

  void convolution(const Call& call) {
    if (call.params.at("groups") != 1) throw OutsideDomain("tosa.conv2d has one group");
    const tosa::Windows windows(call.params);
    const std::int64_t outputs = call.params.at("out_channels"), inner = windows.rows.kernel * windows.columns.kernel * windows.channels;
    const tosa::Holes holes = {
        {"CHANNELS", std::to_string(windows.channels)},
        {"WEIGHTS", tosa::list({outputs, windows.rows.kernel, windows.columns.kernel, windows.channels}, "x")},
        {"OUT", std::to_string(outputs)},
        {"INPUT_ZERO_POINT", int8(call.params.at("input_zero_point"))},
        {"WEIGHT_ZERO_POINT", int8(call.params.at("weight_zero_point"))},
        {"PAD", windows.pad()},
        {"STRIDE", windows.stride()},
        {"DILATION", windows.dilation()},
    };
    auto image = windows.cut<std::int8_t>(call.in);
    std::vector<std::int8_t> weights(static_cast<std::size_t>(inner * outputs));
    for (std::size_t i = 0, columns = static_cast<std::size_t>(outputs); i < weights.size(); ++i) {
      weights[i % columns * static_cast<std::size_t>(inner) + i / columns] = static_cast<std::int8_t>(call.in[static_cast<std::size_t>(windows.whole()) + i]);
    }
    Words none(static_cast<std::size_t>(outputs), 0);
    auto x = tensor<std::int8_t, 4>(image, windows.image());
    auto w = tensor<std::int8_t, 4>(weights, {outputs, windows.rows.kernel, windows.columns.kernel, windows.channels});
    auto bias = vector(none);
    Tensor<std::int32_t, 4> out;
    tosa::call(modules_.function("conv2d", holes), out, x, w, bias);
    keep(out, call.out);
  }

  template <typename T>
  void average(const Call& call) {
    bounds_of_the_type<T>(call.params, "a pool of TOSA");
    const std::int64_t points[] = {call.params.at("input").at("zero_point"), call.params.at("out").at("zero_point")};
    if (sizeof(T) > 1 && (points[0] != 0 || points[1] != 0)) throw OutsideDomain("zero points of int16 are 0");
    const tosa::Windows windows(call.params);
    const tosa::Holes holes = {
        {"INPUT_ZERO_POINT", std::to_string(points[0])},
        {"OUTPUT_ZERO_POINT", std::to_string(points[1])},
        {"INPUT", tosa::list({windows.rows.size, windows.columns.size, windows.channels}, "x")},
        {"OUTPUT", tosa::list({windows.rows.results, windows.columns.results, windows.channels}, "x")},
        {"TYPE", kType<T>},
        {"KERNEL", windows.kernel()},
        {"STRIDE", windows.stride()},
        {"PAD", windows.pad()},
    };
    pooled<T>(call, windows, modules_.function("avg_pool2d", holes));
  }

  void maximum(const Call& call) {
    bounds_of_the_type<std::int8_t>(call.params, "a pool of TOSA");
    const tosa::Windows windows(call.params);
    pooled<std::int8_t>(call, windows, modules_.function("max_pool2d", {{"KERNEL", windows.kernel()}, {"STRIDE", windows.stride()}, {"PAD", windows.pad()}}));
  }

 private:
  template <typename T>
  void padded_as(const Call& call) {
    const Json& params = call.params.at("pad");
    const auto of = [&](const char* name) { return params.at(name).get<std::int64_t>(); };
    auto values = tosa::stored<T>(call.in.begin(), static_cast<std::int64_t>(call.in.size()));
    std::vector<T> zero_point = {static_cast<T>(of("zero_point"))};
    const std::string padding = tosa::list(
        {of("batches_before"), of("batches_after"), of("top"), of("bottom"), of("left"), of("right"), of("channels_before"), of("channels_after")});
    auto x = tensor<T, 4>(values, {of("batches"), of("height"), of("width"), of("channels")}), out = x;
    auto z = vector(zero_point);
    tosa::call(modules_.function("pad", {{"PADDING", padding}, {"TYPE", kType<T>}}), out, x, z);
    keep(out, call.out);
  }

  template <typename T>
  void pooled(const Call& call, const tosa::Windows& windows, void* function) {
    auto image = windows.cut<T>(call.in);
    auto x = tensor<T, 4>(image, windows.image()), out = x;
    tosa::call(function, out, x);
    keep(out, call.out);
  }

  tosa::Modules& modules_;
};

std::vector<Kernel> kernels(Functions& f) {
  const std::string single = "SINGLE_ROUND", twice = "DOUBLE_ROUND";
  return {
      {"fpm", "shipped-tosa-apply-scale-single", "tosa-apply-scale-32-single", "", [&f, single](const Call& call) { f.scaled(call, single, ""); }},
      {"fpm", "shipped-tosa-apply-scale-double", "tosa-apply-scale-32-double", "", [&f, twice](const Call& call) { f.scaled(call, twice, ""); }},
      {"fpm", "shipped-tosa-apply-scale-single-32", "tosa-apply-scale-32-single", "", [&f, single](const Call& call) { f.scaled(call, single, "use-32-bit=true"); }},
      {"fpm", "shipped-tosa-apply-scale-double-32", "tosa-apply-scale-32-double", "", [&f, twice](const Call& call) { f.scaled(call, twice, "use-32-bit=true"); }},
      {"requantize", "shipped-tosa-rescale-single-i8", "tosa-rescale-single-i8", "", [&f, single](const Call& call) { f.rescaled<std::int8_t>(call, single); }},
      {"requantize", "shipped-tosa-rescale-double-i8", "tosa-rescale-i8", "", [&f, twice](const Call& call) { f.rescaled<std::int8_t>(call, twice); }},
      {"requantize", "shipped-tosa-rescale-double-u8", "tosa-rescale-u8", "", [&f, twice](const Call& call) { f.rescaled<std::uint8_t>(call, twice); }},
      {"requantize", "shipped-tosa-rescale-single-i16", "tosa-rescale-single-i16", "", [&f, single](const Call& call) { f.rescaled<std::int16_t>(call, single); }},
      {"add", "shipped-tosa-add-double-i8", "tosa-add-double-i8", "", [&f](const Call& call) { f.sum(call, true); }, {{"clamp", false}}},
      {"add", "shipped-tosa-add-single-i8", "tosa-add-single-i8", "", [&f](const Call& call) { f.sum(call, false); }, {{"clamp", false}}},
      {"matmul", "shipped-tosa-matmul", "arm-sadalp", "", [&f](const Call& call) { f.product(call); }},
      {"conv2d", "shipped-tosa-conv2d", "tflite-reference", "", [&f](const Call& call) { f.convolution(call); }, {{"grouped", false}}},
      {"pool", "shipped-tosa-avg-pool2d-i8", "tosa-avg-pool2d-i8", "", [&f](const Call& call) { f.average<std::int8_t>(call); }},
      {"pool", "shipped-tosa-avg-pool2d-i16", "tosa-avg-pool2d-i16", "", [&f](const Call& call) { f.average<std::int16_t>(call); }},
      {"pool", "shipped-tosa-max-pool2d-i8", "onnx-maxpool-i8", "", [&f](const Call& call) { f.maximum(call); }},
      {"transform", "shipped-tosa-pad", "tflite-pad", "", [&f](const Call& call) { f.padded(call); }},
  };
}

}  // namespace

int main(int count, char** words) {
  tosa::Modules modules(std::vector<std::string>(words + 1, words + count));
  Functions functions(modules);
  return shipped::serve(modules.described(), kernels(functions));
}
