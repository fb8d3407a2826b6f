// Protocol of a worker (impls/worker/src/protocol/mod.rs), for adapters of libraries in C and C++: one line of JSON and little-endian int32 on
// standard input, and the same on standard output.
#pragma once

#include <cstdint>
#include <cstdio>
#include <exception>
#include <functional>
#include <iostream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace shipped {

using Json = nlohmann::json;
using Words = std::vector<std::int32_t>;

// One call: parameters, inputs, and `out.size()` results.
struct Call {
  const Json& params;
  const Words& in;
  Words& out;
};

// Kernel of a library: operation, name, the project's kernel whose contract or domain it claims, and the code.
struct Kernel {
  std::string op;
  std::string name;
  std::string like;
  std::string scheme;  // Empty: the scheme of `like`.
  std::function<void(const Call&)> run;
  Json domain = Json::object();  // Accepted part of that kernel's domain.
};

// The library has no such call. The case is neither a failure nor a pass.
struct OutsideDomain : std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline void answer(const Json& header, const Words& payload) {
  const std::string line = header.dump() + "\n";
  std::fwrite(line.data(), 1, line.size(), stdout);
  std::fwrite(payload.data(), sizeof(std::int32_t), payload.size(), stdout);
  std::fflush(stdout);
}

inline Json greeting(const std::string& isa_path, const std::vector<Kernel>& kernels) {
  Json offers = Json::array();
  for (const Kernel& kernel : kernels) {
    Json offer = {{"op", kernel.op}, {"kernel", kernel.name}, {"isa_path", isa_path}, {"like", kernel.like}};
    if (!kernel.scheme.empty()) offer["scheme"] = kernel.scheme;
    if (!kernel.domain.empty()) offer["domain"] = kernel.domain;
    offers.push_back(offer);
  }
#if defined(__aarch64__)
  const char* arch = "aarch64";
#else
  const char* arch = "x86_64";
#endif
  return {{"answer", "hello"}, {"protocol", 1}, {"arch", arch}, {"kernels", offers}};
}

inline void run(const Json& request, const std::vector<Kernel>& kernels, const Words& in, Words& out) {
  for (const Kernel& kernel : kernels) {
    if (kernel.op == request.at("op") && kernel.name == request.at("kernel")) {
      return kernel.run(Call{request.at("params"), in, out});
    }
  }
  throw std::runtime_error("no such kernel");
}

// Reads the inputs of a request: the payload that follows, or consecutive values.
inline Words read(const Json& source, std::size_t count) {
  if (source.contains("payload")) {
    const std::size_t bytes = source.at("payload").at("bytes");
    Words in(bytes / sizeof(std::int32_t));
    std::cin.read(reinterpret_cast<char*>(in.data()), static_cast<std::streamsize>(bytes));
    return in;
  }
  Words in(count);
  const std::int64_t start = source.at("range").at("start");
  for (std::size_t i = 0; i < count; ++i) in[i] = static_cast<std::int32_t>(start + static_cast<std::int64_t>(i));
  return in;
}

// Answers requests until the input ends.
inline int serve(const std::string& isa_path, const std::vector<Kernel>& kernels) {
  std::string line;
  std::ios::sync_with_stdio(false);
  while (std::getline(std::cin, line)) {
    const Json request = Json::parse(line);
    if (request.at("command") == "hello") {
      answer(greeting(isa_path, kernels), {});
      continue;
    }
    const std::size_t count = request.at("len");
    const Words in = read(request.at("source"), count);
    Words out(count);
    try {
      run(request, kernels, in, out);
      answer({{"answer", "done"}, {"bytes", count * sizeof(std::int32_t)}}, out);
    } catch (const OutsideDomain& outside) {
      answer({{"answer", "failed"}, {"reason", outside.what()}, {"kind", "outside-domain"}}, {});
    } catch (const std::exception& error) {
      answer({{"answer", "failed"}, {"reason", error.what()}}, {});
    }
  }
  return 0;
}

}  // namespace shipped
