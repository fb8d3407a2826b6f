// XNNPACK (Debian's libxnnpack-dev), as a lane: the operators of its public header that convert, add and multiply stored values.

#include "../worker.hpp"

#include <memory>

#include <xnnpack.h>

using shipped::Call;
using shipped::Json;
using shipped::OutsideDomain;

namespace {

struct Delete {
  void operator()(xnn_operator* op) const { xnn_delete_operator(op); }
};
using Operator = std::unique_ptr<xnn_operator, Delete>;

// Checks a status; the library reports refused parameters by it.
void check(xnn_status status, const char* what) {
  if (status == xnn_status_unsupported_parameter || status == xnn_status_invalid_parameter) {
    throw OutsideDomain(std::string(what) + " refuses these parameters");
  }
  if (status != xnn_status_success) throw std::runtime_error(std::string(what) + " failed");
}

void run(xnn_operator* op) { check(xnn_run_operator(op, nullptr), "xnn_run_operator"); }

// The library reads whole vectors, so inputs have room at their end (XNN_EXTRA_BYTES).
template <typename T>
std::vector<T> padded(std::size_t count) {
  return std::vector<T>(count + XNN_EXTRA_BYTES / sizeof(T));
}

template <typename T>
std::vector<T> stored(const std::int32_t* first, std::size_t count) {
  std::vector<T> all = padded<T>(count);
  for (std::size_t i = 0; i < count; ++i) all[i] = static_cast<T>(first[i]);
  return all;
}

struct Scale {
  float scale;
  std::int32_t zero_point;
};

Scale layer(const Json& quantized) { return {quantized.at("scales").at(0), quantized.at("zero_points").at(0)}; }

Scale operand(const Json& params, const char* name) {
  return {params.at(name).at("scale"), params.at(name).at("zero_point")};
}

// Functions of a stored type.
struct Signed {
  using T = std::int8_t;
  static constexpr auto to = xnn_create_convert_nc_f32_qs8;
  static constexpr auto set_to = xnn_setup_convert_nc_f32_qs8;
  static constexpr auto from = xnn_create_convert_nc_qs8_f32;
  static constexpr auto set_from = xnn_setup_convert_nc_qs8_f32;
  static constexpr auto add = xnn_create_add_nd_qs8;
  static constexpr auto set_add = xnn_setup_add_nd_qs8;
  static constexpr auto mul = xnn_create_multiply_nd_qs8;
  static constexpr auto set_mul = xnn_setup_multiply_nd_qs8;
};
struct Unsigned {
  using T = std::uint8_t;
  static constexpr auto to = xnn_create_convert_nc_f32_qu8;
  static constexpr auto set_to = xnn_setup_convert_nc_f32_qu8;
  static constexpr auto from = xnn_create_convert_nc_qu8_f32;
  static constexpr auto set_from = xnn_setup_convert_nc_qu8_f32;
  static constexpr auto add = xnn_create_add_nd_qu8;
  static constexpr auto set_add = xnn_setup_add_nd_qu8;
  static constexpr auto mul = xnn_create_multiply_nd_qu8;
  static constexpr auto set_mul = xnn_setup_multiply_nd_qu8;
};

bool is_signed(const Json& quantized) { return quantized.at("storage").at("signed"); }

template <typename Type>
void quantize_as(const Call& call) {
  using T = typename Type::T;
  const Json& quantized = call.params.at("quantized");
  const Scale to = layer(quantized);
  const std::size_t count = call.in.size();
  std::vector<float> in = padded<float>(count);
  std::copy_n(reinterpret_cast<const float*>(call.in.data()), count, in.begin());
  std::vector<T> out = padded<T>(count);
  xnn_operator_t op = nullptr;
  check(Type::to(1, 1, 1, to.scale, static_cast<T>(to.zero_point), quantized.at("min").get<T>(), quantized.at("max").get<T>(), 0, &op),
        "xnn_create_convert");
  const Operator owned(op);
  check(Type::set_to(op, count, in.data(), out.data(), nullptr), "xnn_setup_convert");
  run(op);
  call.out.assign(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(count));
}

template <typename Type>
void dequantize_as(const Call& call) {
  using T = typename Type::T;
  const Scale from = layer(call.params.at("quantized"));
  const std::size_t count = call.in.size();
  const std::vector<T> in = stored<T>(call.in.data(), count);
  std::vector<float> out = padded<float>(count);
  xnn_operator_t op = nullptr;
  check(Type::from(1, 1, 1, from.scale, static_cast<T>(from.zero_point), 0, &op), "xnn_create_convert");
  const Operator owned(op);
  check(Type::set_from(op, count, in.data(), out.data(), nullptr), "xnn_setup_convert");
  run(op);
  std::copy_n(reinterpret_cast<const std::int32_t*>(out.data()), count, call.out.begin());
}

void quantize(const Call& call) {
  is_signed(call.params.at("quantized")) ? quantize_as<Signed>(call) : quantize_as<Unsigned>(call);
}

void dequantize(const Call& call) {
  is_signed(call.params.at("quantized")) ? dequantize_as<Signed>(call) : dequantize_as<Unsigned>(call);
}

template <typename T, typename Create, typename Setup>
void elementwise(const Call& call, Create create, Setup setup) {
  const Json& params = call.params;
  const Scale lhs = operand(params, "lhs"), rhs = operand(params, "rhs"), to = operand(params, "out");
  const std::size_t count = call.in.size() / 2;
  const std::vector<T> a = stored<T>(call.in.data(), count), b = stored<T>(call.in.data() + count, count);
  std::vector<T> out = padded<T>(count);
  xnn_operator_t op = nullptr;
  check(create(static_cast<T>(lhs.zero_point), lhs.scale, static_cast<T>(rhs.zero_point), rhs.scale, static_cast<T>(to.zero_point), to.scale,
               params.at("min").get<T>(), params.at("max").get<T>(), 0, &op),
        "xnn_create");
  const Operator owned(op);
  check(setup(op, 1, &count, 1, &count, a.data(), b.data(), out.data(), nullptr), "xnn_setup");
  run(op);
  call.out.assign(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(count));
}

template <typename Type>
void add(const Call& call) {
  elementwise<typename Type::T>(call, Type::add, Type::set_add);
}

template <typename Type>
void mul(const Call& call) {
  elementwise<typename Type::T>(call, Type::mul, Type::set_mul);
}

}  // namespace

int main() {
  if (xnn_initialize(nullptr) != xnn_status_success) {
    std::fputs("xnn_initialize failed: the CPU is not supported\n", stderr);
    return 1;
  }
  return shipped::serve("as the library chooses", {
                                                      {"quantize", "shipped-xnnpack-quantize", "xnnpack-quantize", "", quantize},
                                                      {"dequantize", "shipped-xnnpack-dequantize", "xnnpack-dequantize", "", dequantize},
                                                      {"add", "shipped-xnnpack-add-i8", "xnnpack-qs8-vadd", "", add<Signed>},
                                                      {"add", "shipped-xnnpack-add-u8", "xnnpack-qu8-vadd", "", add<Unsigned>},
                                                      {"mul", "shipped-xnnpack-mul-i8", "xnnpack-qs8-vmul", "", mul<Signed>},
                                                      {"mul", "shipped-xnnpack-mul-u8", "xnnpack-qu8-vmul", "", mul<Unsigned>},
                                                  });
}
