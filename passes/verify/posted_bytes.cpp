//===- posted_bytes.cpp - bytes between post and wait ---------------------===//
#include "passes/verify/posted_bytes.h"

using namespace mlir;

namespace mtc::passes::verify {

void PostedBytes::post(rt::ExchangeOp op, rt::TransferAttr transfer) {
  all.push_back({transfer, op});
}

void PostedBytes::wait(rt::ExchangeOp op, rt::TransferAttr transfer,
                       Report &report) {
  auto it = llvm::find_if(
      all, [&](const Posted &each) { return each.transfer == transfer; });
  if (it != all.end())
    all.erase(it);
  else
    report.error(op) << "expected to wait for a transfer as an earlier row "
                        "posted it, found none like "
                     << transfer;
}

void PostedBytes::checkRead(Operation *op, int64_t begin, int64_t end,
                            Report &report) const {
  check(op, begin, end, /*writes=*/false, report);
}

void PostedBytes::checkWrite(Operation *op, int64_t begin, int64_t end,
                             Report &report) const {
  check(op, begin, end, /*writes=*/true, report);
}

void PostedBytes::check(Operation *op, int64_t begin, int64_t end, bool writes,
                        Report &report) const {
  for (const Posted &each : all) {
    rt::TransferAttr t = each.transfer;
    bool overlaps = begin < t.getOffset() + t.getBytes() && t.getOffset() < end;
    if (!overlaps || (t.getSend() && !writes))
      continue;
    auto diag = report.error(op)
                << "expected a wait for the "
                << (t.getSend() ? "send" : "receive") << " of "
                << t.getTag().tag().text() << " before its bytes "
                << t.getOffset() << " to " << t.getOffset() + t.getBytes()
                << " are " << (writes ? "written" : "read") << ", found none";
    diag.attachNote(each.op->getLoc()) << "posted here";
    return;
  }
}

} // namespace mtc::passes::verify
