//===- corpus_files.h - an input of a fuzzer as files -----------*- C++ -*-===//
#ifndef MTC_TEST_FUZZ_CORPUS_FILES_H
#define MTC_TEST_FUZZ_CORPUS_FILES_H

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace mtc::fuzz {

/// A folder of this process, in which inputs become files.
inline const std::string &folder() {
  static const std::string path = [] {
    std::string name =
        (std::filesystem::temp_directory_path() / "mtc-fuzz-XXXXXX").string();
    return std::string(mkdtemp(name.data()));
  }();
  return path;
}

inline std::string write(const char *name, std::string_view bytes) {
  std::string path = folder() + "/" + name;
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

} // namespace mtc::fuzz
#endif // MTC_TEST_FUZZ_CORPUS_FILES_H
