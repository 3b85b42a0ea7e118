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

/// A name, not a way out of the folder; empty if there is none.
static std::string shippedFile(const char *kind, const std::string &name,
                               const char *extension) {
  if (name.empty() || name.find('/') != std::string::npos)
    return "";
  fs::path path = shippedFolder(kind) / (name + extension);
  std::error_code error;
  return fs::is_regular_file(path, error) ? path.string() : "";
}

static std::string findShipped(const char *kind, const std::string &nameOrPath,
                               const char *extension = ".toml") {
  std::error_code error;
  return fs::is_regular_file(nameOrPath, error)
             ? nameOrPath
             : shippedFile(kind, nameOrPath, extension);
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

std::string shippedGemmTable(const std::string &name) {
  return shippedFile("gemm_tables", name, ".json");
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
