//===- report.h - tells what a program did wrong ----------------*- C++ -*-===//
#ifndef MTC_TEST_CUDA_DRIVER_REPORT_H
#define MTC_TEST_CUDA_DRIVER_REPORT_H

#include <string>

namespace mtc::standin {

/// Writes "cuda stand-in: SENTENCE" to the file that MTC_STANDIN_REPORT names,
/// at its end, or to standard error.
void report(const std::string &sentence);

/// A number in the environment, or `otherwise`.
double environment(const char *name, double otherwise);
/// Empty: it is not set.
std::string environmentText(const char *name);
/// Whether `word` is one of a list with commas in the environment.
bool environmentHas(const char *name, const char *word);

} // namespace mtc::standin
#endif // MTC_TEST_CUDA_DRIVER_REPORT_H
