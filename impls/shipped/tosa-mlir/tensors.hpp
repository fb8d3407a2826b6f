// Tensors as MLIR's C interface passes them.
#pragma once

#include "../worker.hpp"

#include <array>
#include <cstdlib>
#include <numeric>

namespace tosa {

// Descriptor with identity layout; sizes and strides are in elements.
template <typename T, std::size_t Rank>
struct Tensor {
  T* base;
  T* data;
  std::int64_t offset;
  std::int64_t sizes[Rank];
  std::int64_t strides[Rank];
};

template <std::size_t Rank>
using Shape = std::array<std::int64_t, Rank>;

template <std::size_t Rank>
std::int64_t elements(const Shape<Rank>& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

template <typename T, std::size_t Rank>
Tensor<T, Rank> tensor(std::vector<T>& of, const Shape<Rank>& shape) {
  Tensor<T, Rank> made{of.data(), of.data(), 0, {}, {}};
  std::int64_t stride = 1;
  for (std::size_t axis = Rank; axis-- > 0; stride *= shape[axis]) {
    made.sizes[axis] = shape[axis];
    made.strides[axis] = stride;
  }
  return made;
}

template <typename T>
Tensor<T, 1> vector(std::vector<T>& of) {
  return tensor<T, 1>(of, {static_cast<std::int64_t>(of.size())});
}

// Reads stored values from the words of a request.
template <typename T>
std::vector<T> stored(shipped::Words::const_iterator from, std::int64_t count) {
  return std::vector<T>(from, from + count);
}

// Copies the results of a function and frees their buffer.
template <typename T, std::size_t Rank>
void keep(const Tensor<T, Rank>& made, shipped::Words& out) {
  Shape<Rank> shape;
  std::copy(made.sizes, made.sizes + Rank, shape.begin());
  const bool whole = elements(shape) >= static_cast<std::int64_t>(out.size());
  for (std::size_t i = 0; whole && i < out.size(); ++i) out[i] = made.data[made.offset + static_cast<std::int64_t>(i)];
  std::free(made.base);
  if (!whole) throw std::runtime_error("the function gave " + std::to_string(elements(shape)) + " results");
}

// Calls a function with its result, then its operands.
template <typename... Tensors>
void call(void* function, Tensors&... tensors) {
  reinterpret_cast<void (*)(Tensors*...)>(function)(&tensors...);
}

}  // namespace tosa
