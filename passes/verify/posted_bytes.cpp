//===- posted_bytes.cpp - bytes between post and wait ---------------------===//
#include "passes/verify/posted_bytes.h"

using namespace mlir;

namespace mtc::passes::verify {

void PostedBytes::post(const Row &row, const rt::Transfer &transfer) {
  all.push_back({transfer, &row});
}

void PostedBytes::wait(const Row &row, const rt::Transfer &transfer,
                       Report &report) {
  auto it = llvm::find_if(
      all, [&](const Posted &each) { return each.transfer == transfer; });
  if (it != all.end())
    all.erase(it);
  else
    report.error(row) << "expected to wait for a transfer as an earlier row "
                         "posted it, found none like "
                      << rt::textOf(transfer);
}

void PostedBytes::checkRead(const Row &row, int64_t begin, int64_t end,
                            Report &report) const {
  check(row, begin, end, /*writes=*/false, report);
}

void PostedBytes::checkWrite(const Row &row, int64_t begin, int64_t end,
                             Report &report) const {
  check(row, begin, end, /*writes=*/true, report);
}

void PostedBytes::check(const Row &row, int64_t begin, int64_t end, bool writes,
                        Report &report) const {
  for (const Posted &each : all) {
    const rt::Transfer &t = each.transfer;
    bool overlaps = begin < t.offset + t.bytes && t.offset < end;
    if (!overlaps || (t.send && !writes))
      continue;
    auto diag = report.error(row)
                << "expected a wait for the " << (t.send ? "send" : "receive")
                << " of " << t.tag.text() << " before its bytes " << t.offset
                << " to " << t.offset + t.bytes << " are "
                << (writes ? "written" : "read") << ", found none";
    diag.attachNote(Site(*each.row).getLoc()) << "posted here";
    return;
  }
}

} // namespace mtc::passes::verify
