//===- creations.cpp - which communicators a process made, and when -------===//
#include "test/cuda/nccl/creations.h"

#include "test/cuda/driver/report.h"

#include <mutex>
#include <string>

namespace mtc::standin::nccl {
namespace {

std::mutex mutex;
std::vector<std::string> creations; ///< the ranks of each, "none" without any
int ownRank = 0;                    ///< in the first one
bool called = false;

bool tells() { return environment("MTC_STANDIN_COMMUNICATORS", 0) != 0; }

/// Wants the lock.
void tellAll() {
  std::string text = "NCCL: rank ";
  text += std::to_string(ownRank) + " made communicators of ranks ";
  for (size_t i = 0; i < creations.size(); ++i)
    text.append(i ? "; " : "").append(creations[i]);
  report(text);
}

} // namespace

size_t noteCreation(int rank) {
  std::lock_guard lock(mutex);
  if (creations.empty())
    ownRank = rank;
  if (called && tells())
    report("NCCL: rank " + std::to_string(ownRank) +
           " makes a communicator behind its first call");
  creations.push_back("none");
  return creations.size() - 1;
}

void nameMembers(size_t creation, const std::vector<int> &members) {
  std::string text;
  for (int member : members)
    text.append(text.empty() ? "" : " ").append(std::to_string(member));
  std::lock_guard lock(mutex);
  creations[creation] = text;
}

void noteCall() {
  std::lock_guard lock(mutex);
  if (!called && tells())
    tellAll();
  called = true;
}

} // namespace mtc::standin::nccl
