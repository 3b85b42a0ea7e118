//===- install.h - where mtc finds its own files ----------------*- C++ -*-===//
#ifndef MTC_COMPILER_INSTALL_H
#define MTC_COMPILER_INSTALL_H

#include <string>
#include <vector>

namespace mtc::compiler {

/// The folder above the one with the running executable: files lie in its lib/
/// and share/mtc/, in a build tree as where mtc is installed.
std::string installFolder();

/// The path of a spec given as a path or as a name ("gpt2-nano"); empty if
/// there is neither.
std::string findSpec(const std::string &nameOrPath);

/// Likewise, of a strategy ("tp2-pp2-dp2").
std::string findStrategy(const std::string &nameOrPath);

/// Likewise, of a recipe ("megatron-gpt2").
std::string findRecipe(const std::string &nameOrPath);

/// Likewise, of a table of `mtc tune` for CPUs ("zen5-bf16").
std::string findGemmTable(const std::string &nameOrPath);
/// The path of the table that comes with mtc under this name, or empty.
std::string shippedGemmTable(const std::string &name);

/// The names of the specs, strategies, recipes and tables that come with mtc,
/// sorted.
std::vector<std::string> specNames();
std::vector<std::string> strategyNames();
std::vector<std::string> recipeNames();
std::vector<std::string> gemmTableNames();

} // namespace mtc::compiler
#endif // MTC_COMPILER_INSTALL_H
