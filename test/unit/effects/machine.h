//===- machine.h - all ranks of a plan, a fragment at a time ----*- C++ -*-===//
#ifndef MTC_TEST_UNIT_EFFECTS_MACHINE_H
#define MTC_TEST_UNIT_EFFECTS_MACHINE_H

#include "cases.h"
#include "runtime/comm/worlds.h"
#include "runtime/device/devices.h"
#include "runtime/program/rank.h"

#include "mlir/IR/BuiltinOps.h"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace mtc::test {

/// The ranks of a plan, compiled and linked as `mtc compile` does, on the cpu
/// and with communicators of threads.
class Machine {
public:
  /// `module`: a plan, of which nothing is kept. Objects go to `folder`, which
  /// exists. Errors are those of the compiler and the runtime.
  static runtime::Status create(mlir::ModuleOp module,
                                const std::string &folder,
                                std::unique_ptr<Machine> &out);

  const Mesh &mesh() const { return world->mesh(); }
  int64_t stageOf(int rank) const {
    return mesh().coordinate(rank, MTC_AXIS_PP);
  }
  /// The memory of a rank.
  const runtime::ArenaViews &arenas(int rank) const {
    return devices[rank]->arenas();
  }

  /// Runs a case on ranks of its stages: at the same time if it is a
  /// collective, else one after the other. Returns the first failure.
  runtime::Status run(const Case &which, std::span<const int> ranks);

private:
  runtime::Status compileStages(mlir::ModuleOp module,
                                const std::string &folder);
  runtime::Status start();
  runtime::Status startRank(int rank);
  runtime::Status runOn(int rank, const std::string &fragment);

  std::vector<runtime::Program> programs;       ///< by stage
  std::vector<runtime::Descriptor> descriptors; ///< by stage
  std::unique_ptr<runtime::World> world;
  // By rank. Communicators live in the world, which knows addresses of arenas.
  std::vector<std::unique_ptr<runtime::Device>> devices;
  std::vector<std::unique_ptr<runtime::RankState>> ranks;
};

} // namespace mtc::test
#endif // MTC_TEST_UNIT_EFFECTS_MACHINE_H
