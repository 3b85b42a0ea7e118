//===- case_run.cpp - a kernel case on the PTX executor -------------------===//
#include "case_run.h"

#include <cmath>
#include <cstring>
#include <sstream>

using namespace mtc;
using namespace mtc::test;

ptx::Rules mtc::test::kernelRules() {
  ptx::Rules rules;
  rules.refuseFlushToZero = rules.refuseApproximate = true;
  rules.refuseContractable = true;
  return rules;
}

CaseRun::CaseRun(const KernelCase &c, const ptx::Module &module, uint64_t seed)
    : c(c), module(module), globals(module, memory) {
  options.seed = seed;
  options.readUnwrittenHalves = true;
  for (const CaseOperand &operand : c.operands) {
    addresses.push_back(memory.allocate(operand.before.size(), "operand"));
    memory.initialise(addresses.back(),
                      std::as_bytes(std::span(operand.before)));
  }
  for (uint64_t i = 0; i < c.fields; ++i) {
    int64_t value = fieldOf(c, i);
    fields.push_back(value ? memory.allocate(sizeof value, "field") : 0);
    if (value)
      memory.initialise(fields.back(), std::as_bytes(std::span(&value, 1)));
  }
  if (auto word = static_cast<int32_t>(c.guard); word >= 0) {
    guard = memory.allocate(sizeof word, "guard");
    memory.initialise(guard, std::as_bytes(std::span(&word, 1)));
  }
  workspace = memory.allocate(c.workspaceBytes, "workspace");
}

std::optional<ptx::Fault> CaseRun::run(uint64_t instructionLimit) {
  options.instructionLimit = instructionLimit;
  uint64_t operation = 0;
  for (const CaseLaunch &launch : c.launches) {
    memory.begin({++operation, 0});
    const ptx::KernelFacts *kernel = module.find(launch.entry);
    if (!kernel)
      return ptx::Fault{ptx::FaultKind::trap,
                        "there is no entry " + launch.entry};
    if (auto fault = runOne(*kernel, launch))
      return fault;
  }
  return std::nullopt;
}

std::vector<uint8_t> CaseRun::read(size_t i) {
  std::vector<uint8_t> bytes(c.operands[i].before.size());
  std::memcpy(bytes.data(), memory.find(addresses[i], 1)->host, bytes.size());
  return bytes;
}

std::optional<ptx::Fault> CaseRun::runOne(const ptx::KernelFacts &kernel,
                                          const CaseLaunch &launch) {
  ptx::Arguments arguments;
  for (size_t i = 0; i < addresses.size(); ++i) {
    int64_t shared = c.operands[i].sharesWith;
    arguments.add(addresses[shared >= 0 ? shared : i]);
  }
  for (uint64_t i = 0; i < c.args.size(); ++i)
    arguments.add(c.args[i] - fieldOf(c, i));
  for (ptx::Address field : fields)
    arguments.add(field);
  if (c.guard >= 0)
    arguments.add(guard);
  if (c.workspaceBytes)
    arguments.add(workspace);
  ptx::Launch what{module,
                   kernel,
                   {static_cast<uint32_t>(launch.blocks), 1, 1},
                   {static_cast<uint32_t>(launch.threads), 1, 1},
                   static_cast<uint32_t>(launch.sharedBytes),
                   arguments.bytes(),
                   &globals};
  return ptx::launch(what, memory, options, &counts);
}

std::string mtc::test::wrongElement(const CaseOperand &o,
                                    const std::vector<uint8_t> &found) {
  for (uint64_t i = 0; i < o.expected.size(); ++i) {
    double x = valueAt(o.element, found, i), e = o.expected[i];
    if (std::isnan(x) && std::isnan(e))
      continue;
    if (!(std::fabs(x - e) <= o.tolerance[i])) {
      std::ostringstream text;
      text << "element " << i << ": expected " << e << " within "
           << o.tolerance[i] << ", found " << x;
      return text.str();
    }
  }
  return "";
}

bool mtc::test::hasCpuBits(const CaseOperand &o,
                           const std::vector<uint8_t> &found) {
  for (uint64_t i = 0; i < o.count; ++i) {
    double x = valueAt(o.element, found, i), y = valueAt(o.element, o.cpu, i);
    if (x != y && !(std::isnan(x) && std::isnan(y)))
      return false;
  }
  return true;
}
