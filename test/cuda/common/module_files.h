//===- module_files.h - modules of PTX, each read once ----------*- C++ -*-===//
#ifndef MTC_TEST_CUDA_COMMON_MODULE_FILES_H
#define MTC_TEST_CUDA_COMMON_MODULE_FILES_H

#include "test/cuda/ptx/module.h"

#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <string>

namespace mtc::test {

class ModuleFiles {
public:
  ModuleFiles(std::string folder, ptx::Rules rules)
      : folder(std::move(folder)), rules(rules) {}

  /// The module in a file of the folder; null if there is no such file, or,
  /// after a message, if its text is refused.
  const ptx::Module *find(const std::string &file) {
    auto [entry, isNew] = modules.try_emplace(file);
    if (isNew)
      entry->second = load(folder + "/" + file);
    return entry->second.get();
  }

private:
  std::unique_ptr<const ptx::Module> load(const std::string &path) const {
    std::ifstream file(path);
    if (!file)
      return nullptr;
    std::stringstream text;
    text << file.rdbuf();
    std::vector<ptx::Problem> problems;
    auto module = ptx::Module::fromText(text.str(), rules, problems);
    if (!module)
      std::cout << path << ": " << ptx::describe(problems) << "\n";
    return module;
  }

  std::string folder;
  ptx::Rules rules;
  std::map<std::string, std::unique_ptr<const ptx::Module>> modules;
};

} // namespace mtc::test
#endif // MTC_TEST_CUDA_COMMON_MODULE_FILES_H
