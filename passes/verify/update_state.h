//===- update_state.h - the memory of one stage during the update ---------===//
#ifndef MTC_PASSES_VERIFY_UPDATE_STATE_H
#define MTC_PASSES_VERIFY_UPDATE_STATE_H

#include "passes/verify/update_cells.h"
#include "passes/verify/update_slices.h"

namespace mtc::passes::verify {

/// Parameters that several stages have, by name.
std::set<std::string> sharedParameters(const Model &model);

/// Elements of one parameter, or of none (padding): as a collective between
/// stages must find the same ones on both.
struct Named {
  std::string parameter; ///< empty: padding
  int64_t begin = 0;     ///< in the parameter; 0 of padding
  int64_t count = 0;
  bool operator==(const Named &) const = default;
};

/// What every element of the buckets of a stage means now. When a step's
/// microbatches are done, accumulators hold this rank's sums, and parameters
/// and states are as they were before.
class UpdateState {
public:
  UpdateState(const Model &model, const Stage &stage,
              const std::set<std::string> &shared);

  /// The buffer that a slice is in; the slice exists.
  Cells &cells(const Slice &slice);
  /// The use of a parameter that lies at `element` of a bucket, or null.
  const Param *paramAt(int64_t bucket, int64_t element) const;
  /// Elements [begin, end) of a bucket, of one parameter or of none.
  Named nameOf(int64_t bucket, int64_t begin, int64_t end) const;
  bool isShared(const Param &param) const {
    return shared.count(param.name().str());
  }

  /// What `cell` lacks to be the whole gradient of `param` (null: padding);
  /// empty if nothing. Without `across` the other stage's part may be missing.
  std::string describeIncomplete(const Cell &cell, const Param *param,
                                 bool across = true) const;
  /// The first group over which the sum is still partial; or empty.
  llvm::StringRef partialOver(const Cell &cell) const;

  /// What the collectives between stages add up, in their order.
  std::vector<std::pair<mlir::Operation *, std::vector<Named>>> betweenStages;

private:
  using Key = std::tuple<Part, int64_t, std::string>;
  using Groups = std::bitset<MTC_GROUP_COUNT>;
  /// The groups along which the data differ: over these the loss is partial.
  Groups dataGroups() const;
  /// Those of them over which gradients of a parameter are, too, as it says;
  /// not dp under ZeRO-2, where backwards sum over it (checkAccumulators).
  Groups dataGroups(const Param &param) const;
  /// Over which groups what lies in its accumulator is partial at first: these,
  /// and the others that the use of the parameter says.
  Groups accumulatedGroups(const Param &param) const;
  /// The same of padding, of which any other sum is allowed.
  Groups paddingGroups(int64_t bucket) const;
  /// Gives the accumulators of a bucket the groups over which they are partial.
  void setPartial(int64_t bucket);
  void add(Part part, int64_t bucket, llvm::StringRef state, int64_t size,
           Copies value);

  const Model &model;
  const Stage &stage;
  const std::set<std::string> &shared;
  std::map<Key, Cells> buffers;
  /// The uses in each bucket, by their start.
  std::map<int64_t, std::map<int64_t, const Param *>> params;
  std::map<std::string, std::set<int64_t>> usesOf; ///< buckets, by parameter
};

/// "partial sums over dp", "zero", ...: for messages.
std::string describe(const UpdateState &state, const Cell &cell);

} // namespace mtc::passes::verify
#endif // MTC_PASSES_VERIFY_UPDATE_STATE_H
