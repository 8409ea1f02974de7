//===- creation.cpp - calls that create tensors from literals -------------===//

#include "compiler/transforms/import/index_functions/call_reader.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::indexing;

/// True if the argument is absent or an integer. arange with real bounds rounds, and is not supported.
static bool isIntegerOrAbsent(const CallReader &reader, StringRef name) {
  Attribute argument = reader.call.get(name);
  return !argument || (isa<IntegerAttr>(argument) && !isa<BoolAttr>(argument));
}

/// start + step * d0
static Expr readArange(CallReader &reader) {
  if (!isIntegerOrAbsent(reader, "start") || !isIntegerOrAbsent(reader, "end") || !isIntegerOrAbsent(reader, "step") ||
      reader.coordinates.size() != 1 || !isa<IntegerType>(reader.result.getElementType()))
    return nullptr;
  Expr steps = reader.builder.multiply(reader.coordinates[0], reader.call.getInt("step", 1));
  return reader.builder.add(reader.builder.integer(reader.call.getInt("start", 0)), steps);
}

template <int64_t Value> static Expr readFilled(CallReader &reader) {
  return reader.convert(reader.builder.integer(Value));
}

static Expr readFull(CallReader &reader) { return reader.convert(reader.readBroadcast("fill_value")); }

static Expr readScalar(CallReader &reader) { return reader.convert(reader.readBroadcast("s")); }

void meshplan::addCreationFunctions(CallFunctions &functions) {
  for (StringRef target : {"aten.arange.default", "aten.arange.start", "aten.arange.start_step"})
    functions[target] = readArange;
  for (StringRef target : {"aten.zeros.default", "aten.new_zeros.default", "aten.zeros_like.default"})
    functions[target] = readFilled<0>;
  for (StringRef target : {"aten.ones.default", "aten.new_ones.default", "aten.ones_like.default"})
    functions[target] = readFilled<1>;
  for (StringRef target : {"aten.full.default", "aten.new_full.default", "aten.full_like.default"})
    functions[target] = readFull;
  functions["aten.scalar_tensor.default"] = readScalar;
}
