//===- precision.cpp - reference calls in a precision ---------------------===//

#include "runtime/verify/precision.h"

using namespace meshplan;

DType meshplan::dtypeIn(Precision precision, DType dtype) {
  return precision == Precision::wide && isFloat(dtype) ? DType::f64 : dtype;
}

/// Converts aten._grouped_mm(self, mat2, offs) to the composed kernel, which has no other arguments.
static void compose(ReferenceCall &call) {
  call.target = "meshplan.composed_grouped_mm";
  std::erase_if(call.arguments, [](const Argument &argument) {
    return std::holds_alternative<std::monostate>(argument.content) || argument.name == "out_dtype";
  });
  for (Argument &argument : call.arguments)
    if (argument.name == "self")
      argument.name = "input";
    else if (argument.name == "mat2")
      argument.name = "weight";
}

ReferenceCall meshplan::callIn(Precision precision, ReferenceCall call) {
  for (Argument &argument : call.arguments)
    if (auto *dtype = std::get_if<DType>(&argument.content))
      *dtype = dtypeIn(precision, *dtype);
  // LibTorch does not have this product in f64.
  bool isWideProduct = precision == Precision::wide && call.target == "aten._grouped_mm.default";
  if (call.target == "meshplan.grouped_mm" || isWideProduct)
    compose(call);
  if (call.target == "aten.copy.default") {
    call.target = "meshplan.composed_copy";
    std::erase_if(call.arguments, [](const Argument &argument) { return argument.name == "non_blocking"; });
  }
  return call;
}
