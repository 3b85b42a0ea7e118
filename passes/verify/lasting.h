//===- lasting.h - what outlives a fragment, in both forms ------*- C++ -*-===//
#ifndef MTC_PASSES_VERIFY_LASTING_H
#define MTC_PASSES_VERIFY_LASTING_H

#include "passes/verify/placements.h"

namespace mtc::passes::verify {

/// Parameters, packed ones, gradients, the optimizer's states and the loss of a
/// stage: where they lie, and a number for what each holds before a fragment.
class Lasting {
public:
  Lasting(const Stage &stage, Numbers &numbers);

  const Contents &before() const { return contents; }
  /// A part of a bucket, by its name if it is a state; Nowhere if there is
  /// none.
  Space space(SpaceKind kind, int64_t bucket, llvm::StringRef state) const;
  /// `bytes` from element `start` of a space on; Nowhere, if it has less.
  Placement part(const Space &space, int64_t start, int64_t bytes) const;
  /// What lies at an address; Nowhere, if not all of it is of one part.
  Placement at(MtcArena arena, int64_t offset, int64_t bytes) const;
  /// The accumulator of a use of a parameter; Nowhere if there is none.
  Placement accumulator(llvm::StringRef name, int64_t use, int64_t bytes) const;
  /// The staging buffer of a bucket from element `start` on, and that of the
  /// gradient of a use of a parameter; Nowhere if there is none.
  Placement staging(int64_t bucket, int64_t start, int64_t bytes) const;
  Placement staging(llvm::StringRef name, int64_t use, int64_t bytes) const;
  /// The parameter, as it is computed with; Nowhere if there is none.
  Placement parameter(llvm::StringRef name, int64_t bytes) const;
  /// The placement after it was moved by `elements`, whose number is `moved`.
  Placement move(Placement placement, int64_t width, mlir::Value elements,
                 Number moved, Numbers &numbers) const;
  /// What lies at the begin of a placement before a fragment, for messages.
  std::string describe(const Placement &placement,
                       const Numbers &numbers) const;

private:
  struct Part {
    Space space;
    MtcArena arena = MTC_ARENA_PARAMS;
    int64_t offset = 0, bytes = 0; ///< that a rank has
    int64_t width = 4;             ///< bytes of an element
    int64_t whole = 0;             ///< bytes of all ranks' parts
    std::string name = {};         ///< for messages, before that of a parameter
  };
  void addPacked(const Stage &stage, Numbers &numbers);
  void addBucket(const Stage &stage, rt::BucketOp bucket, Numbers &numbers);
  void add(const Stage &stage, const Part &part, Numbers &numbers);
  const Part *find(const Space &space) const;

  using Start = std::pair<int64_t, int64_t>; ///< bucket and first element

  std::map<Space, Part> parts;
  std::map<std::pair<int64_t, std::string>, int64_t>
      states;                                           ///< by bucket and name
  std::map<std::string, Start, std::less<>> parameters; ///< by name
  std::map<std::pair<std::string, int64_t>, Start>
      accumulators; ///< by name and use
  Contents contents;
};

} // namespace mtc::passes::verify
#endif // MTC_PASSES_VERIFY_LASTING_H
