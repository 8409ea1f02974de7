//===- place_init.cpp - the width of initial weights ----------------------===//
//
// See PlaceInit in passes.td.
//
//===----------------------------------------------------------------------===//

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

struct Fans {
  int64_t in = 0, out = 0;
};

/// Parameters of which one entry cannot be worked out: the reason, with the first, and how many.
struct Fault {
  std::string reason, text;
  int64_t count = 0;
};
using Faults = llvm::MapVector<Location, Fault>;

} // namespace

static bool isReadBy(BlockArgument parameter, StringRef what) {
  return llvm::any_of(parameter.getUsers(), [&](Operation *user) {
    auto call = dyn_cast<CallOp>(user);
    return call && call.getTarget().contains(what);
  });
}

/// Of one in groups, which torch.nn.init does not count, the record does not say which dims are features.
static std::optional<Fans> fansOfConvolution(BlockArgument parameter) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(parameter.getType()).getShape();
  if (!isReadBy(parameter, "aten.conv") || shape.size() < 3)
    return std::nullopt;
  int64_t window = 1;
  for (int64_t extent : shape.drop_front(2))
    window *= extent;
  bool isTransposed = isReadBy(parameter, "conv_transpose");
  return Fans{window * shape[isTransposed ? 0 : 1], window * shape[isTransposed ? 1 : 0]};
}

static std::optional<Fans> fansOf(BlockArgument parameter) {
  if (std::optional<Fans> fans = fansOfConvolution(parameter))
    return fans;
  FeatureUse use = findFeatures(parameter, "");
  if (!use.inputDim || !use.outputDim)
    return std::nullopt;
  auto type = cast<RankedTensorType>(parameter.getType());
  return Fans{type.getDimSize(*use.inputDim), type.getDimSize(*use.outputDim)};
}

/// The standard deviation, as torch.nn.init has it.
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

static void place(func::FuncOp function, BlockArgument parameter, Faults &faults) {
  unsigned number = parameter.getArgNumber();
  auto init = function.getArgAttrOfType<DictionaryAttr>(number, "plan.init");
  StringRef kind = init ? init.getAs<StringAttr>("kind").getValue() : StringRef();
  bool isKaiming = kind.starts_with("kaiming_");
  if (!isKaiming && !kind.starts_with("xavier_"))
    return;
  StringRef name = cast<StringAttr>(function.getArgAttrOfType<ArrayAttr>(number, "plan.names")[0]).getValue();
  std::optional<Fans> fans = fansOf(parameter);
  if (!fans)
    return add(faults, init, name, "has no input and output features");
  if (isKaiming && isReadBy(parameter, "embedding"))
    return add(faults, init, name, "is looked up and not multiplied, and has no fan");
  double deviation = deviationOf(init, isKaiming, *fans);
  function.setArgAttr(number, "plan.init",
                      distributionOf(deviation, kind.ends_with("uniform"), Builder(function.getContext())));
}

namespace {

struct PlaceInitPass : meshplan::impl::PlaceInitBase<PlaceInitPass> {
  void runOnOperation() final {
    Faults faults;
    for (auto function : getOperation().getOps<func::FuncOp>())
      for (BlockArgument argument : function.getArguments())
        place(function, argument, faults);
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
