//===- settings.cpp - numbers that a run supplies to a program ------------===//

#include "dialect/plan/settings.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace meshplan::plan;

static bool isNamed(FunctionOpInterface function, BlockArgument argument, StringRef name) {
  auto names = function.getArgAttrOfType<ArrayAttr>(argument.getArgNumber(), "plan.names");
  return names && !names.empty() && cast<StringAttr>(names[0]).getValue() == name;
}

BlockArgument meshplan::plan::settingArgument(FunctionOpInterface function, StringRef name, double value, bool isPlaced,
                                              Location location, DictionaryAttr schedule) {
  for (BlockArgument argument : function.getArguments())
    if (argumentKind(argument) == "setting" && isNamed(function, argument, name))
      return argument;
  Builder builder(function.getContext());
  SmallVector<NamedAttribute> attributes{builder.getNamedAttr("plan.kind", builder.getStringAttr("setting")),
                                         builder.getNamedAttr("plan.names", builder.getStrArrayAttr({name})),
                                         builder.getNamedAttr("plan.value", builder.getF64FloatAttr(value))};
  if (schedule)
    attributes.push_back(builder.getNamedAttr("plan.schedule", schedule));
  ShardingAttr whole = isPlaced ? ShardingAttr::getReplicated(builder.getContext(), 0) : ShardingAttr();
  unsigned index = function.getNumArguments();
  [[maybe_unused]] LogicalResult inserted = function.insertArgument(
      index, RankedTensorType::get({}, builder.getF64Type(), whole), builder.getDictionaryAttr(attributes), location);
  return function.getArgument(index);
}
