//===- argument_names.cpp - names of arguments of a program ---------------===//

#include "compiler/sharding/calls/argument_names.h"
#include "dialect/plan/attributes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

StringRef meshplan::parameterName(BlockArgument parameter) {
  auto function = cast<func::FuncOp>(parameter.getOwner()->getParentOp());
  auto names = plan::argAttr<plan::attr::Names>(function, parameter.getArgNumber());
  return names && !names.empty() ? cast<StringAttr>(names[0]).getValue() : StringRef("parameter");
}

std::optional<unsigned> meshplan::batchDimOf(BlockArgument argument) {
  auto function = cast<func::FuncOp>(argument.getOwner()->getParentOp());
  auto names = plan::argAttr<plan::attr::Dims>(function, argument.getArgNumber());
  if (!names)
    return std::nullopt;
  for (auto [dim, name] : llvm::enumerate(names.getAsRange<StringAttr>()))
    if (name.getValue() == "batch")
      return dim;
  return std::nullopt;
}
