//===- weights.cpp - does a file of parameters fit a bundle ---------------===//

#include "runtime/control/weights.h"

#include "runtime/base/json.h"
#include "runtime/base/safetensors.h"
#include "runtime/train/shards.h"

#include <fmt/format.h>

#include <set>

namespace mtc::runtime {

Status checkWeights(const std::string &path, const Bundle &bundle) {
  SafetensorsFile file;
  MTC_RETURN_IF_ERROR(SafetensorsFile::open(path, file));
  Problems problems;
  std::set<std::string> names; // what is tied or sliced is there again
  for (const BundleProgram &stage : bundle.stages)
    for (const ParamInfo &p : stage.descriptor.params)
      if (names.insert(p.modelName()).second)
        if (std::string problem = tensorProblem(p, file.find(p.modelName()));
            !problem.empty())
          problems.add(std::move(problem));
  for (const TensorInfo &tensor : file.tensors())
    if (!names.contains(tensor.name))
      problems.add(fmt::format("'{}': expected a parameter of the model, found "
                               "one that it has not",
                               tensor.name));
  return problems.status("'" + path + "'");
}

} // namespace mtc::runtime
