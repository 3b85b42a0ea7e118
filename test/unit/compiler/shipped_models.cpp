//===- shipped_models.cpp - plans of every model that mtc comes with ------===//

#include "shipped_models.h"

#include "compiler/compile.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <unistd.h>

namespace mtc::compiler::test {

std::vector<std::string> shippedModels() {
  std::set<std::string> names;
  for (const auto &file : std::filesystem::directory_iterator(MTC_SPECS))
    names.insert(file.path().stem());
  return {names.begin(), names.end()};
}

runtime::Status planOf(const std::string &model, const Strategy &strategy,
                       mlir::MLIRContext &context, DiagnosticLog &log,
                       mlir::OwningOpRef<mlir::ModuleOp> &out) {
  const bool isSmall = model.find("nano") != std::string::npos ||
                       model.find("tiny") != std::string::npos;
  CompileOptions options;
  options.input = model;
  options.strategy = strategy;
  options.strategy.emplace_back("target", "cuda:sm_90");
  options.strategy.emplace_back("global-batch-size", "4");
  if (!isSmall)
    options.settings = {"model.layers=2"};
  options.to = Phase::planMemory;
  options.verify = false;
  // Tests run beside each other.
  options.output = testing::TempDir() + "shipped_model_plan_" +
                   std::to_string(getpid()) + ".mlir";
  CompileResult result;
  MTC_RETURN_IF_ERROR(compile(options, result));
  std::optional<Phase> phase;
  runtime::Status status =
      parseModule(options.output, context, log, out, phase);
  std::filesystem::remove(options.output);
  return status;
}

} // namespace mtc::compiler::test
