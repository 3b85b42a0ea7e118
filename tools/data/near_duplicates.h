//===- near_duplicates.h - which documents are one --------------*- C++ -*-===//
#ifndef MTC_TOOLS_DATA_NEAR_DUPLICATES_H
#define MTC_TOOLS_DATA_NEAR_DUPLICATES_H

#include "runtime/base/status.h"
#include "tools/data/minhash.h"

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

namespace mtc::data {

/// Sets of documents, each of which is called by its first.
class Groups {
public:
  explicit Groups(int64_t documents);
  int64_t first(int64_t document);
  void join(int64_t a, int64_t b);

private:
  std::vector<int64_t> above_; ///< of the first, itself
};

/// A document and the one that it is a near-duplicate of.
struct NearPair {
  int64_t first, second;
  double index;
};

struct NearDuplicates {
  std::vector<NearPair> pairs; ///< that joined two groups
  int64_t compared = 0;        ///< pairs whose index was computed
};

using Bands = std::array<uint64_t, kBands>;
/// The Jaccard index of two documents.
using Compare = std::function<runtime::Status(int64_t, int64_t, double &index)>;

/// Joins documents that have a band in common and an index of at least
/// `threshold`. Of documents with one band all pairs are compared that are not
/// joined yet. `goesOn` is asked now and then with how many bands are done.
runtime::Status
joinNearDuplicates(const std::vector<Bands> &documents, double threshold,
                   const Compare &compare,
                   const std::function<runtime::Status(int band)> &goesOn,
                   Groups &groups, NearDuplicates &out);

} // namespace mtc::data
#endif // MTC_TOOLS_DATA_NEAR_DUPLICATES_H
