// Functions of TOSA, compiled at their first call, because attributes and constants are part of a text. Compiled functions stay in a directory, named
// by a hash of the text, the passes and the version, so that a later run finds them.
#pragma once

#include <dlfcn.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace tosa {

namespace fs = std::filesystem;

// Replacement of each `$NAME` in a text.
using Holes = std::vector<std::pair<std::string, std::string>>;

// Passes from TOSA to LLVM's dialect; `{}` stands for the options of `tosa-to-arith`.
constexpr const char* kPasses =
    "builtin.module(func.func(tosa-to-linalg-named,tosa-to-linalg,tosa-to-arith{include-apply-rescale=true {}},tosa-to-tensor),canonicalize,cse,"
    "linalg-fuse-elementwise-ops,one-shot-bufferize{bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map},"
    "buffer-deallocation-pipeline,canonicalize,cse,convert-bufferization-to-memref,func.func(convert-linalg-to-loops),convert-scf-to-cf,"
    "expand-strided-metadata,lower-affine,convert-math-to-llvm,convert-arith-to-llvm,finalize-memref-to-llvm,convert-func-to-llvm,"
    "convert-cf-to-llvm,convert-ub-to-llvm,reconcile-unrealized-casts)";
constexpr const char* kObject = "-relocation-model=pic -filetype=obj";
constexpr const char* kLinked = "-shared -nostdlib -Wl,-z,noseparate-code";

inline std::string replaced(std::string text, const std::string& name, const std::string& by) {
  for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + by.size())) text.replace(at, name.size(), by);
  return text;
}

inline std::string read(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

// FNV-1a, 64 bits.
inline std::string hashed(const std::string& text) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const unsigned char byte : text) hash = (hash ^ byte) * 0x100000001b3u;
  std::ostringstream out;
  out << std::hex << std::setw(16) << std::setfill('0') << hash;
  return out.str();
}

// Quotes a word of a shell command.
inline std::string word(const std::string& text) { return "'" + replaced(text, "'", "'\\''") + "'"; }

// Directory of one compilation, removed at its end.
struct Work {
  fs::path directory;

  explicit Work(const fs::path& cache) {
    static int count = 0;
    directory = cache / ("work-" + std::to_string(getpid()) + "-" + std::to_string(++count));
    fs::create_directories(directory);
  }
  ~Work() {
    std::error_code ignored;
    fs::remove_all(directory, ignored);
  }
  Work(const Work&) = delete;

  std::string file(const std::string& name) const { return (directory / name).string(); }

  // Path of a file in this directory, quoted for the shell.
  std::string operator[](const char* name) const { return word(file(name)); }

  // Runs tools in order. The error is the first line of their output.
  void run(const std::vector<std::string>& commands) const {
    std::string all = "true";
    for (const std::string& command : commands) all += " && " + command;
    if (std::system(("{ " + all + "; } >" + (*this)["log"] + " 2>&1").c_str()) == 0) return;
    const std::string told = read(file("log"));
    throw std::runtime_error(told.empty() ? all + " failed" : told.substr(0, told.find('\n')));
  }
};

class Modules {
 public:
  // Words of the command line: the texts' directory, the cache, the version of the tools, LLVM's level, the target, and the tools.
  explicit Modules(const std::vector<std::string>& words) {
    if (words.size() != 10) throw std::runtime_error("TEXTS CACHE VERSION LEVEL TARGET MLIR-OPT MLIR-TRANSLATE OPT LLC LINKER");
    texts_ = words[0], cache_ = words[1], version_ = words[2];
    target_ = "-O" + words[3] + " -mtriple=" + words[4];
    suffix_ = "-" + words[4].substr(0, words[4].find('-')) + "-o" + words[3] + ".so";
    level_ = words[3];
    for (std::size_t i = 5; i < words.size(); ++i) tools_[i - 5] = word(words[i]);
  }

  std::string described() const { return "mlir-opt " + version_ + ", llc -O" + level_; }

  // Returns the function of a text with filled holes, compiled with options of `tosa-to-arith`.
  void* function(const std::string& name, const Holes& holes, const std::string& options = "") {
    std::string text = known_text(name);
    for (const auto& [hole, by] : holes) text = replaced(text, "$" + hole, by);
    const std::string passes = replaced(kPasses, "{}", options);
    text = "// MLIR " + version_ + ", " + passes + "; " + kObject + "; " + kLinked + "\n" + text;
    const auto found = loaded_.find(text);
    if (found != loaded_.end()) return found->second.function;
    if (loaded_.size() >= kMost) close();
    return (loaded_[text] = load(compiled(name, text, passes))).function;
  }

 private:
  // Upper bound on loaded modules: each takes some memory mappings, whose number the system limits.
  static constexpr std::size_t kMost = 2048;

  struct Loaded {
    void* module;
    void* function;
  };

  const std::string& known_text(const std::string& name) {
    std::string& text = known_[name];
    if (text.empty()) text = read(texts_ / (name + ".mlir"));
    if (text.empty()) throw std::runtime_error("there is no text " + (texts_ / (name + ".mlir")).string());
    return text;
  }

  // Returns the shared object of a text. Another process may make the same object at the same time; the last one stays.
  fs::path compiled(const std::string& name, const std::string& text, const std::string& passes) const {
    const std::string stem = (cache_ / (name + "-" + hashed(text))).string();
    const fs::path object = stem + suffix_, lowered = stem + ".ll", source = stem + ".mlir";
    const bool is_lowered = read(source) == text && fs::exists(lowered);
    if (is_lowered && fs::exists(object)) return object;
    const Work work(cache_);
    if (!is_lowered) lower(work, text, passes, lowered, source);
    // LLVM's optimizer does nothing at -O0.
    const bool optimizes = level_ != "0";
    const std::string ir = word(lowered.string()), code = optimizes ? work["bc"] : ir;
    std::vector<std::string> commands;
    if (optimizes) commands.push_back(tools_[2] + " " + target_ + " " + ir + " -o " + code);
    commands.push_back(tools_[3] + " " + target_ + " " + kObject + " " + code + " -o " + work["o"]);
    commands.push_back(tools_[4] + " " + kLinked + " " + work["o"] + " -o " + work["so"]);
    work.run(commands);
    fs::rename(work.file("so"), object);
    return object;
  }

  // Makes the LLVM IR of a text, which all targets and levels share.
  void lower(const Work& work, const std::string& text, const std::string& passes, const fs::path& lowered, const fs::path& source) const {
    std::ofstream(work.file("mlir"), std::ios::binary) << text;
    work.run({
        tools_[0] + " " + word("--pass-pipeline=" + passes) + " --emit-bytecode " + work["mlir"] + " -o " + work["low"],
        tools_[1] + " --mlir-to-llvmir " + work["low"] + " -o " + work["ll"],
    });
    fs::rename(work.file("ll"), lowered);
    fs::rename(work.file("mlir"), source);
  }

  static Loaded load(const fs::path& object) {
    void* const module = dlopen(object.c_str(), RTLD_NOW | RTLD_LOCAL);
    void* const function = module ? dlsym(module, "_mlir_ciface_run") : nullptr;
    if (!function) throw std::runtime_error(dlerror());
    return {module, function};
  }

  void close() {
    for (const auto& [text, loaded] : loaded_) dlclose(loaded.module);
    loaded_.clear();
  }

  fs::path texts_, cache_;
  std::string version_, level_, target_, suffix_;
  std::string tools_[5];
  std::map<std::string, std::string> known_;
  std::map<std::string, Loaded> loaded_;
};

}  // namespace tosa
