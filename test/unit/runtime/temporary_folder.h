//===- temporary_folder.h - a folder for one test ---------------*- C++ -*-===//
#ifndef MTC_TEST_UNIT_RUNTIME_TEMPORARY_FOLDER_H
#define MTC_TEST_UNIT_RUNTIME_TEMPORARY_FOLDER_H

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace mtc::runtime::test {

/// Made by the constructor, removed with its contents by the destructor.
class TemporaryFolder {
public:
  TemporaryFolder() {
    std::string name =
        (std::filesystem::temp_directory_path() / "mtc-test-XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }

  std::string path(const std::string &name) const { return path_ + "/" + name; }
  const std::string &path() const { return path_; }
  size_t files() const {
    return static_cast<size_t>(
        std::distance(std::filesystem::directory_iterator(path_), {}));
  }

private:
  std::string path_;
};

inline void writeFile(const std::string &path, const std::string &bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

inline std::string readFile(const std::string &path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

template <typename T>
void writeValues(const std::string &path, const std::vector<T> &values) {
  writeFile(path, std::string(reinterpret_cast<const char *>(values.data()),
                              values.size() * sizeof(T)));
}

} // namespace mtc::runtime::test
#endif // MTC_TEST_UNIT_RUNTIME_TEMPORARY_FOLDER_H
