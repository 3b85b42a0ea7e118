//===- effects_test.cpp - ops do to memory what they declare --------------===//
//
// Planner, verifier and upstream passes believe what rt ops declare
// (dialects/rt/RtEffects.cpp). Here nobody is believed: every kind of op of
// real plans is compiled, linked and run, alone, in poisoned memory.
//
//===----------------------------------------------------------------------===//
#include "compiler/run_phase.h"
#include "experiment.h"
#include "kinds.h"
#include "plans.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <unistd.h>

namespace fs = std::filesystem;

namespace mtc::test {
namespace {

/// A plan whose ops stand alone, and the ranks that run them.
struct Bench {
  std::string name;
  std::unique_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::vector<Case> cases;
  std::unique_ptr<Machine> machine;
};

runtime::Status makeBench(const PlanRequest &request, const fs::path &folder,
                          Bench &bench) {
  fs::create_directories(folder);
  bench.name = request.name;
  bench.context = compiler::makeContext();
  MTC_RETURN_IF_ERROR(makePlan(request, folder, *bench.context, bench.module));
  bench.cases = isolateOps(*bench.module);
  return Machine::create(*bench.module, folder, bench.machine);
}

class Effects : public testing::Test {
protected:
  static void SetUpTestSuite() {
    fs::path folder =
        fs::temp_directory_path() / ("mtc-effects-" + std::to_string(getpid()));
    for (const PlanRequest &request : planRequests()) {
      fs::path own = folder / std::to_string(benches.size());
      auto status = makeBench(request, own, benches.emplace_back());
      EXPECT_TRUE(status.ok()) << request.name << ": " << status.message();
    }
    fs::remove_all(folder); // what is open stays
  }
  static void TearDownTestSuite() {
    for (const Bench &bench : benches)
      std::printf("%s: %zu distinct ops\n", bench.name.c_str(),
                  bench.cases.size());
    benches.clear();
  }

  template <typename Visit> static void forEachCase(Visit visit) {
    for (Bench &bench : benches)
      for (const Case &which : bench.cases) {
        SCOPED_TRACE(bench.name + ": " + which.name + "\n" + which.text());
        ASSERT_TRUE(bench.machine);
        visit(*bench.machine, which);
      }
  }

  static std::vector<Bench> benches;
};
std::vector<Bench> Effects::benches;

TEST_F(Effects, EveryOpDoesWhatItDeclares) {
  forEachCase([](Machine &machine, const Case &which) {
    for (const std::string &finding : findings(machine, which))
      ADD_FAILURE() << finding;
  });
}

/// The experiment bites, and no declaration says more than the op does.
TEST_F(Effects, WhatADeclarationForgetsIsFound) {
  forEachCase([](Machine &machine, const Case &which) {
    for (Forgotten access : whatMayBeForgotten(machine, which))
      EXPECT_FALSE(findings(machine, which, access).empty())
          << "nothing shows that it " << (access.read ? "reads" : "writes")
          << " what it declares as access " << access.declared;
  });
}

TEST_F(Effects, AccessesEffectsAndDestinationsAgree) {
  forEachCase([](Machine &, const Case &which) {
    EXPECT_EQ(contradiction(which.op()), "");
  });
}

TEST_F(Effects, EveryKindOfOpHasACase) {
  std::set<std::string> seen;
  forEachCase(
      [&](Machine &, const Case &which) { seen.merge(kindsOf(which.op())); });
  for (const std::string &kind : kindsOfDialect(*benches.front().context))
    EXPECT_TRUE(seen.contains(kind))
        << kind << ": no op of this kind in the plans of plans.cpp";
}

/// What is not run here cannot touch memory, or cannot be in a fragment.
TEST_F(Effects, NoOtherOpTouchesMemory) {
  mlir::MLIRContext &context = *benches.front().context;
  EXPECT_EQ(opsWithoutBuffers(context),
            (std::set<std::string>{"rt.record", "rt.wait"}))
      << "events order streams, of which a cpu has one, and have no code there";
  EXPECT_EQ(opsWithoutEffects(context),
            (std::set<std::string>{
                "rt.bucket", "rt.cluster", "rt.exchange", "rt.export_slot",
                "rt.input_slot", "rt.kernel", "rt.packed", "rt.param",
                "rt.program", "rt.step", "rt.tensor_form", "rt.timeline"}))
      << "these stand around fragments, or have the effects of their ops and "
         "are "
         "gone before memory (rt.cluster); an op of fragments says its effects";
}

} // namespace
} // namespace mtc::test
