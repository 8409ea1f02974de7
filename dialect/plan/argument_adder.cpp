//===- argument_adder.cpp - many new arguments of a function --------------===//

#include "dialect/plan/argument_adder.h"

using namespace mlir;
using namespace meshplan::plan;

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
