//===- arguments.cpp - arguments of a compute op --------------------------===//
//
// The kind of an argument follows from the attribute alone, without the schema of the operator:
//
//   attribute                                    kind
//   unit                                         none
//   #base.operand                                value
//   list of #base.operand, unit for None         value_list
//   integer, #base.local                         integer
//   list of these, dense array, empty list       int_list
//   float, bool, string, type                    real, boolean, string, dtype
//   list or dense array of float or bool         real_list, bool_list
//
// An empty list does not say what it is a list of. The kernel finds no element in it, so int_list serves for all.
//
//===----------------------------------------------------------------------===//

#include "compiler/target/artifact/arguments.h"
#include "compiler/target/artifact/elements.h"

using namespace mlir;
using meshplan::artifact::ArgKind;
using meshplan::artifact::ArgT;
using meshplan::artifact::IntExpr;

namespace meshplan {

static IntExpr literal(int64_t value) { return IntExpr(value, /*value=*/-1, /*dim=*/0, 0, 0); }

namespace {
/// Builds one argument. Each `add` returns false if the attribute is of another kind.
class ArgumentBuilder {
public:
  ArgumentBuilder(sched::ComputeOp op, const ValueNumbers &numbers) : op(op), numbers(numbers) {}

  std::unique_ptr<ArgT> build(Attribute attribute);

private:
  bool addScalar(Attribute attribute);
  bool addList(ArrayAttr list);
  bool addDenseArray(Attribute attribute);
  bool addInteger(Attribute attribute);
  int32_t numberOf(sched::OperandRefAttr operand) { return numbers.lookup(op.getOperands()[operand.getIndex()]); }

  sched::ComputeOp op;
  const ValueNumbers &numbers;
  std::unique_ptr<ArgT> arg = std::make_unique<ArgT>();
};
} // namespace

static bool isInteger(Attribute attribute) {
  return isa<sched::LocalIntAttr>(attribute) || (isa<IntegerAttr>(attribute) && !isa<BoolAttr>(attribute));
}

bool ArgumentBuilder::addInteger(Attribute attribute) {
  if (!isInteger(attribute))
    return false;
  if (auto integer = dyn_cast<IntegerAttr>(attribute)) {
    arg->ints.push_back(literal(integer.getValue().getSExtValue()));
    return true;
  }
  auto local = cast<sched::LocalIntAttr>(attribute);
  Value tensor = local.getOfResult() ? Value(op.getResults()[local.getIndex()]) : op.getOperands()[local.getIndex()];
  arg->ints.emplace_back(local.getConstant(), numbers.lookup(tensor), static_cast<int32_t>(local.getDim()),
                         local.getOffsetScale(), local.getExtentScale());
  if (local.getMicrobatchScale()) {
    // The integers before this one do not depend on the microbatch: their scales become 0. Most arguments have no scale
    // at all, and then the file has no vector.
    arg->microbatch_scales.resize(arg->ints.size());
    arg->microbatch_scales.back() = local.getMicrobatchScale();
  }
  return true;
}

bool ArgumentBuilder::addScalar(Attribute attribute) {
  if (isa<UnitAttr>(attribute)) {
    arg->kind = ArgKind::none;
  } else if (auto operand = dyn_cast<sched::OperandRefAttr>(attribute)) {
    arg->kind = ArgKind::value;
    arg->values = {numberOf(operand)};
  } else if (auto boolean = dyn_cast<BoolAttr>(attribute)) {
    arg->kind = ArgKind::boolean;
    arg->bools = {boolean.getValue()};
  } else if (addInteger(attribute)) {
    arg->kind = ArgKind::integer;
  } else if (auto real = dyn_cast<FloatAttr>(attribute)) {
    arg->kind = ArgKind::real;
    arg->reals = {real.getValueAsDouble()};
  } else if (auto text = dyn_cast<StringAttr>(attribute)) {
    arg->kind = ArgKind::string;
    arg->text = text.str();
  } else if (auto type = dyn_cast<TypeAttr>(attribute)) {
    std::optional<artifact::DType> dtype = toDType(type.getValue());
    arg->kind = ArgKind::dtype;
    arg->dtype = dtype.value_or(artifact::DType::f32);
    return dtype.has_value();
  } else {
    return false;
  }
  return true;
}

bool ArgumentBuilder::addList(ArrayAttr list) {
  auto all = [&](auto predicate) { return llvm::all_of(list, predicate); };
  if (!list.empty() && all([](Attribute item) { return isa<sched::OperandRefAttr, UnitAttr>(item); })) {
    arg->kind = ArgKind::value_list;
    for (Attribute item : list) {
      auto operand = dyn_cast<sched::OperandRefAttr>(item);
      arg->values.push_back(operand ? numberOf(operand) : -1);
    }
  } else if (all(isInteger)) {
    arg->kind = ArgKind::int_list;
    for (Attribute item : list)
      addInteger(item);
  } else if (all([](Attribute item) { return isa<BoolAttr>(item); })) {
    arg->kind = ArgKind::bool_list;
    for (auto item : list.getAsRange<BoolAttr>())
      arg->bools.push_back(item.getValue());
  } else if (all([](Attribute item) { return isa<FloatAttr>(item); })) {
    arg->kind = ArgKind::real_list;
    for (auto item : list.getAsRange<FloatAttr>())
      arg->reals.push_back(item.getValueAsDouble());
  } else {
    return false;
  }
  return true;
}

bool ArgumentBuilder::addDenseArray(Attribute attribute) {
  if (auto integers = dyn_cast<DenseI64ArrayAttr>(attribute)) {
    arg->kind = ArgKind::int_list;
    for (int64_t value : integers.asArrayRef())
      arg->ints.push_back(literal(value));
  } else if (auto reals = dyn_cast<DenseF64ArrayAttr>(attribute)) {
    arg->kind = ArgKind::real_list;
    arg->reals = reals.asArrayRef();
  } else if (auto booleans = dyn_cast<DenseBoolArrayAttr>(attribute)) {
    arg->kind = ArgKind::bool_list;
    arg->bools.assign(booleans.asArrayRef().begin(), booleans.asArrayRef().end());
  } else {
    return false;
  }
  return true;
}

std::unique_ptr<ArgT> ArgumentBuilder::build(Attribute attribute) {
  auto list = dyn_cast<ArrayAttr>(attribute);
  bool known = list ? addList(list) : addScalar(attribute) || addDenseArray(attribute);
  if (!arg->microbatch_scales.empty())
    arg->microbatch_scales.resize(arg->ints.size());
  return known ? std::move(arg) : nullptr;
}

FailureOr<std::unique_ptr<ArgT>> toArg(sched::ComputeOp op, NamedAttribute argument, const ValueNumbers &numbers) {
  std::unique_ptr<ArgT> arg = ArgumentBuilder(op, numbers).build(argument.getValue());
  if (!arg)
    return op.emitOpError() << "argument '" << argument.getName().strref() << "' of '" << op.getTarget() << "' is "
                            << argument.getValue() << ", which the artifact cannot represent";
  arg->name = argument.getName().str();
  return arg;
}

} // namespace meshplan
