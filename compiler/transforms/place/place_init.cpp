//===- place_init.cpp - the width of initial weights ----------------------===//
//
// See PlaceInit in passes.td.
//
//===----------------------------------------------------------------------===//

#include "compiler/sharding/calls/argument_names.h"
#include "compiler/transforms/place/feature_dims.h"
#include "compiler/transforms/place/passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"
#include <cmath>

namespace meshplan {
#define GEN_PASS_DEF_PLACEINIT
#include "compiler/transforms/place/passes.h.inc"
} // namespace meshplan

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

namespace {

/// Parameters for which a statement gives no width: the reason, the text of the first, and their number.
struct Fault {
  std::string reason, text;
  int64_t count = 0;
};
using Faults = llvm::MapVector<Location, Fault>;

} // namespace

/// The standard deviation, as in torch.nn.init.
static double deviationOf(DictionaryAttr init, bool isKaiming, const Fans &fans) {
  double gain = init.getAs<FloatAttr>("gain").getValueAsDouble();
  if (!isKaiming)
    return gain * std::sqrt(2.0 / static_cast<double>(fans.in + fans.out));
  bool isOut = init.getAs<StringAttr>("fan").getValue() == "out";
  return gain / std::sqrt(static_cast<double>(isOut ? fans.out : fans.in));
}

static DictionaryAttr distributionOf(double deviation, bool isUniform, Builder builder) {
  NamedAttrList list;
  list.set("kind", builder.getStringAttr(isUniform ? "uniform" : "normal"));
  double bound = std::sqrt(3.0) * deviation;
  list.set(isUniform ? "low" : "mean", builder.getF64FloatAttr(isUniform ? -bound : 0));
  list.set(isUniform ? "high" : "std", builder.getF64FloatAttr(isUniform ? bound : deviation));
  return list.getDictionary(builder.getContext());
}

static void add(Faults &faults, DictionaryAttr init, StringRef name, StringRef reason) {
  Fault &fault = faults[Location(init.getAs<LocationAttr>("place"))];
  if (fault.count++ == 0)
    fault = {("parameter '" + name + "' " + reason).str(), init.getAs<StringAttr>("text").getValue().str(), 1};
}

/// The reason why no width follows from the features of a parameter; empty if one does.
static std::string faultOf(FeatureUse use, bool isKaiming) {
  if (!use.fans && use.unknown)
    return ("has no input and output features that are known behind '" + use.unknown.getTarget() + "'").str();
  if (!use.fans)
    return "has no input and output features";
  return isKaiming && use.isLookedUp ? "is looked up and not multiplied, and has no fan" : "";
}

static void place(func::FuncOp function, BlockArgument parameter, const FeatureSearch &search, Faults &faults) {
  unsigned number = parameter.getArgNumber();
  auto init = function.getArgAttrOfType<DictionaryAttr>(number, "plan.init");
  StringRef kind = init ? init.getAs<StringAttr>("kind").getValue() : StringRef();
  bool isKaiming = kind.starts_with("kaiming_");
  if (!isKaiming && !kind.starts_with("xavier_"))
    return;
  StringRef name = parameterName(parameter);
  FeatureUse use = search.find(parameter, name.contains('.') ? name.rsplit('.').first : "");
  if (std::string fault = faultOf(use, isKaiming); !fault.empty())
    return add(faults, init, name, fault);
  double deviation = deviationOf(init, isKaiming, *use.fans);
  function.setArgAttr(number, "plan.init",
                      distributionOf(deviation, kind.ends_with("uniform"), Builder(function.getContext())));
}

namespace {

struct PlaceInitPass : meshplan::impl::PlaceInitBase<PlaceInitPass> {
  void runOnOperation() final {
    Faults faults;
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      FeatureSearch search(function);
      for (BlockArgument argument : function.getArguments())
        place(function, argument, search, faults);
    }
    for (const auto &[location, fault] : faults) {
      auto diagnostic = emitError(location)
                        << fault.reason << ", from which the width of '" << fault.text << "' would follow";
      if (fault.count > 1)
        diagnostic.attachNote(location) << "and " << fault.count - 1 << " more";
      diagnostic.attachNote(location) << "help: give it an entry with a width of its own, as 'normal 0.02'";
    }
    if (!faults.empty())
      signalPassFailure();
  }
};

} // namespace
