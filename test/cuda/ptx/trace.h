//===- trace.h - what warps read and wrote ----------------------*- C++ -*-===//
//
// Two runs that differ in one line are compared step by step: where the line
// made something else, which steps saw it, and at which it got lost.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_TEST_CUDA_PTX_TRACE_H
#define MTC_TEST_CUDA_PTX_TRACE_H

#include "test/cuda/ptx/exact.h"
#include "test/cuda/ptx/machine/observer.h"

#include <map>
#include <set>
#include <string>
#include <tuple>

namespace mtc::ptx {

/// One instruction of one warp. Registers are hashed over the lanes that take
/// part; of the line that is looked at `found` is what `wrote` was before.
struct Step {
  int line = 0;
  uint32_t lanes = 0;
  bool hasResult = true; ///< it writes registers
  uint64_t read = 0, found = 0, wrote = 0;
  uint64_t exact = 0; ///< of a sum or product of f32: before it is rounded
};

/// All steps of the launches of a run, which may be several.
class Trace : public Observer {
public:
  /// `line` from 1, the one that is looked at.
  explicit Trace(int line) : line(line) {}

  void begin() override;
  void before(Warp &warp, uint32_t pc, uint32_t active) override;
  void after(Warp &warp, uint32_t pc, uint32_t active) override;

  /// Launch, block and warp.
  using Place = std::tuple<uint32_t, uint32_t, int>;
  const std::map<Place, std::vector<Step>> &steps() const { return warps; }
  int lookedAt() const { return line; }

  /// Both as a file, for who compares runs of other processes; false: failed.
  bool save(const std::string &path) const;
  bool load(const std::string &path);

private:
  int line;
  uint32_t launches = 0;
  std::map<Place, std::vector<Step>> warps;
  /// Of the block that ran last, by warp.
  const Block *block = nullptr;
  uint32_t number = 0;
  std::vector<std::vector<Step> *> recent;
  std::map<const Code *, std::vector<Arithmetic>>
      arithmetic; ///< by instruction

  std::vector<Step> &of(Warp &warp);
  Arithmetic arithmeticOf(const Block &block, uint32_t pc);
};

/// How a run with another text in one line differs from the run without. Of
/// registers their values are compared, and not which ones they are.
struct Difference {
  bool executed = false; ///< some thread came to the line, in either run
  bool otherWay = false; ///< some warp took another way; then the rest is open
  bool otherOperands = false; ///< the line read something else
  bool otherResult = false;   ///< it wrote something else, or has no registers
                              ///< that it writes: what it does is not followed
  std::set<int> carried; ///< other lines that read and wrote something else
  std::set<int> lost;    ///< lines that read something else, wrote the same
  std::set<int> rounded; ///< of these, sums and products of f32 that came out
                         ///< the same because they are rounded
  std::set<int> through; ///< that read the same registers, wrote otherwise
  /// Whether any line but the one that differs saw other values.
  bool isSeen() const {
    return !carried.empty() || !lost.empty() || !through.empty();
  }
};

/// Both of the same line.
Difference compare(const Trace &first, const Trace &second);

} // namespace mtc::ptx
#endif // MTC_TEST_CUDA_PTX_TRACE_H
