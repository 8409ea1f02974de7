//===- routed_tensors.cpp - routed operands and results -------------------===//

#include "routed_tensors.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

static RankedTensorType tensorOf(Value value) { return cast<RankedTensorType>(value.getType()); }

DimShardingAttr RoutedTensors::whole() { return DimShardingAttr::get(builder.getContext(), {}); }

RoutedTensors::Dims RoutedTensors::dimsOf(ShardingAttr sharding, int64_t first, int64_t count) {
  return mesh ? Dims(sharding.getDims().slice(first, count)) : Dims(count, whole());
}

/// [tokens.., last]
SmallVector<int64_t> RoutedTensors::withTokens(int64_t last) {
  SmallVector<int64_t> shape(tensorOf(table).getShape().drop_front());
  shape.push_back(last);
  return shape;
}

RoutedTensors::Dims RoutedTensors::tokenDims(DimShardingAttr last) {
  Dims dims = dimsOf(getSharding(table), 1, tensorOf(table).getRank() - 1);
  dims.push_back(last);
  return dims;
}

RankedTensorType RoutedTensors::typeOf(ArrayRef<int64_t> shape, Type element, const Dims &dims,
                                       ArrayRef<AxisRefAttr> partial) {
  Reduction reduction = partial.empty() ? Reduction::none : Reduction::sum;
  auto sharding = ShardingAttr::get(builder.getContext(), dims, reduction, partial);
  return withSharding(RankedTensorType::get(shape, element), sharding);
}

Value RoutedTensors::argument(ArrayRef<int64_t> shape, Type element, const Dims &dims, const llvm::Twine &name) {
  return addArgument(typeOf(shape, element, dims), name.str());
}

Value RoutedTensors::call(StringRef target, TypeRange results, ArrayRef<std::pair<StringRef, Value>> tensors,
                          ArrayRef<std::pair<StringRef, Attribute>> literals) {
  NamedAttrList args;
  SmallVector<Value> operands;
  for (auto [name, tensor] : tensors) {
    args.set(name, OperandRefAttr::get(builder.getContext(), operands.size()));
    operands.push_back(tensor);
  }
  for (auto [name, literal] : literals)
    args.set(name, literal);
  return CallOp::create(builder, builder.getUnknownLoc(), results, builder.getStringAttr(target), operands,
                        args.getDictionary(builder.getContext()), StringAttr())
      .getResult(0);
}

void RoutedTensors::route(RankedTensorType type, ShardingAttr sharding) {
  int64_t rank = type.getRank(), experts = type.getDimSize(0);
  SmallVector<int64_t> shape(type.getShape().drop_front());
  shape.push_back(slots);
  Dims dims = dimsOf(sharding, 1, rank - 1);
  dims.push_back(whole());
  Value indices = argument(shape, type.getElementType(), dims, "1000:0:" + llvm::Twine(experts));
  RankedTensorType routed = typeOf(type.getShape(), type.getElementType(), dimsOf(sharding, 0, rank));
  table = call("meshplan.route", {routed, routed}, {{"indices", indices}},
               {{"first", builder.getI64IntegerAttr(0)}, {"experts", builder.getI64IntegerAttr(experts)}});
  counts = table.getDefiningOp()->getResult(1);
}

/// Products of tokens with a matrix of each expert, which differ between the rows of a token. Addends of a rank are
/// products over its share of the contracted features.
Value RoutedTensors::rowsWithFeatures(RankedTensorType type, ShardingAttr sharding, size_t number) {
  int64_t rank = type.getRank(), experts = type.getDimSize(0), features = type.getShape().back();
  ArrayRef<AxisRefAttr> partial = mesh ? sharding.getPartialAxes() : ArrayRef<AxisRefAttr>();
  // As many as divide evenly, so that programs with and without a mesh have the same arguments.
  constexpr int64_t contracted = 6;
  DimShardingAttr ofContracted = DimShardingAttr::get(builder.getContext(), partial);
  Type element = type.getElementType();
  Value tokens = argument(withTokens(contracted), element, tokenDims(ofContracted), llvm::Twine(100 + number));
  Dims dims = dimsOf(sharding, 0, rank - 1), weightDims{dims.front()};
  weightDims.append(dimsOf(sharding, rank - 1, 1));
  weightDims.push_back(ofContracted);
  Value weight = argument({experts, features, contracted}, element, weightDims, llvm::Twine(200 + number));
  dims.push_back(ofContracted);
  SmallVector<int64_t> shape(type.getShape());
  shape.back() = contracted;
  Value rows = call("meshplan.dispatch", typeOf(shape, element, dims), {{"self", tokens}, {"table", table}},
                    {{"slots", builder.getI64IntegerAttr(slots)}});
  return call("meshplan.grouped_linear", typeOf(type.getShape(), element, dimsOf(sharding, 0, rank), partial),
              {{"rows", rows}, {"weight", weight}, {"counts", counts}});
}

Value RoutedTensors::make(StringRef kind, RankedTensorType type, ShardingAttr sharding, size_t number) {
  if (kind == "table")
    return table;
  if (kind == "counts")
    return counts;
  int64_t rank = tensorOf(table).getRank();
  if (kind == "numbers") {
    Type element = type.getElementType();
    Value numbers = argument(withTokens(slots), element, tokenDims(whole()), llvm::Twine(300 + number) + ":0:1000");
    return call("meshplan.dispatch_gates", typeOf(type.getShape(), element, dimsOf(sharding, 0, rank)),
                {{"gates", numbers}, {"table", table}});
  }
  if (type.getRank() > rank)
    return rowsWithFeatures(type, sharding, number);
  SmallVector<int64_t> shape(type.getShape());
  shape.push_back(2);
  Dims dims(sharding.getDims());
  dims.push_back(whole());
  auto withFeatures = ShardingAttr::get(builder.getContext(), dims, sharding.getReduction(), sharding.getPartialAxes());
  Value rows = rowsWithFeatures(RankedTensorType::get(shape, type.getElementType()), withFeatures, number);
  ArrayRef<AxisRefAttr> partial = mesh ? sharding.getPartialAxes() : ArrayRef<AxisRefAttr>();
  return call("aten.sum.dim_IntList",
              typeOf(type.getShape(), type.getElementType(), dimsOf(sharding, 0, rank), partial), {{"self", rows}},
              {{"dim", builder.getI64ArrayAttr({rank})}});
}

/// Ranks with other experts have the other addends of a sum of rows.
static SmallVector<AxisRefAttr> addendAxes(Value rows) {
  ShardingAttr sharding = getSharding(rows);
  SmallVector<AxisRefAttr> axes(sharding.getPartialAxes());
  llvm::append_range(axes, sharding.getDims().front().getAxes());
  return axes;
}

Value RoutedTensors::collect(Value rows) {
  SmallVector<int64_t> size = withTokens(slots);
  return call("meshplan.collect_gates",
              typeOf(size, tensorOf(rows).getElementType(), tokenDims(whole()), addendAxes(rows)),
              {{"rows", rows}, {"table", table}}, {{"size", builder.getI64ArrayAttr(size)}});
}

Value RoutedTensors::combine(Value rows) {
  RankedTensorType type = tensorOf(rows);
  SmallVector<int64_t> size = withTokens(type.getShape().back());
  return call("meshplan.combine",
              typeOf(size, type.getElementType(), tokenDims(getSharding(rows).getDims().back()), addendAxes(rows)),
              {{"rows", rows}, {"table", table}},
              {{"slots", builder.getI64IntegerAttr(slots)}, {"size", builder.getI64ArrayAttr(size)}});
}

Value RoutedTensors::sum(StringRef kind, Value value) {
  RankedTensorType type = tensorOf(value);
  int64_t rank = tensorOf(table).getRank();
  if (kind == "rows")
    return type.getRank() > rank ? combine(value) : collect(value);
  Type element = builder.getF32Type();
  Dims dims = dimsOf(getSharding(value), 0, rank);
  if (kind == "table") {
    Value gates = argument(withTokens(slots), element, tokenDims(whole()), "1001");
    return collect(
        call("meshplan.dispatch_gates", typeOf(type.getShape(), element, dims), {{"gates", gates}, {"table", value}}));
  }
  constexpr int64_t features = 3;
  SmallVector<int64_t> shape(type.getShape());
  shape.push_back(features);
  dims.push_back(whole());
  Value tokens = argument(withTokens(features), element, tokenDims(whole()), "1002");
  Value bias = argument({type.getDimSize(0), features}, element, {dims.front(), whole()}, "1003");
  RankedTensorType rowsType = typeOf(shape, element, dims);
  Value rows = call("meshplan.dispatch", rowsType, {{"self", tokens}, {"table", table}},
                    {{"slots", builder.getI64IntegerAttr(slots)}});
  return combine(call("meshplan.grouped_bias", rowsType, {{"rows", rows}, {"bias", bias}, {"counts", value}}));
}
