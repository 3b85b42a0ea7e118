//===- gemm_tuner.h - which kernels are fastest on a CPU --------*- C++ -*-===//
#ifndef MTC_RUNTIME_DEVICE_CPU_GEMM_TUNER_H
#define MTC_RUNTIME_DEVICE_CPU_GEMM_TUNER_H

#include "mtc/runtime/cpu_gemm_table.h"

#include <functional>
#include <map>
#include <span>
#include <string_view>
#include <vector>

namespace mtc::runtime {

/// Products, and the kernel of our own that each has: own or ownStreamed.
using TuneRows = std::map<CpuProduct, GemmKernel>;

/// Adds the products of a rank's descriptor, each once.
void addTuneRows(std::span<const GemmInfo> gemms, int64_t threads,
                 TuneRows &out);

/// Whether op(b) may be a weight, which can be packed once a step: of a forward
/// or of a gradient of what went in, not of a gradient of a weight.
bool mayMultiplyWeight(const CpuProduct &product);

/// How often kernels of a product are called in a round, one number for all:
/// as often as the slowest can be within some milliseconds, but once at least.
/// What it took at best counts, because a call that was disturbed says nothing
/// of the next.
class RoundLength {
public:
  RoundLength() = default;
  explicit RoundLength(double microseconds) : most(microseconds) {}
  /// A call of a kernel, by its number from 0, took so long.
  void add(size_t kernel, double microseconds);
  int calls() const;

private:
  double most = 10'000;      ///< microseconds
  std::vector<double> least; ///< by kernel
};

/// By times in microseconds, one for each round, of which there is one at
/// least; none of oneDNN's matmul and inner_product where it lacks the product.
/// Of these the one of the least median, if the median of its times in parts of
/// ours is below 0.98, and its median in parts of our median, too, which tables
/// have (tenths of a microsecond); else our own.
TunedProduct fastestKernel(const std::vector<double> &own,
                           const std::vector<double> &library,
                           const std::vector<double> &inner = {});

/// Hear of a round, from 1, that begins, and of each product that is chosen.
struct TuneListener {
  std::function<void(int)> round;
  std::function<void(const CpuProduct &, const TunedProduct &)> product;
};

/// Times each product as a rank of `isa` runs it, by each kernel that has it,
/// one behind the other, some milliseconds or one call; of one whose op(b) may
/// be a weight also with a packed op(b), as often, and the packing of it, a
/// quarter as long. All of it `rounds` times (at least 1), each through all
/// products, so that what disturbs the machine for some seconds is in few of
/// them. Fills in what the table is for. Errors: infeasible, where this
/// processor lacks the instruction set or there is no memory; usage, where this
/// process has computed products of another one; failed, with oneDNN's code.
Status tuneCpuGemms(const TuneRows &rows, std::string_view isa, int rounds,
                    const TuneListener &told, CpuGemmTable &out);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_DEVICE_CPU_GEMM_TUNER_H
