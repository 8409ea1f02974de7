//===- random_ops.cpp - calls that draw random numbers --------------------===//

#include "compiler/sharding/families/random_ops.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace meshplan;

namespace {

/// Condition under which an operator is random.
enum class Draws {
  never,
  always,
  dropping, ///< while its training flag is set and its probability is not 0
  training, ///< while its training flag is set
};

} // namespace

/// `target` without namespace, overload and in-place suffix.
static StringRef baseName(StringRef target) {
  StringRef name = target.split('.').second.split('.').first;
  name.consume_back("_");
  return name;
}

static Draws classify(StringRef name) {
  if (name.contains("scaled_dot") || name == "attention" || name.ends_with("attention_forward"))
    return Draws::dropping;
  return llvm::StringSwitch<Draws>(name)
      .Cases({"bernoulli", "binomial", "cauchy", "exponential", "geometric", "log_normal", "multinomial"},
             Draws::always)
      .Cases({"normal", "normal_functional", "poisson", "rand", "rand_like", "randint", "randint_like"}, Draws::always)
      .Cases({"randn", "randn_like", "random", "randperm", "uniform", "_fused_dropout"}, Draws::always)
      .Cases({"_sample_dirichlet", "_standard_gamma"}, Draws::always)
      .Cases({"dropout", "native_dropout", "alpha_dropout", "feature_dropout", "feature_alpha_dropout", "dropout_rows"},
             Draws::dropping)
      .Cases({"lstm", "gru", "rnn_tanh", "rnn_relu", "_cudnn_rnn", "miopen_rnn"}, Draws::dropping)
      .Cases({"rrelu", "rrelu_with_noise", "rrelu_with_noise_functional"}, Draws::training)
      .Default(Draws::never);
}

/// The argument under the first of these names that the call has.
static Attribute firstOf(const CallView &call, ArrayRef<StringRef> names) {
  for (StringRef name : names)
    if (Attribute value = call.get(name))
      return value;
  return {};
}

static bool isFalse(Attribute value) {
  auto flag = dyn_cast_or_null<BoolAttr>(value);
  return flag && !flag.getValue();
}

bool meshplan::drawsRandomNumbers(const CallView &call) {
  if (call.target.starts_with("meshplan.") && call.get("number"))
    return false;
  Draws draws = classify(baseName(call.target));
  Attribute training = firstOf(call, {"train", "training"});
  if (draws == Draws::training)
    return training && !isFalse(training);
  if (draws != Draws::dropping)
    return draws == Draws::always;
  // Attention is the only schema with a default probability, and the default is 0.
  for (StringRef name : {"p", "dropout_p", "dropout"})
    if (call.get(name))
      return !isFalse(training) && call.getFloat(name, 1) != 0;
  return baseName(call.target).ends_with("dropout") && !isFalse(training);
}

int64_t meshplan::drawCount(const CallView &call) {
  if (!call.target.starts_with("meshplan.") || !call.get("number"))
    return 0;
  std::optional<unsigned> query = call.getOperand("query"), key = call.getOperand("key");
  if (!query || !key)
    return call.results.front().getNumElements();
  // Attention draws one number for each query and key of each head.
  ArrayRef<int64_t> shape = call.operands[*query].getShape();
  return call.getFloat("dropout", 0) == 0 ? 0 : shape[0] * shape[1] * shape[2] * call.operands[*key].getDimSize(2);
}
