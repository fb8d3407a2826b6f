// Windows of a convolution or a pool. TOSA requires that the last window ends at the end of the padded image, so a remainder that no window reaches
// is cut off.
#pragma once

#include "tensors.hpp"

#include <string>

namespace tosa {

// Prints numbers as in attributes, or as in a shape.
inline std::string list(const std::vector<std::int64_t>& numbers, const char* between = ", ") {
  std::string text;
  for (const std::int64_t number : numbers) text += (text.empty() ? "" : between) + std::to_string(number);
  return text;
}

// One axis of an image: its size, padding and results without the remainder.
struct Side {
  std::int64_t whole, size, kernel, stride, dilation, before, after, results;

  Side(const shipped::Json& params, const char* axis, const std::string& suffix, const char* first, const char* last) {
    const auto of = [&](const std::string& name, std::int64_t usual) { return params.contains(name) ? params.at(name).get<std::int64_t>() : usual; };
    whole = size = params.at(axis);
    kernel = of("kernel_" + suffix, 1), stride = of("stride_" + suffix, 1), dilation = of("dilation_" + suffix, 1);
    before = params.at(first), after = params.at(last);
    const std::int64_t free = size + before + after - (kernel - 1) * dilation - 1;
    results = free / stride + 1;
    after -= free % stride;
    if (after < 0) size += after, after = 0;
    if (size < 1) throw shipped::OutsideDomain("no window reaches the image");
  }
};

struct Windows {
  std::int64_t batches, channels;
  Side rows, columns;

  explicit Windows(const shipped::Json& params)
      : batches(params.at("batches")),
        channels(params.at("channels")),
        rows(params, "height", "h", "top", "bottom"),
        columns(params, "width", "w", "left", "right") {}

  Shape<4> image() const { return {batches, rows.size, columns.size, channels}; }

  // Copies the image without the elements that no window reaches.
  template <typename T>
  std::vector<T> cut(const shipped::Words& in) const {
    std::vector<T> kept;
    for (std::int64_t line = 0; line < batches * rows.whole; ++line) {
      const auto from = in.begin() + line * columns.whole * channels;
      if (line % rows.whole < rows.size) kept.insert(kept.end(), from, from + columns.size * channels);
    }
    return kept;
  }

  // Number of elements of the image in the request.
  std::int64_t whole() const { return batches * rows.whole * columns.whole * channels; }

  std::string pad() const { return list({rows.before, rows.after, columns.before, columns.after}); }
  std::string stride() const { return list({rows.stride, columns.stride}); }
  std::string dilation() const { return list({rows.dilation, columns.dilation}); }
  std::string kernel() const { return list({rows.kernel, columns.kernel}); }
};

}  // namespace tosa
