//===- optimizers.cpp - updates, from their formulas ----------------------===//
#include "test/evaluator/ops.h"

#include <cmath>

using namespace mlir;

namespace mtc::eval {
namespace {

using Fields = std::map<std::string, double>;

/// A field of the step block; fields are tested by name, so a missing one is
/// an error and not zero.
FailureOr<double> field(Call &c, StringRef name) {
  auto it = c.step.fields.find(name.str());
  if (it == c.step.fields.end())
    return c.op->emitOpError("expected field \"")
           << name << "\" in the step block, found none";
  return it->second;
}

LogicalResult scalar(Call &c) {
  auto value = field(c, cast<tfm::ScalarOp>(c.op).getField());
  if (failed(value))
    return failure();
  for (double &element : c.out[0].reals)
    element = *value;
  return success();
}

/// What one element is before an update, and after it.
struct Element {
  double p, g;               ///< g: clipped
  std::vector<double> state; ///< as many as the op has
};

using Update = void (*)(Element &e, const Fields &f, double decay,
                        Operation *op);

/// A handler that does an update to each element. Read are the fields `names`,
/// and those that all optimizers have.
Handler updating(std::vector<const char *> names, Update update) {
  for (const char *name : {"lr", "weight_decay", "clip_coeff"})
    names.push_back(name);
  return [=](Call &c) -> LogicalResult {
    Fields f;
    for (const char *name : names) {
      auto value = field(c, name);
      if (failed(value))
        return failure();
      f[name] = *value;
    }
    bool decays = cast<BoolAttr>(c.op->getAttr("decay")).getValue();
    for (size_t i = 0; i < c.in[0]->reals.size(); ++i) {
      Element e{c.in[0]->reals[i], c.in[1]->reals[i] * f["clip_coeff"], {}};
      for (size_t k = 2; k < c.in.size(); ++k)
        e.state.push_back(c.in[k]->reals[i]);
      update(e, f, decays ? f["weight_decay"] : 0, c.op);
      c.out[0].reals[i] = e.p;
      for (size_t k = 0; k < e.state.size(); ++k)
        c.out[k + 1].reals[i] = e.state[k];
    }
    return success();
  };
}

/// arXiv:1412.6980, algorithm 1, with its bias corrections.
double adam(Element &e, const Fields &f, double g) {
  double &m = e.state[0], &v = e.state[1];
  m = f.at("beta1") * m + f.at("one_minus_beta1") * g;
  v = f.at("beta2") * v + f.at("one_minus_beta2") * g * g;
  return m * f.at("inv_bias1") /
         (std::sqrt(v * f.at("inv_bias2")) + f.at("eps"));
}

/// arXiv:1711.05101, algorithm 2, with the decay times the rate.
void adamw(Element &e, const Fields &f, double decay, Operation *) {
  double old = e.p;
  e.p = old - f.at("lr") * (adam(e, f, e.g) + decay * old);
}

/// The same algorithm's other line.
void adamL2(Element &e, const Fields &f, double decay, Operation *) {
  e.p -= f.at("lr") * adam(e, f, e.g + decay * e.p);
}

/// As torch.optim.SGD documents it, without dampening.
void sgd(Element &e, const Fields &f, double decay, Operation *op) {
  double g = e.g + decay * e.p, mu = f.at("momentum");
  double &buffer = e.state[0];
  buffer = mu * buffer + g;
  bool isNesterov = cast<tfm::SgdOp>(op).getNesterov();
  e.p -= f.at("lr") * (isNesterov ? g + mu * buffer : buffer);
}

/// arXiv:2302.06675, algorithm 2.
void lion(Element &e, const Fields &f, double decay, Operation *) {
  double &m = e.state[0];
  double c = f.at("beta1") * m + f.at("one_minus_beta1") * e.g;
  double sign = c > 0 ? 1 : c < 0 ? -1 : 0;
  e.p -= f.at("lr") * (sign + decay * e.p);
  m = f.at("beta2") * m + f.at("one_minus_beta2") * e.g;
}

} // namespace

void addOptimizers(Handlers &h) {
  std::vector<const char *> betas = {"beta1", "beta2", "one_minus_beta1",
                                     "one_minus_beta2"};
  std::vector<const char *> moments = betas;
  moments.insert(moments.end(), {"eps", "inv_bias1", "inv_bias2"});
  h["tfm.scalar"] = scalar;
  h["tfm.adamw"] = updating(moments, adamw);
  h["tfm.adam_l2"] = updating(moments, adamL2);
  h["tfm.sgd"] = updating({"momentum"}, sgd);
  h["tfm.lion"] = updating(betas, lion);
}

} // namespace mtc::eval
