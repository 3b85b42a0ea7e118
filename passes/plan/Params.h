//===- Params.h - where parameters and accumulators lie ---------*- C++ -*-===//
#ifndef MTC_PASSES_PLAN_PARAMS_H
#define MTC_PASSES_PLAN_PARAMS_H

#include "dialects/rt/Rt.h"

#include <map>
#include <string>

namespace mtc::passes {

/// Where one use of a parameter lies: bucket and first element in it.
struct ParamSlot {
  int64_t bucket = 0, start = 0;
};

/// The rt.param ops of a program, by name and use.
class ParamTable {
public:
  explicit ParamTable(rt::ProgramOp program) {
    for (auto p : program.getOps<rt::ParamOp>())
      slots[{p.getName().str(), p.getUse()}] = {p.getBucket(), p.getStart()};
  }
  const ParamSlot *find(llvm::StringRef name, int64_t use) const {
    auto it = slots.find({name.str(), use});
    return it == slots.end() ? nullptr : &it->second;
  }
  /// The slot that holds the parameter itself: its first use on this stage.
  const ParamSlot *parameter(llvm::StringRef name) const {
    auto it = slots.lower_bound({name.str(), 0});
    return it == slots.end() || it->first.first != name.str() ? nullptr
                                                              : &it->second;
  }

private:
  std::map<std::pair<std::string, int64_t>, ParamSlot> slots;
};

} // namespace mtc::passes
#endif // MTC_PASSES_PLAN_PARAMS_H
