//===- place_init.cpp - the width of initial weights ----------------------===//
//
// See PlaceInit in passes.td.
//
//===----------------------------------------------------------------------===//

#include "compiler/support/number_text.h"
#include "compiler/transforms/place/feature_dims.h"
#include "compiler/transforms/place/passes.h"
#include "dialect/plan/attributes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "runtime/schema/distribution.h"
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

static bool isKaiming(InitRuleOfAttr init) {
  return init.getRule() == InitRule::kaiming_uniform || init.getRule() == InitRule::kaiming_normal;
}

/// The standard deviation, as in torch.nn.init.
static double deviationOf(InitRuleOfAttr init, const Fans &fans) {
  double gain = init.getGain().getValueAsDouble();
  if (!isKaiming(init))
    return gain * std::sqrt(2.0 / static_cast<double>(fans.in + fans.out));
  return gain / std::sqrt(static_cast<double>(init.getFan() == FanKind::out ? fans.out : fans.in));
}

static bool isNormal(InitRuleOfAttr init) {
  return init.getRule() == InitRule::kaiming_normal || init.getRule() == InitRule::xavier_normal;
}

/// The standard deviation of a normal distribution, and the bound a of a uniform one in [-a, a], which has the
/// deviation a / sqrt(3).
static double widthOf(InitRuleOfAttr init, const Fans &fans) {
  return isNormal(init) ? deviationOf(init, fans) : std::sqrt(3.0) * deviationOf(init, fans);
}

static base::InitAttr distributionOf(double width, InitRuleOfAttr init) {
  Builder builder(init.getContext());
  FloatAttr none;
  if (isNormal(init))
    return base::InitAttr::get(builder.getContext(), base::InitKind::normal, none, none, none,
                               builder.getF64FloatAttr(0), builder.getF64FloatAttr(width), ElementsAttr());
  return base::InitAttr::get(builder.getContext(), base::InitKind::uniform, none, builder.getF64FloatAttr(-width),
                             builder.getF64FloatAttr(width), none, none, ElementsAttr());
}

static void add(Faults &faults, InitRuleOfAttr init, StringRef name, StringRef reason) {
  Fault &fault = faults[Location(init.getLocation())];
  if (fault.count++ == 0)
    fault = {("parameter '" + name + "' " + reason).str(), init.getText().getValue().str(), 1};
}

/// The reason why no width follows from the features of a parameter; empty if one does.
static std::string faultOf(FeatureUse use, bool isKaiming) {
  if (!use.fans && use.unknown)
    return ("has no input and output features that are known after '" + use.unknown.getTarget() + "'").str();
  if (!use.fans)
    return "has no input and output features";
  return isKaiming && use.isLookedUp ? "is an embedding table, which has no fan" : "";
}

static void place(func::FuncOp function, BlockArgument parameter, const FeatureSearch &search, Faults &faults) {
  unsigned number = parameter.getArgNumber();
  auto init = dyn_cast_or_null<InitRuleOfAttr>(argAttr<attr::Init>(function, number));
  if (!init)
    return;
  StringRef name = parameterName(parameter);
  // The whole parameter, before any division: shards of a rank have smaller fans.
  FeatureUse use = search.find(parameter, name.contains('.') ? name.rsplit('.').first : "");
  if (std::string fault = faultOf(use, isKaiming(init)); !fault.empty())
    return add(faults, init, name, fault);
  double width = widthOf(init, *use.fans);
  DistributionNumbers numbers = {.low = -width, .high = width, .std = width, .hasBounds = true, .hasDeviation = true};
  if (distributionFault(numbers) != DistributionFault::none)
    return add(faults, init, name, "would need the width " + numberText(width) + ", which f32 cannot represent");
  setArgAttr<attr::Init>(function, number, distributionOf(width, init));
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
      auto diagnostic = emitError(location) << fault.reason << ", so '" << fault.text << "' has no width for it";
      if (fault.count > 1)
        diagnostic.attachNote(location) << "and " << fault.count - 1 << " more";
      diagnostic.attachNote(location) << "help: give it an entry with an explicit width, as 'normal 0.02'";
    }
    if (!faults.empty())
      signalPassFailure();
  }
};

} // namespace
