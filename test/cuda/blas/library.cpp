//===- library.cpp - the objects behind the handles of cublasLt -----------===//
#include "test/cuda/blas/library.h"

#include <cstdlib>

namespace mtc::standin::blas {
namespace {

void atTheEnd() {
  if (!environment("MTC_STANDIN_LEAKS", 0))
    return;
  Library &library = Library::get();
  std::string text;
  auto add = [&](size_t count, const char *what) {
    if (count)
      text += (text.empty() ? "" : ", ") + std::to_string(count) + what;
  };
  add(library.handles.size(), " handles of cublasLt");
  add(library.descs.size(), " matmul descriptors");
  add(library.layouts.size(), " matrix layouts");
  add(library.preferences.size(), " preferences");
  if (!text.empty())
    report("left at the end: " + text);
}

} // namespace

Difference difference() {
  static const Difference found = [] {
    auto variable = [](const char *name) {
      const char *text = std::getenv(name);
      return std::string(text ? text : "");
    };
    const std::string said = variable("MTC_STANDIN_BLAS_DIFFERS"),
                      own = variable("MTC_RANK") + ":";
    return said == own + "reversed" ? Difference::reversed
           : said == own + "fewer"  ? Difference::fewer
           : said == own + "older"  ? Difference::older
           : said == own + "bare"   ? Difference::bare
                                    : Difference::none;
  }();
  return found;
}

Library &Library::get() {
  // Never destroyed: threads may call until the process is gone.
  static Library *library = [] {
    std::atexit(atTheEnd);
    return new Library;
  }();
  return *library;
}

} // namespace mtc::standin::blas
