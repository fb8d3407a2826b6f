// gemmlowp (Debian's libgemmlowp-dev: headers only), as a lane: its output pipelines on accumulators, its fixed-point functions, and its GEMM.
//
// The stages run in register blocks of 8, 4 and 1 rows, the sizes in which `internal/unpack.h` stores results.

#include "../worker.hpp"

#include <tuple>

// This header includes the stages and their executor.
#include <public/gemmlowp.h>

using shipped::Call;
using shipped::Json;
using shipped::Kernel;
using shipped::Words;

namespace {

const char* path() {
#if defined(GEMMLOWP_NEON)
  return "neon";
#elif defined(GEMMLOWP_AVX2)
  return "avx2";
#elif defined(GEMMLOWP_SSE4)
  return "sse4.1";
#else
  return "scalar";
#endif
}

// Multiplier and shift of a channel; positive shifts are left.
struct Channel {
  std::int32_t multiplier;
  std::int32_t shift;
};

std::vector<Channel> channels(const Json& params) {
  std::vector<Channel> all;
  for (const Json& one : params.at("channels")) all.push_back({one.at("multiplier"), one.at("shift")});
  return all;
}

template <int Rows, typename Stored, typename Pipeline>
int blocks(const Pipeline& pipeline, const Words& in, std::vector<Stored>& out, int first) {
  using Block = gemmlowp::RegisterBlock<std::int32_t, Rows, 1>;
  gemmlowp::OutputPipelineExecutor<Pipeline, Block> executor(pipeline);
  gemmlowp::MatrixMap<Stored, gemmlowp::MapOrder::ColMajor> result(out.data(), static_cast<int>(out.size()), 1);
  gemmlowp::MatrixMap<const std::int32_t, gemmlowp::MapOrder::ColMajor> source(in.data(), static_cast<int>(in.size()), 1);
  for (; first + Rows <= static_cast<int>(in.size()); first += Rows) {
    executor.Execute(gemmlowp::Load<Block>(source, first, 0), &result, first, 0, first, 0);
  }
  return first;
}

// True if every stage has a vector form. On x86, the library has no vector form of `SaturatingCastToInt8` and of exponents per channel.
#if defined(GEMMLOWP_AVX2) || defined(GEMMLOWP_SSE4)
constexpr bool kEveryVector = false;
#else
constexpr bool kEveryVector = true;
#endif

// Runs all inputs through a pipeline, in vectors or one by one.
template <typename Stored, bool Vectors = true, typename Pipeline>
void through(const Pipeline& pipeline, const Call& call) {
  std::vector<Stored> out(call.in.size());
  int first = 0;
  if constexpr (Vectors) {
    first = blocks<8>(pipeline, call.in, out, first);
    first = blocks<4>(pipeline, call.in, out, first);
  }
  blocks<1>(pipeline, call.in, out, first);
  call.out.assign(out.begin(), out.end());
}

struct ToU8 {
  static constexpr bool kVectors = true;
  using Stage = gemmlowp::OutputStageSaturatingCastToUint8;
  using Stored = std::uint8_t;
};
struct ToI8 {
  static constexpr bool kVectors = kEveryVector;
  using Stage = gemmlowp::OutputStageSaturatingCastToInt8;
  using Stored = std::int8_t;
};
struct ToI16 {
  static constexpr bool kVectors = true;
  using Stage = gemmlowp::OutputStageSaturatingCastToInt16;
  using Stored = std::int16_t;
};

template <typename Cast>
void by_fixed_point(const Call& call) {
  const Channel channel = channels(call.params).at(0);
  gemmlowp::OutputStageQuantizeDownInt32ByFixedPoint stage;
  stage.result_fixedpoint_multiplier = channel.multiplier;
  stage.result_shift = -channel.shift;
  stage.result_offset_after_shift = call.params.at("zero_point");
  through<typename Cast::Stored, Cast::kVectors>(std::make_tuple(stage, typename Cast::Stage()), call);
}

template <typename Cast>
void by_exponent(const Call& call) {
  const Channel channel = channels(call.params).at(0);
  gemmlowp::OutputStageScaleInt32ByFixedPointAndExponent stage;
  stage.result_fixedpoint_multiplier = channel.multiplier;
  stage.result_exponent = channel.shift;
  stage.result_offset_after_shift = call.params.at("zero_point");
  through<typename Cast::Stored, Cast::kVectors>(std::make_tuple(stage, typename Cast::Stage()), call);
}

void quantize_down(const Call& call) {
  const Channel channel = channels(call.params).at(0);
  gemmlowp::OutputStageQuantizeDownInt32ToUint8Scale stage;
  stage.result_offset = call.params.at("bias").at(0);
  stage.result_mult_int = channel.multiplier;
  stage.result_shift = -channel.shift;
  gemmlowp::OutputStageClamp clamp;
  clamp.min = call.params.at("min");
  clamp.max = call.params.at("max");
  through<std::uint8_t>(std::make_tuple(stage, clamp, gemmlowp::OutputStageSaturatingCastToUint8()), call);
}

// Adds bias, scales each channel, clamps and casts. Element i belongs to channel i modulo the number of channels: a vector over the rows repeats the
// channels.
template <typename Cast>
void pipeline(const Call& call) {
  using Vector = gemmlowp::VectorMap<const std::int32_t, gemmlowp::VectorShape::Col>;
  const std::vector<Channel> all = channels(call.params);
  const Words bias = call.params.at("bias").get<Words>();
  const std::size_t count = call.in.size();
  Words biases(count), multipliers(count), exponents(count);
  for (std::size_t i = 0; i < count; ++i) {
    biases[i] = bias[i % bias.size()];
    multipliers[i] = all[i % all.size()].multiplier;
    exponents[i] = all[i % all.size()].shift;
  }
  const int rows = static_cast<int>(count);
  gemmlowp::OutputStageBiasAddition<Vector> add;
  add.bias_vector = Vector(biases.data(), rows);
  gemmlowp::OutputStageScaleInt32ByFixedPointAndExponentPC<gemmlowp::VectorShape::Col> scale;
  scale.result_fixedpoint_multiplier = Vector(multipliers.data(), rows);
  scale.result_exponent = Vector(exponents.data(), rows);
  scale.result_offset_after_shift = call.params.at("zero_point");
  gemmlowp::OutputStageClamp clamp;
  clamp.min = call.params.at("min");
  clamp.max = call.params.at("max");
  through<typename Cast::Stored, kEveryVector>(std::make_tuple(add, scale, clamp, typename Cast::Stage()), call);
}

// Computes a left shift, `SaturatingRoundingDoublingHighMul`, then `RoundingDivideByPOT`, on int32.
void multiply(const Call& call) {
  const std::vector<Channel> all = channels(call.params);
  for (std::size_t i = 0; i < call.in.size(); ++i) {
    const Channel channel = all[i % all.size()];
    const int left = std::max(channel.shift, 0), right = std::max(-channel.shift, 0);
    const std::int32_t shifted = gemmlowp::ShiftLeft(call.in[i], left);
    const std::int32_t high = gemmlowp::SaturatingRoundingDoublingHighMul(shifted, channel.multiplier);
    call.out[i] = gemmlowp::RoundingDivideByPOT(high, right);
  }
}

// Computes the product of two uint8 matrices with offsets, without an output stage.
void product(const Call& call) {
  const int m = call.params.at("m"), n = call.params.at("n"), k = call.params.at("k");
  const auto middle = call.in.begin() + static_cast<std::ptrdiff_t>(m) * k;
  const std::vector<std::uint8_t> lhs(call.in.begin(), middle), rhs(middle, call.in.end());
  using RowMajor = gemmlowp::MatrixMap<const std::uint8_t, gemmlowp::MapOrder::RowMajor>;
  gemmlowp::MatrixMap<std::int32_t, gemmlowp::MapOrder::RowMajor> result(call.out.data(), m, n);
  gemmlowp::GemmContext context;
  context.set_max_num_threads(1);
  gemmlowp::GemmWithOutputPipeline<std::uint8_t, std::int32_t, gemmlowp::DefaultL8R8BitDepthParams>(
      &context, RowMajor(lhs.data(), m, k), RowMajor(rhs.data(), k, n), &result, call.params.at("lhs_offset"),
      call.params.at("rhs_offset"), std::make_tuple());
}

}  // namespace

int main() {
  return shipped::serve(
      path(), {
                  {"fpm", "shipped-gemmlowp", "gemmlowp-scalar", "", multiply},
                  {"requantize", "shipped-gemmlowp-quantize-down", "gemmlowp-quantize-down-shipped", "", quantize_down},
                  {"requantize", "shipped-gemmlowp-fixedpoint-u8", "gemmlowp-quantize-down-fixedpoint", "", by_fixed_point<ToU8>},
                  {"requantize", "shipped-gemmlowp-fixedpoint-i8", "gemmlowp-quantize-down-fixedpoint-i8", "", by_fixed_point<ToI8>},
                  {"requantize", "shipped-gemmlowp-fixedpoint-i16", "gemmlowp-quantize-down-fixedpoint-i16", "", by_fixed_point<ToI16>},
                  {"requantize", "shipped-gemmlowp-exponent-u8", "gemmlowp-scale-fixedpoint-exponent", "", by_exponent<ToU8>},
                  {"requantize", "shipped-gemmlowp-exponent-i8", "gemmlowp-scale-fixedpoint-exponent-i8", "", by_exponent<ToI8>},
                  {"requantize", "shipped-gemmlowp-exponent-i16", "gemmlowp-scale-fixedpoint-exponent-i16", "", by_exponent<ToI16>},
                  {"requantize", "shipped-gemmlowp-pipeline-u8", "gemmlowp-pipeline", "", pipeline<ToU8>},
                  {"requantize", "shipped-gemmlowp-pipeline-i8", "gemmlowp-pipeline-i8", "", pipeline<ToI8>},
                  {"requantize", "shipped-gemmlowp-pipeline-i16", "gemmlowp-pipeline-i16", "", pipeline<ToI16>},
                  {"matmul", "shipped-gemmlowp-gemm", "gemmlowp-reference", "", product},
              });
}
