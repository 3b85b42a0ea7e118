//===- Params.h - where parameters and accumulators lie ---------*- C++ -*-===//
#ifndef MTC_PASSES_PLAN_PARAMS_H
#define MTC_PASSES_PLAN_PARAMS_H

#include "dialects/rt/Rt.h"

#include "mlir/IR/BuiltinTypes.h"

#include <map>
#include <string>

namespace mtc::passes {

/// Where one use of a parameter lies: bucket and first element in it.
struct ParamSlot {
  int64_t bucket = 0, start = 0;
  mlir::Type gradType; ///< of its accumulator; f32 if there is no such bucket
};

/// The rt.param ops of a program, by name and use.
class ParamTable {
public:
  explicit ParamTable(rt::ProgramOp program) {
    std::map<int64_t, mlir::Type> types; // by bucket
    for (auto bucket : program.getOps<rt::BucketOp>())
      types[bucket.getIndex()] = bucket.gradType();
    mlir::Type f32 = mlir::Float32Type::get(program.getContext());
    for (auto p : program.getOps<rt::ParamOp>()) {
      auto type = types.find(p.getBucket());
      slots[{p.getName().str(), p.getUse()}] = {
          static_cast<int64_t>(p.getBucket()),
          static_cast<int64_t>(p.getStart()),
          type == types.end() ? f32 : type->second};
    }
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
