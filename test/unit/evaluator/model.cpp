//===- model.cpp - whole tiny models for the evaluator's tests ------------===//
#include "test/unit/evaluator/model.h"

#include "dialects/tfm/Tfm.h"
#include "models/import/import.h"
#include "models/resolve.h"
#include "passes/Passes.h"

#include "mlir/Pass/PassManager.h"

using namespace mlir;

namespace mtc::test {

std::vector<Variant> variants() {
  models::ModelSpec plain;
  plain.name = "tiny";
  plain.vocab = 10;
  plain.paddedVocab = 12;
  plain.layers = 2;
  plain.hidden = 8;
  plain.heads = plain.kvHeads = 4;
  plain.headDim = 2;
  plain.ffn = 12;
  plain.maxSeq = 4;
  plain.dropout = {0.2, 0.25, 0.3};
  std::vector<Variant> all(11, {"tied", plain});
  all[1].name = "untied";
  all[1].spec.tied = false;
  all[2].name = "sepqkv";
  all[2].spec.attention.qkv = models::QkvKind::separate;
  all[3].name = "grouped";
  all[3].spec.kvHeads = 2;
  all[3].spec.mlp.kind = models::MlpKind::relu;
  all[7] = {"grouped_sepqkv", all[2].spec};
  all[7].spec.kvHeads = 2;
  all[8] = {"one_kv_head", all[2].spec};
  all[8].spec.kvHeads = 1;
  all[9] = {"uneven_kv_heads", all[2].spec}; // over four ranks: 3 of 2 heads
  all[9].spec.heads = 12;
  all[9].spec.kvHeads = 6;
  all[10].name = "documents";
  all[10].documents = true;
  all[4].name = "bare";
  all[4].spec.layers = 1;
  all[4].spec.dropout = {0, 0, 0};
  all[4].spec.mlp.bias = all[4].spec.attention.bias = false;
  all[4].spec.attention.causal = false;
  all[5].name = "rms";
  all[5].spec.norm.kind = models::NormKind::rmsNorm;
  all[6].name = "longer"; // than the sequences: rows of positions stay unread
  all[6].spec.maxSeq = 6;
  return all;
}

models::Strategy tinyStrategy(int64_t dp, int64_t tp, int64_t cp) {
  models::Strategy strategy;
  strategy.mesh[MTC_AXIS_DP] = dp;
  strategy.mesh[MTC_AXIS_TP] = tp;
  strategy.mesh[MTC_AXIS_CP] = cp;
  strategy.microBatchSize = 4 / dp; // the same global microbatch in any layout
  strategy.globalBatchSize = 4;
  strategy.seqLength = 4;
  return strategy;
}

OwningOpRef<ModuleOp> import(const Variant &variant,
                             models::Strategy strategy) {
  strategy.schedule = "1f1b";
  strategy.resetPositions = strategy.resetAttention = variant.documents;
  // The gradient of the other mean is not that of the value.
  strategy.maskDocumentEnds = strategy.lossPerToken = variant.documents;
  return models::importModel(context(), variant.spec,
                             models::resolve(variant.spec, strategy));
}

func::FuncOp microbatch(ModuleOp module) {
  return module.lookupSymbol<func::FuncOp>("microbatch");
}

bool differentiate(ModuleOp module) {
  PassManager manager(module.getContext());
  manager.addPass(passes::createDifferentiate());
  return succeeded(manager.run(module));
}

std::vector<eval::Tensor> modelInputs(func::FuncOp fn,
                                      const models::ModelSpec &spec) {
  Inputs random(3);
  std::vector<eval::Tensor> all;
  for (unsigned i = 0; i < fn.getNumArguments(); ++i) {
    if (fn.getArgAttr(i, "tfm.input"))
      fn.setArgAttr(i, "in.below",
                    Builder(fn.getContext()).getI64IntegerAttr(spec.vocab));
    bool isScale = StringRef(parameterName(fn, i)).ends_with(".scale");
    eval::Tensor x = random.argument(fn, i);
    for (double &v : x.reals)
      v = isScale ? 1 + v / 3 : v / 3;
    auto input = fn.getArgAttrOfType<tfm::InputAttr>(i, "tfm.input");
    if (input && input.getName() == "document_starts")
      for (size_t k = 0; k < x.ints.size(); ++k)
        x.ints[k] %= static_cast<int64_t>(k) % x.shape[1] + 1;
    all.push_back(std::move(x));
    fn.removeArgAttr(i, "in.below");
  }
  return all;
}

std::string parameterName(func::FuncOp fn, unsigned i) {
  auto param = fn.getArgAttrOfType<tfm::ParamAttr>(i, "tfm.param");
  return param ? param.getName().str() : "";
}

std::map<std::string, eval::Tensor>
gradientsByName(func::FuncOp fn, const std::vector<eval::Tensor> &results) {
  std::map<std::string, eval::Tensor> all;
  for (unsigned i = 0; i < fn.getNumResults(); ++i) {
    auto grad = fn.getResultAttrOfType<tfm::GradAttr>(i, "tfm.grad");
    if (!grad)
      continue;
    auto [it, isNew] = all.try_emplace(grad.getParam().str(), results[i]);
    if (!isNew)
      for (size_t k = 0; k < it->second.reals.size(); ++k)
        it->second.reals[k] += results[i].reals[k];
  }
  return all;
}

} // namespace mtc::test
