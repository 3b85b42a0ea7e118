//===- install.cpp - where mtc finds its own files ------------------------===//

#include "compiler/install.h"

#include <algorithm>
#include <filesystem>

namespace fs = std::filesystem;

namespace mtc::compiler {

static fs::path shippedFolder(const char *kind) {
  return fs::path(installFolder()) / "share/mtc" / kind;
}

std::string installFolder() {
  std::error_code error;
  fs::path self = fs::read_symlink("/proc/self/exe", error);
  return error ? "." : self.parent_path().parent_path().string();
}

static std::string findShipped(const char *kind, const std::string &nameOrPath,
                               const char *extension = ".toml") {
  std::error_code error;
  if (fs::is_regular_file(nameOrPath, error))
    return nameOrPath;
  // A name, not a way out of the folder.
  if (nameOrPath.empty() || nameOrPath.find('/') != std::string::npos)
    return "";
  fs::path path = shippedFolder(kind) / (nameOrPath + extension);
  return fs::is_regular_file(path, error) ? path.string() : "";
}

std::string findSpec(const std::string &nameOrPath) {
  return findShipped("specs", nameOrPath);
}

std::string findStrategy(const std::string &nameOrPath) {
  return findShipped("strategies", nameOrPath);
}

std::string findRecipe(const std::string &nameOrPath) {
  return findShipped("recipes", nameOrPath);
}

std::string findGemmTable(const std::string &nameOrPath) {
  return findShipped("gemm_tables", nameOrPath, ".json");
}

static std::vector<std::string> shippedNames(const char *kind,
                                             const char *extension = ".toml") {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto &entry : fs::directory_iterator(shippedFolder(kind), error))
    if (entry.path().extension() == extension)
      names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> specNames() { return shippedNames("specs"); }

std::vector<std::string> strategyNames() { return shippedNames("strategies"); }

std::vector<std::string> recipeNames() { return shippedNames("recipes"); }

std::vector<std::string> gemmTableNames() {
  return shippedNames("gemm_tables", ".json");
}

} // namespace mtc::compiler
