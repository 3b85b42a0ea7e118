//===- calls.cpp - what a program puts into streams, in a file ------------===//
#include "test/cuda/driver/calls.h"

#include "test/cuda/driver/report.h"

#include <cstdio>
#include <fcntl.h>
#include <unistd.h>

namespace mtc::standin {
namespace {

/// Below 0: none is asked for, or it cannot be written.
int callsFile() {
  static const int file = [] {
    std::string path = environmentText("MTC_STANDIN_CALLS");
    if (path.empty())
      return -1;
    int made =
        open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (made < 0)
      report("MTC_STANDIN_CALLS: cannot write " + path);
    return made;
  }();
  return file;
}

} // namespace

bool notesCalls() { return callsFile() >= 0; }

void noteCall(const std::string &stream, const std::string &what) {
  static const std::string rank = environmentText("MTC_RANK");
  std::string line =
      (rank.empty() ? "" : "rank " + rank + ": ") + stream + ": " + what + "\n";
  // One write: ranks may share the file.
  [[maybe_unused]] ssize_t put = write(callsFile(), line.data(), line.size());
}

std::string hex(uint64_t number) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", (unsigned long long)number);
  return text;
}

} // namespace mtc::standin
