//===- near_duplicates.cpp - which documents are one ----------------------===//

#include "tools/data/near_duplicates.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

using mtc::runtime::Status;

namespace mtc::data {

Groups::Groups(int64_t documents) : above_(documents) {
  std::iota(above_.begin(), above_.end(), 0);
}

int64_t Groups::first(int64_t document) {
  while (above_[document] != document)
    document = above_[document] = above_[above_[document]];
  return document;
}

void Groups::join(int64_t a, int64_t b) {
  a = first(a);
  b = first(b);
  above_[std::max(a, b)] = std::min(a, b);
}

namespace {

class Joiner {
public:
  Joiner(double threshold, const Compare &compare, Groups &groups,
         NearDuplicates &out)
      : threshold_(threshold), compare_(compare), groups_(groups), out_(out) {}

  /// Documents with one band, in ascending order.
  Status joinAll(const std::vector<int64_t> &documents) {
    // Documents that are joined are one list, so that of many equal ones each
    // is compared once.
    std::vector<std::vector<int64_t>> lists;
    for (int64_t document : documents) {
      for (std::vector<int64_t> &list : lists)
        MTC_RETURN_IF_ERROR(joinOne(document, list));
      place(document, lists);
    }
    return Status::okay();
  }

private:
  /// Compares with those of a list until one is near enough.
  Status joinOne(int64_t document, const std::vector<int64_t> &list) {
    if (groups_.first(document) == groups_.first(list.front()))
      return Status::okay();
    for (int64_t other : list) {
      if (rejected_.contains({other, document}))
        continue;
      double index = 0;
      MTC_RETURN_IF_ERROR(compare_(other, document, index));
      ++out_.compared;
      if (index >= threshold_) {
        out_.pairs.push_back({other, document, index});
        groups_.join(other, document);
        return Status::okay();
      }
      rejected_.emplace(other, document);
    }
    return Status::okay();
  }

  /// Puts a document into the list of its group, and lists that it joined
  /// together.
  void place(int64_t document, std::vector<std::vector<int64_t>> &lists) {
    std::vector<int64_t> own;
    std::erase_if(lists, [&](std::vector<int64_t> &list) {
      if (groups_.first(list.front()) != groups_.first(document))
        return false;
      if (own.empty())
        own = std::move(list);
      else
        own.insert(own.end(), list.begin(), list.end());
      return true;
    });
    own.push_back(document);
    lists.push_back(std::move(own));
  }

  double threshold_;
  const Compare &compare_;
  Groups &groups_;
  NearDuplicates &out_;
  std::set<std::pair<int64_t, int64_t>> rejected_; ///< of any band
};

} // namespace

Status joinNearDuplicates(const std::vector<Bands> &documents, double threshold,
                          const Compare &compare,
                          const std::function<Status(int)> &goesOn,
                          Groups &groups, NearDuplicates &out) {
  Joiner joiner(threshold, compare, groups, out);
  std::vector<int64_t> order(documents.size()), same;
  for (int band = 0; band < kBands; ++band) {
    auto valueOf = [&](int64_t document) { return documents[document][band]; };
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      return valueOf(a) < valueOf(b);
    });
    for (size_t begin = 0; begin < order.size();) {
      size_t end = begin + 1;
      while (end < order.size() && valueOf(order[end]) == valueOf(order[begin]))
        ++end;
      if (end - begin > 1) {
        same.assign(order.begin() + begin, order.begin() + end);
        MTC_RETURN_IF_ERROR(goesOn(band));
        MTC_RETURN_IF_ERROR(joiner.joinAll(same));
      }
      begin = end;
    }
    MTC_RETURN_IF_ERROR(goesOn(band + 1));
  }
  return Status::okay();
}

} // namespace mtc::data
