//===- parallel.cpp - independent jobs on a few threads -------------------===//

#include "compiler/parallel.h"

#include "mlir/IR/Threading.h"

#include <vector>

using mtc::runtime::Status;

namespace mtc::compiler {

Status forEachJob(mlir::MLIRContext &context, size_t count,
                  const std::function<Status(size_t)> &job) {
  std::vector<Status> results(count);
  mlir::parallelFor(&context, 0, count, [&](size_t i) { results[i] = job(i); });
  for (Status &status : results)
    MTC_RETURN_IF_ERROR(std::move(status));
  return Status::okay();
}

} // namespace mtc::compiler
