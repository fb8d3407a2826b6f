// oneDNN (Debian's libdnnl-dev), as a lane: int8 matrix products and convolutions with sums in int32.
//
// Weights are reordered to the layout that the library prefers, as its documentation advises. With a fixed layout, the library would fall back to
// other code.

#include "../worker.hpp"

#include <dnnl.hpp>

using shipped::Call;
using shipped::Json;
using shipped::OutsideDomain;
using Dims = dnnl::memory::dims;
using Type = dnnl::memory::data_type;
using Tag = dnnl::memory::format_tag;

namespace {

dnnl::engine& engine() {
  static dnnl::engine cpu(dnnl::engine::kind::cpu, 0);
  return cpu;
}

template <typename T>
std::vector<T> stored(const std::int32_t* first, std::size_t count) {
  return std::vector<T>(first, first + count);
}

template <typename T>
Type type() {
  return std::is_signed<T>::value ? Type::s8 : Type::u8;
}

// Sets one zero point for all elements of the left operand. Zero points of weights are not supported by this adapter.
dnnl::primitive_attr attributes(std::int32_t lhs, std::int32_t rhs) {
  if (rhs != 0) throw OutsideDomain("zero points of weights are not driven");
  dnnl::primitive_attr attributes;
  if (lhs != 0) attributes.set_zero_points(DNNL_ARG_SRC, 0, {lhs});
  return attributes;
}

// Returns the description of a primitive, if the library has one.
template <typename Primitive>
typename Primitive::primitive_desc described(const typename Primitive::desc& desc, const dnnl::primitive_attr& attributes) {
  try {
    return typename Primitive::primitive_desc(desc, attributes, engine());
  } catch (const dnnl::error&) {
    throw OutsideDomain("the library has no such primitive");
  }
}

// Runs a primitive on operands in the given layouts.
template <typename Primitive>
void run(const typename Primitive::primitive_desc& desc, dnnl::memory source, dnnl::memory weights, std::int32_t* out) {
  dnnl::stream stream(engine());
  if (desc.weights_desc() != weights.get_desc()) {
    dnnl::memory preferred(desc.weights_desc(), engine());
    dnnl::reorder(weights, preferred).execute(stream, weights, preferred);
    weights = preferred;
  }
  dnnl::memory result(desc.dst_desc(), engine(), out);
  Primitive(desc).execute(stream, {{DNNL_ARG_SRC, source}, {DNNL_ARG_WEIGHTS, weights}, {DNNL_ARG_DST, result}});
  stream.wait();
}

template <typename L, typename R>
void product(const Call& call) {
  const std::int64_t m = call.params.at("m"), n = call.params.at("n"), k = call.params.at("k");
  auto lhs = stored<L>(call.in.data(), static_cast<std::size_t>(m * k));
  auto rhs = stored<R>(call.in.data() + m * k, static_cast<std::size_t>(k * n));
  const dnnl::memory::desc source({m, k}, type<L>(), Tag::ab), given({k, n}, type<R>(), Tag::ab), any({k, n}, type<R>(), Tag::any);
  const dnnl::memory::desc result({m, n}, Type::s32, Tag::ab);
  const auto attr = attributes(-call.params.at("lhs_offset").get<std::int32_t>(), -call.params.at("rhs_offset").get<std::int32_t>());
  const auto desc = described<dnnl::matmul>(dnnl::matmul::desc(source, any, result), attr);
  run<dnnl::matmul>(desc, {source, engine(), lhs.data()}, {given, engine(), rhs.data()}, call.out.data());
}

// Images are [batch, row, column, channel]; weights are [row, column, channel of a group, result].
template <typename L, typename R>
void convolution(const Call& call) {
  const auto of = [&](const char* name) { return call.params.at(name).get<std::int64_t>(); };
  const std::int64_t batches = of("batches"), height = of("height"), width = of("width"), channels = of("channels");
  const std::int64_t rows = of("kernel_h"), columns = of("kernel_w"), results = of("out_channels"), groups = of("groups");
  const std::int64_t depth = channels / groups, each = results / groups;
  const std::size_t inputs = static_cast<std::size_t>(batches * height * width * channels);
  auto lhs = stored<L>(call.in.data(), inputs);
  auto rhs = stored<R>(call.in.data() + inputs, call.in.size() - inputs);
  const auto length = [&](std::int64_t size, const char* before, const char* after, std::int64_t kernel, const char* dilation, const char* stride) {
    return (size + of(before) + of(after) - (kernel - 1) * of(dilation) - 1) / of(stride) + 1;
  };
  const std::int64_t out_h = length(height, "top", "bottom", rows, "dilation_h", "stride_h");
  const std::int64_t out_w = length(width, "left", "right", columns, "dilation_w", "stride_w");
  const dnnl::memory::desc source({batches, channels, height, width}, type<L>(), Tag::nhwc);
  const dnnl::memory::desc result({batches, results, out_h, out_w}, Type::s32, Tag::nhwc);
  Dims dims = {groups, each, depth, rows, columns};
  Dims strides = {each, 1, results, columns * depth * results, depth * results};
  if (groups == 1) {
    dims.erase(dims.begin());
    strides.erase(strides.begin());
  }
  const dnnl::memory::desc given(dims, type<R>(), strides), any(dims, type<R>(), Tag::any);
  const auto attr = attributes(call.params.at("input_zero_point"), call.params.at("weight_zero_point"));
  const dnnl::convolution_forward::desc desc(dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct, source, any, result,
                                             {of("stride_h"), of("stride_w")}, {of("dilation_h") - 1, of("dilation_w") - 1},
                                             {of("top"), of("left")}, {of("bottom"), of("right")});
  run<dnnl::convolution_forward>(described<dnnl::convolution_forward>(desc, attr), {source, engine(), lhs.data()},
                                 {given, engine(), rhs.data()}, call.out.data());
}

}  // namespace

int main() {
  const std::string isa = "cpu isa " + std::to_string(static_cast<int>(dnnl::get_effective_cpu_isa()));
  return shipped::serve(isa, {
                                 {"matmul", "shipped-onednn-matmul-u8s8", "x86-vnni", "", product<std::uint8_t, std::int8_t>},
                                 {"matmul", "shipped-onednn-matmul-s8s8", "nvidia-dp4a-s8", "", product<std::int8_t, std::int8_t>},
                                 {"conv2d", "shipped-onednn-conv2d-u8s8", "x86-vnni", "", convolution<std::uint8_t, std::int8_t>},
                                 {"conv2d", "shipped-onednn-conv2d-s8s8", "nvidia-dp4a-s8", "", convolution<std::int8_t, std::int8_t>},
                             });
}
