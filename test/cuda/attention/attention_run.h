//===- attention_run.h - a case on some machine -----------------*- C++ -*-===//
#ifndef MTC_TEST_CUDA_ATTENTION_RUN_H
#define MTC_TEST_CUDA_ATTENTION_RUN_H

#include "attention_case.h"
#include "runtime/cuda/attention/attention_params.h"

#include <cstddef>

namespace mtc::test {

/// What runs kernels: a GPU, or the executor of PTX. Functions say what went
/// wrong, or nothing.
class Machine {
public:
  virtual ~Machine() = default;
  virtual uint64_t allocate(size_t bytes, const char *name) = 0;
  virtual std::string upload(uint64_t to, const void *from, size_t bytes) = 0;
  virtual std::string download(void *to, uint64_t from, size_t bytes) = 0;
  /// Frees all.
  virtual void clear() = 0;
  struct Grid {
    int x, y, z, threads, shared;
  };
  virtual std::string launch(const std::string &entry, const Grid &grid,
                             const cuda::AttentionParams &params) = 0;
};

/// Elements as they lie in memory.
std::vector<std::byte> packed(Element element,
                              const std::vector<uint32_t> &bits);

/// Which kernels a case takes: "bf16_d64".
std::string instance(const AttentionCase &c);
/// "mtc_attention_keys_bf16_d64".
std::string entryName(cuda::AttentionKernel kernel, const AttentionCase &c);

std::string launchKernel(Machine &machine, cuda::AttentionKernel kernel,
                         const AttentionCase &c,
                         const cuda::AttentionParams &params);

/// A case in a machine's memory.
class CaseOnMachine {
public:
  CaseOnMachine(Machine &machine, const AttentionCase &c,
                const AttentionData &data);
  std::string forward();
  std::string backward();

  struct Found {
    std::vector<uint32_t> out, dq, dk, dv; ///< bits of elements
    std::vector<float> lse;
    bool operator==(const Found &) const = default;
  };
  std::string read(Found &found);

  cuda::AttentionParams params{};

private:
  static constexpr int kAlone = -1;
  /// Elements from a token to the next.
  int64_t stride(int heads, int part) const {
    return int64_t(c.fused && part != kAlone ? 3 * heads : heads) * c.dim;
  }
  /// `part`: 0 to 2 of a fused buffer, if the case has such; kAlone: of none.
  uint64_t place(const char *name, const std::vector<uint32_t> &values,
                 int tokens, int heads, int part);
  std::vector<uint32_t> readValues(const void *at, int tokens, int heads,
                                   int64_t token, int64_t head);
  Machine &machine;
  const AttentionCase &c;
  std::string wrong;
};

/// The worst error of each result over its bound.
struct Ratios {
  double out, lse, dq, dk, dv;
};

/// Compares; what is beyond its bound is said.
std::string compare(const AttentionCase &c, const AttentionResults &expected,
                    const CaseOnMachine::Found &found, bool withGradients,
                    Ratios &ratios);

} // namespace mtc::test
#endif // MTC_TEST_CUDA_ATTENTION_RUN_H
