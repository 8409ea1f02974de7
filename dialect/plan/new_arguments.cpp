//===- new_arguments.cpp - arguments that passes add ----------------------===//

#include "dialect/plan/new_arguments.h"
#include "dialect/plan/attributes.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

static bool isNamed(FunctionOpInterface function, BlockArgument argument, StringRef name) {
  auto names = argAttr<attr::Names>(function, argument.getArgNumber());
  return names && !names.empty() && cast<StringAttr>(names[0]).getValue() == name;
}

BlockArgument meshplan::plan::settingArgument(FunctionOpInterface function, StringRef name, double value, bool isPlaced,
                                              Location location, base::RateScheduleAttr schedule) {
  for (BlockArgument argument : function.getArguments())
    if (argumentKind(argument) == ArgumentKind::setting && isNamed(function, argument, name))
      return argument;
  Builder builder(function.getContext());
  SmallVector<NamedAttribute> attributes{
      named<attr::Kind>(ArgumentKindAttr::get(builder.getContext(), ArgumentKind::setting)),
      named<attr::Names>(builder.getStrArrayAttr({name})), named<attr::Value>(builder.getF64FloatAttr(value))};
  if (schedule)
    attributes.push_back(named<attr::Schedule>(schedule));
  ShardingAttr whole = isPlaced ? ShardingAttr::getReplicated(builder.getContext(), 0) : ShardingAttr();
  // At the end, so that the numbers of the other arguments stay.
  unsigned index = function.getNumArguments();
  [[maybe_unused]] LogicalResult inserted = function.insertArgument(
      index, RankedTensorType::get({}, builder.getF64Type(), whole), builder.getDictionaryAttr(attributes), location);
  return function.getArgument(index);
}

BlockArgument ArgumentAdder::add(Type type, ArrayRef<NamedAttribute> attributes, Location location) {
  added.push_back(DictionaryAttr::get(function.getContext(), attributes));
  return function.getFunctionBody().addArgument(type, location);
}

void ArgumentAdder::write() {
  if (added.empty())
    return;
  SmallVector<DictionaryAttr> all;
  function.getAllArgAttrs(all);
  all.append(added);
  added.clear();
  SmallVector<Type> types(function.getFunctionBody().getArgumentTypes());
  function.setType(function.cloneTypeWith(types, function.getResultTypes()));
  function.setAllArgAttrs(all);
}

void meshplan::plan::removeArgumentAttributes(FunctionOpInterface function, ArrayRef<StringRef> names) {
  SmallVector<DictionaryAttr> all;
  function.getAllArgAttrs(all);
  for (DictionaryAttr &attributes : all) {
    NamedAttrList kept(attributes);
    for (StringRef name : names)
      kept.erase(name);
    attributes = kept.getDictionary(function.getContext());
  }
  function.setAllArgAttrs(all);
}
