//===- limits.cpp - what this processor can do at most --------------------===//
//
// Prints the limits of 1 and of N threads (argument, default 2) as JSON.
// Everything that a step of another program is compared with comes from here;
// `mtc profile` measures the same.
//
//===----------------------------------------------------------------------===//
#include "runtime/profile/limits.h"

#include <cstdio>
#include <cstdlib>

static void print(int threads, bool last) {
  mtc::runtime::MachineLimits limits = mtc::runtime::measureLimits(threads);
  std::printf("\"%d\": {\"f32\": %.4g, \"bf16\": %.4g, \"copy\": %.4g}%s",
              threads, limits.f32, limits.bf16, limits.copy, last ? "" : ", ");
}

int main(int argc, char **argv) {
  int threads = argc > 1 ? std::atoi(argv[1]) : 2;
  std::printf("{");
  print(1, threads == 1);
  if (threads > 1)
    print(threads, true);
  std::printf("}\n");
  return 0;
}
