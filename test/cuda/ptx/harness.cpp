//===- harness.cpp - small kernels for tests ------------------------------===//
#include "test/cuda/ptx/harness.h"

namespace mtc::ptx {

std::string textAround(const std::string &body, const Trial &trial) {
  return ".version " + trial.version + "\n.target " + trial.target +
         "\n.address_size 64\n" + trial.module +
         "\n.visible .entry k(.param .u64 in, .param .u64 out)\n" + trial.head +
         R"({
  .reg .pred %p<10>;
  .reg .b16 %h<20>;
  .reg .b32 %r<80>, %t, %i, %n;
  .reg .f32 %f<40>;
  .reg .b64 %d<40>, %in, %out, %mine, %arg;
  .reg .f64 %v<20>;
  ld.param.u64 %in, [in];
  ld.param.u64 %out, [out];
  cvta.to.global.u64 %in, %in;
  cvta.to.global.u64 %out, %out;
  mov.u32 %t, %tid.x;
  mov.u32 %n, %ntid.x;
  mov.u32 %i, %ctaid.x;
  mad.lo.u32 %i, %i, %n, %t;
  mad.wide.u32 %mine, %i, 4, %out;
  mad.wide.u32 %arg, %i, 4, %in;
)" + body +
         "\n  ret;\n}\n";
}

std::unique_ptr<const Module> moduleOf(const std::string &text,
                                       const Rules &rules) {
  std::vector<Problem> problems;
  auto module = Module::fromText(text, rules, problems);
  EXPECT_TRUE(module) << describe(problems);
  return module;
}

Outcome runBody(const std::string &body, const Trial &trial) {
  Outcome outcome;
  Rules rules;
  rules.target = trial.device;
  auto module = moduleOf(textAround(body, trial), rules);
  if (!module)
    return outcome;
  Memory memory;
  size_t threads = size_t(trial.grid.x) * trial.block.x * trial.block.y;
  size_t words = trial.outWords ? trial.outWords : threads;
  std::vector<uint32_t> in = trial.in;
  Address inAddress = memory.allocate(4 * in.size(), "in");
  memory.initialise(inAddress, std::as_bytes(std::span(in)));
  outcome.out.assign(words, ~0u);
  Address outAddress = memory.allocate(4 * words, "out");
  Globals globals(*module, memory);
  Arguments arguments;
  arguments.add(inAddress).add(outAddress);
  memory.begin({1, 0});
  outcome.fault = launch({*module, *module->find("k"), trial.grid, trial.block,
                          trial.dynamicShared, arguments.bytes(), &globals},
                         memory, trial.options);
  std::memcpy(outcome.out.data(), memory.find(outAddress, 1)->host, 4 * words);
  return outcome;
}

std::vector<uint32_t> wordsOf(const std::string &body, const Trial &trial) {
  Outcome outcome = runBody(body, trial);
  EXPECT_FALSE(outcome.fault) << describe(*outcome.fault);
  return outcome.out;
}

std::string refusalOf(const std::string &body, const Rules &rules,
                      const Trial &trial) {
  std::vector<Problem> problems;
  auto module = Module::fromText(textAround(body, trial), rules, problems);
  EXPECT_EQ(module == nullptr, !problems.empty());
  return problems.empty() ? "" : problems[0].sentence;
}

FaultKind faultOf(const std::string &body, const Trial &trial) {
  Outcome outcome = runBody(body, trial);
  EXPECT_TRUE(outcome.fault) << body;
  return outcome.fault ? outcome.fault->kind : FaultKind::endless;
}

void expectFault(FaultKind kind, const std::string &wrong,
                 const std::string &right, const Trial &trial) {
  for (uint64_t seed = 0; seed < 8; ++seed) {
    Trial seeded = trial;
    seeded.options.seed = seed;
    Outcome bad = runBody(wrong, seeded);
    ASSERT_TRUE(bad.fault) << "seed " << seed << ", no fault: " << wrong;
    EXPECT_EQ(describe(bad.fault->kind), describe(kind))
        << describe(*bad.fault);
    EXPECT_GT(bad.fault->line, 0);
    Outcome good = runBody(right, seeded);
    EXPECT_FALSE(good.fault) << "seed " << seed << ": " << right << "\n"
                             << describe(*good.fault);
  }
}

} // namespace mtc::ptx
