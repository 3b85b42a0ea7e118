//===- completeness_test.cpp - every op brings all it must ----------------===//
#include "test/unit/evaluator/harness.h"
#include "test/unit/evaluator/instances.h"

#include "dialects/tfm/Tfm.h"
#include "passes/families/family.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

using namespace mlir;
using namespace mtc;
using namespace mtc::test;

namespace {

/// "tfm.add", ... as registered.
std::vector<std::string> registeredOps() {
  std::vector<std::string> names;
  for (RegisteredOperationName op :
       context().getRegisteredOperationsByDialect("tfm"))
    names.push_back(op.getStringRef().str());
  return names;
}

TEST(Completeness, TheDialectHasOps) { EXPECT_GE(registeredOps().size(), 30u); }

/// The op of each name, of the first instance that has it, and null for others.
Operation *opNamed(const std::string &name, OwningOpRef<ModuleOp> &module) {
  for (const Instance &instance : instances()) {
    module = parse(withSizes(instance, Sizes::odd));
    if (module && onlyOp(functionOf(*module))->getName().getStringRef() == name)
      return onlyOp(functionOf(*module));
  }
  return nullptr;
}

TEST(Completeness, EveryOpHasRuleGradientAndBodyOrAReason) {
  for (const std::string &name : registeredOps()) {
    OwningOpRef<ModuleOp> module;
    Operation *op = opNamed(name, module);
    ASSERT_TRUE(op) << name << " has no instance";
    auto family = dyn_cast<families::FamilyOpInterface>(op);
    ASSERT_TRUE(family) << name << " has no family";
    EXPECT_EQ(family.getShardingRule().operands.size(), op->getNumOperands())
        << name;
    EXPECT_NE(isa<families::GradientOpInterface>(op),
              !family.getNoGradient().empty())
        << name << " has no gradient and no reason, or both";
    EXPECT_NE(isa<families::KernelBodyOpInterface>(op),
              !family.getNoBody().empty())
        << name << " has no body and no reason, or both";
  }
}

TEST(Completeness, ForwardOpsThatDrawRandomWordsSayWhatTheyAreInEval) {
  for (const std::string &name : registeredOps()) {
    OwningOpRef<ModuleOp> module;
    Operation *op = opNamed(name, module);
    ASSERT_TRUE(op) << name << " has no instance";
    bool draws = op->hasAttr("rate") && isa<families::GradientOpInterface>(op);
    EXPECT_EQ(isa<families::EvalOpInterface>(op), draws) << name;
  }
}

TEST(Completeness, EveryOpIsAnInstanceOfTheTests) {
  std::set<std::string> tested;
  for (const Instance &instance : instances()) {
    OwningOpRef<ModuleOp> module = parse(withSizes(instance, Sizes::odd));
    ASSERT_TRUE(module) << instance.text;
    tested.insert(onlyOp(functionOf(*module))->getName().getStringRef().str());
  }
  for (const std::string &name : registeredOps())
    EXPECT_TRUE(tested.count(name)) << name << " has no instance";
}

/// Of an enum of kinds, for the ops that have it: all names are in an instance.
template <typename Kind>
void expectEveryKind(std::initializer_list<std::string> ops, unsigned last,
                     llvm::StringRef (*nameOf)(Kind)) {
  for (const std::string &op : ops)
    for (unsigned kind = 0; kind <= last; ++kind) {
      std::string text =
          "tfm." + op + " " + nameOf(static_cast<Kind>(kind)).str() + " ";
      EXPECT_TRUE(llvm::any_of(instances(),
                               [&](const Instance &instance) {
                                 return instance.text.find(text) !=
                                        std::string::npos;
                               }))
          << "no instance has " << text;
    }
}

TEST(Completeness, EveryKindIsAnInstanceOfTheTests) {
  expectEveryKind({"norm", "norm_dx", "norm_dscale"},
                  tfm::getMaxEnumValForNormKind(), tfm::stringifyNormKind);
  expectEveryKind({"activation", "activation_grad"},
                  tfm::getMaxEnumValForActivationKind(),
                  tfm::stringifyActivationKind);
  expectEveryKind({"reduce"}, tfm::getMaxEnumValForReduceKind(),
                  tfm::stringifyReduceKind);
}

/// The definition of an op: from its `def` line to the next one.
std::string definitionOf(const std::string &source, const std::string &name) {
  size_t at = source.find("<\"" + name.substr(4) + "\"");
  while (at != std::string::npos) {
    size_t line = source.rfind('\n', at) + 1;
    size_t end = source.find("\ndef ", at);
    // A class may name a mnemonic parameter; only `def ... Op` lines count.
    if (source.compare(line, 4, "def ") == 0 &&
        source.substr(line, at - line).find("Op :") != std::string::npos)
      return source.substr(line, end - line);
    at = source.find("<\"" + name.substr(4) + "\"", at + 1);
  }
  // `Op<Tfm_Dialect, "fill", ...>`
  at = source.find("Tfm_Dialect, \"" + name.substr(4) + "\"");
  if (at == std::string::npos)
    return "";
  size_t line = source.rfind('\n', at) + 1;
  return source.substr(line, source.find("\ndef ", at) - line);
}

/// Text between `open` after `key`, and `close`.
std::string field(const std::string &text, const std::string &key,
                  const std::string &open, const std::string &close) {
  size_t at = text.find(key + open);
  if (at == std::string::npos)
    return "";
  at += key.size() + open.size();
  return text.substr(at, text.find(close, at) - at);
}

TEST(Completeness, EveryOpIsDocumentedWithAnExample) {
  std::stringstream text;
  for (const char *name : {"/TfmOps.td", "/TfmOptimizers.td"}) {
    std::ifstream file(std::string(MTC_TFM_DIR) + name);
    ASSERT_TRUE(file) << name;
    text << file.rdbuf();
  }
  for (const std::string &name : registeredOps()) {
    std::string def = definitionOf(text.str(), name);
    ASSERT_FALSE(def.empty()) << name << " is not defined there";
    EXPECT_GE(field(def, "let summary = ", "\"", "\";").size(), 4u) << name;
    std::string description = field(def, "let description = ", "[{", "}];");
    size_t example = description.find("Example:");
    ASSERT_NE(example, std::string::npos) << name << " has no example";
    EXPECT_NE(description.find(name + " ", example), std::string::npos)
        << name << " is not in its own example";
  }
}

} // namespace
