//===- kinds.cpp - the kinds of ops that fragments hold -------------------===//
#include "kinds.h"

#include "dialects/rt/Rt.h"

using namespace mlir;

namespace mtc::test {
namespace {

std::vector<RegisteredOperationName> opsOf(MLIRContext &context) {
  context.loadDialect<rt::RtDialect>();
  std::vector<RegisteredOperationName> ops;
  for (RegisteredOperationName name : context.getRegisteredOperations())
    if (name.getDialectNamespace() == rt::RtDialect::getDialectNamespace())
      ops.push_back(name);
  return ops;
}

bool hasAccesses(RegisteredOperationName name) {
  return name.hasInterface<rt::AccessOpInterface>();
}
bool isOfKernels(RegisteredOperationName name) {
  return name.hasTrait<rt::KernelBodyOp>();
}

/// The names of an enum's cases.
template <typename Enum, typename Symbolize, typename Name>
std::set<std::string> casesOf(const std::string &prefix, int64_t last,
                              Symbolize symbolize, Name name) {
  std::set<std::string> all;
  for (int64_t i = 0; i <= last; ++i)
    if (std::optional<Enum> value = symbolize(i))
      all.insert(prefix + name(*value).str());
  return all;
}

std::string gemmKind(bool ta, bool tb, bool beta) {
  return std::string("rt.gemm") + (ta ? " ta" : "") + (tb ? " tb" : "") +
         (beta ? " beta" : "");
}
constexpr const char *kReadsPacked = "rt.gemm by own_packed",
                     *kCounts = "rt.gemm counts";
std::string attentionKind(bool backward, bool fused, bool byDocument) {
  return std::string("rt.attention ") + (backward ? "backward" : "forward") +
         (fused ? " fused" : " separate") + (byDocument ? " by document" : "");
}
std::string modeKind(rt::Mode mode, bool writes) {
  return (writes ? "rt.launch writes " : "rt.launch reads ") +
         stringifyMode(mode).str();
}
std::string bodyKind(OperationName name) {
  return "rt.launch with " + name.getStringRef().str();
}

/// The forms of one op.
std::set<std::string> formsOf(StringRef name) {
  std::set<std::string> forms;
  if (name == rt::CollectiveOp::getOperationName())
    return casesOf<rt::CollectiveKind>(
        "rt.collective ", rt::getMaxEnumValForCollectiveKind(),
        [](int64_t i) { return rt::symbolizeCollectiveKind(i); },
        rt::stringifyCollectiveKind);
  if (name == rt::NormOp::getOperationName())
    return casesOf<rt::NormAction>(
        "rt.norm ", rt::getMaxEnumValForNormAction(),
        [](int64_t i) { return rt::symbolizeNormAction(i); },
        rt::stringifyNormAction);
  // Without epilogues: no CPU has them.
  for (unsigned form = 0; form < 8; ++form)
    if (name == rt::GemmOp::getOperationName())
      forms.insert(gemmKind(form & 1, form & 2, form & 4));
    else if (name == rt::AttentionOp::getOperationName())
      forms.insert(attentionKind(form & 1, form & 2, form & 4));
  if (name == rt::GemmOp::getOperationName())
    forms.merge(std::set<std::string>{kReadsPacked, kCounts});
  if (name == rt::LaunchOp::getOperationName())
    forms = casesOf<rt::Mode>(
        "rt.launch reads ", rt::getMaxEnumValForMode(),
        [](int64_t i) { return rt::symbolizeMode(i); }, rt::stringifyMode);
  return forms.empty() ? std::set<std::string>{name.str()} : forms;
}

std::set<std::string> kindsOfLaunch(rt::LaunchOp launch) {
  auto kernel = SymbolTable::lookupNearestSymbolFrom<rt::KernelOp>(
      launch, launch.getKernelAttr());
  std::set<std::string> kinds;
  for (auto [info, access] :
       llvm::zip(kernel.getOperandsInfo().getAsRange<rt::OperandAttr>(),
                 kernel.getOperandAccesses()))
    for (bool writes : {false, true})
      if (writes ? access.writes : access.reads)
        kinds.insert(modeKind(info.getMode(), writes));
  for (Operation &op : kernel.getBody().front())
    kinds.insert(bodyKind(op.getName()));
  return kinds;
}

} // namespace

std::set<std::string> kindsOfDialect(MLIRContext &context) {
  std::set<std::string> kinds;
  for (RegisteredOperationName name : opsOf(context))
    if (hasAccesses(name))
      kinds.merge(formsOf(name.getStringRef()));
    else if (isOfKernels(name))
      kinds.insert(bodyKind(name));
  return kinds;
}

std::set<std::string> kindsOf(Operation *op) {
  if (auto launch = dyn_cast<rt::LaunchOp>(op))
    return kindsOfLaunch(launch);
  if (auto collective = dyn_cast<rt::CollectiveOp>(op))
    return {"rt.collective " +
            stringifyCollectiveKind(collective.getKind()).str()};
  if (auto norm = dyn_cast<rt::NormOp>(op))
    return {"rt.norm " + stringifyNormAction(norm.getAction()).str()};
  if (auto gemm = dyn_cast<rt::GemmOp>(op); gemm && gemm.readsPacked())
    return {kReadsPacked};
  if (auto gemm = dyn_cast<rt::GemmOp>(op); gemm && gemm.getCountsLast())
    return {kCounts};
  if (auto gemm = dyn_cast<rt::GemmOp>(op))
    return {gemmKind(gemm.getTa(), gemm.getTb(), gemm.getBeta())};
  if (auto attention = dyn_cast<rt::AttentionOp>(op))
    return {attentionKind(attention.getBackward(), attention.isFused(),
                          bool(attention.getDocuments()))};
  return {op->getName().getStringRef().str()};
}

std::set<std::string> opsWithoutEffects(MLIRContext &context) {
  std::set<std::string> ops;
  for (RegisteredOperationName name : opsOf(context))
    if (!hasAccesses(name) && !isOfKernels(name) &&
        !name.hasInterface<MemoryEffectOpInterface>())
      ops.insert(name.getStringRef().str());
  return ops;
}

std::set<std::string> opsWithoutBuffers(MLIRContext &context) {
  std::set<std::string> ops;
  for (RegisteredOperationName name : opsOf(context))
    if (!hasAccesses(name) && !isOfKernels(name) &&
        name.hasInterface<MemoryEffectOpInterface>() &&
        !name.hasTrait<OpTrait::AlwaysSpeculatableImplTrait>())
      ops.insert(name.getStringRef().str());
  return ops;
}

} // namespace mtc::test
