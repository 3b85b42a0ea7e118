//===- jit.cpp - from an image to kernels, with the JIT's logs ------------===//
#include "test/cuda/driver/jit.h"

#include "test/cuda/driver/report.h"

#include <algorithm>
#include <cstring>
#include <regex>
#include <string_view>
#include <vector>

namespace mtc::standin {
namespace {

/// The newest that driver 580 reads.
constexpr int kNewestMajor = 9, kNewestMinor = 0;

/// As ptxas says it.
std::string words(const ptx::Problem &problem) {
  return "ptxas application ptx input, line " + std::to_string(problem.line) +
         "; error   : " + problem.sentence + "\n";
}

} // namespace

void **JitLog::find(CUjit_option option) {
  for (unsigned k = 0; k < count; ++k)
    if (options[k] == option)
      return &values[k];
  return nullptr;
}

void JitLog::put(CUjit_option buffer, CUjit_option bytes,
                 const std::string &text) {
  void **to = find(buffer), **size = find(bytes);
  if (!to || !size || !*to)
    return;
  size_t room = reinterpret_cast<size_t>(*size);
  size_t used = room ? std::min(room - 1, text.size()) : 0;
  if (room) {
    std::memcpy(*to, text.data(), used);
    static_cast<char *>(*to)[used] = 0;
  }
  *size = reinterpret_cast<void *>(used);
}

void JitLog::write() {
  put(CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, info);
  put(CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, error);
  if (void **time = find(CU_JIT_WALL_TIME)) {
    float none = 0;
    std::memcpy(time, &none, sizeof none);
  }
}

CUresult compile(const char *image, const ptx::Rules &rules,
                 std::unique_ptr<const ptx::Module> &module, JitLog &log) {
  // It executes PTX only, so every cubin is one of another architecture.
  if (!std::memcmp(image, "\177ELF", 4))
    return CUDA_ERROR_NO_BINARY_FOR_GPU;
  std::string_view text = image;
  static const std::regex head("\\.version\\s+([0-9]+)\\.([0-9]+)");
  std::cmatch found;
  // What has no such line is taken for no PTX at all.
  if (!std::regex_search(image, found, head))
    return CUDA_ERROR_INVALID_IMAGE;
  int major = std::stoi(found[1]), minor = std::stoi(found[2]);
  if (major > kNewestMajor || (major == kNewestMajor && minor > kNewestMinor)) {
    log.error = "ptxas application ptx input, line 1; fatal   : Unsupported "
                ".version " +
                found.str(1) + "." + found.str(2) +
                "; current version is '9.0'\n";
    return CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
  }
  std::vector<ptx::Problem> problems;
  module = ptx::Module::fromText(text, rules, problems);
  for (const ptx::Problem &each : problems)
    log.error += words(each);
  if (module)
    return CUDA_SUCCESS;
  log.error += "ptxas fatal   : Ptx assembly aborted due to errors";
  report("a module was refused: " + ptx::describe(problems));
  return CUDA_ERROR_INVALID_PTX;
}

} // namespace mtc::standin
