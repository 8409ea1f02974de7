//===- expert_counts.cpp - numbers of rows by expert ----------------------===//
//
//   histc(ids, experts, 0, experts - 1), bincount(ids, minlength=experts)
//   sum of one_hot(ids), of ids == arange(experts), or of a mask of chosen experts, over all dims but the last

#include "compiler/transforms/import/experts/expert_counts.h"
#include "compiler/transforms/import/experts/call_patterns.h"
#include "compiler/transforms/import/index_functions/call_reader.h"
#include "llvm/ADT/Sequence.h"
#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace meshplan;
using namespace meshplan::indexing;

/// True if the type has every number up to `most`.
static bool hasNumbersTo(Type type, int64_t most) {
  if (auto integer = dyn_cast<IntegerType>(type))
    return integer.getWidth() >= 32;
  return type.isF64() || (type.isF32() && most < (1 << 24));
}

/// The operand of a conversion between types that have all numbers up to `most`; or null.
static Value beforeExactConversion(Value value, int64_t most) {
  plan::CallOp call = callOf(value);
  bool isExact = call && convertsElements(call) && hasNumbersTo(elementOf(value), most) &&
                 hasNumbersTo(elementOf(call.getOperand(0)), most);
  return isExact ? Value(call.getOperand(0)) : Value();
}

Value meshplan::sourceOfNumbers(Value ids) {
  // Numbers of experts are far below this; a model with more would round them itself.
  constexpr int64_t most = (1 << 24) - 1;
  while (plan::CallOp call = callOf(ids)) {
    bool isMoved =
        keepsOrder(call) ||
        llvm::is_contained({"aten.transpose.int", "aten.permute.default", "aten.t.default"}, call.getTarget());
    Value before = isMoved ? Value(call.getOperand(0)) : beforeExactConversion(ids, most);
    if (!before)
      break;
    ids = before;
  }
  return ids;
}

/// True if a histogram has a bin of its own for each number below `experts`, in their order.
static bool hasOwnBins(const CallView &view, int64_t experts) {
  double low = view.getFloat("min", 0), high = view.getFloat("max", 0);
  if (view.getInt("bins", 100) != experts || !(low < high))
    return false;
  // The last bin has its upper bound, too.
  return llvm::all_of(llvm::seq(experts), [&](int64_t expert) {
    auto number = static_cast<double>(expert);
    double bin = std::floor((number - low) * static_cast<double>(experts) / (high - low));
    return number >= low && number <= high && std::min(bin, static_cast<double>(experts - 1)) == number;
  });
}

/// The numbers of which `vectors` [.., experts] have a 1 at each, and 0 elsewhere; or null.
static Value idsOfVectors(SparseGatesReader &gates, Value vectors) {
  vectors = beforeConversions(vectors);
  int64_t experts = shapeOf(vectors).back();
  if (plan::CallOp hot = callOf(vectors, "aten.one_hot.default"))
    return hot.getOperand(0);
  if (plan::CallOp equal = callOf(vectors, "aten.eq.Tensor"); equal && equal.getNumOperands() == 2) {
    for (unsigned side : {0, 1}) {
      Value ids = equal.getOperand(side), numbers = equal.getOperand(1 - side);
      Indices coordinates = coordinatesOf(gates.functions.builder, shapeOf(numbers));
      if (isa<IntegerType>(elementOf(ids)) && rankOf(ids) == rankOf(vectors) && shapeOf(ids).back() == 1 &&
          shapeOf(ids).drop_back() == shapeOf(vectors).drop_back() && !coordinates.empty() &&
          shapeOf(numbers).back() == experts && isSameForRows(numbers) &&
          gates.functions.of(numbers) == coordinates.back())
        return ids;
    }
    return {};
  }
  std::optional<SparseGates> sparse = gates.read(vectors);
  bool isMask = sparse && !sparse->values && sparse->number == 1 && sparse->fill == 0;
  return isMask ? sparse->indices : Value();
}

/// The operand of a sum over some of the dims but the last; or null.
static Value summedOverRows(Value value) {
  plan::CallOp call = callOf(value, "aten.sum.dim_IntList");
  if (!call)
    return {};
  CallView view = CallView::of(call);
  std::optional<SmallVector<int64_t>> dims = view.getInts("dim");
  int64_t rank = rankOf(call.getOperand(0));
  bool isOverRows = dims && !dims->empty() && !view.getBool("keepdim", false) && llvm::all_of(*dims, [&](int64_t dim) {
                      std::optional<int64_t> counted = countedDim(dim, rank);
                      return counted && *counted != rank - 1;
                    });
  return isOverRows ? Value(call.getOperand(0)) : Value();
}

namespace {

/// Follows values back from the ends. Conversions have to be exact for the number of pairs, which is known last.
class EndsReader {
public:
  explicit EndsReader(SparseGatesReader &gates) : gates(gates) {}

  CountedExperts read(Value ends);

private:
  Value readCounts();
  void skipConversions();
  void follow(Value value) {
    at = value;
    path.push_back(value);
  }

  SparseGatesReader &gates;
  Value at; ///< the earliest value that has been read
  SmallVector<Value> path;
};

} // namespace

void EndsReader::skipConversions() {
  while (Value before = beforeExactConversion(at, 0))
    follow(before);
}

/// The numbers that are counted; or null.
Value EndsReader::readCounts() {
  int64_t experts = shapeOf(at).back();
  if (plan::CallOp call = callOf(at)) {
    CallView view = CallView::of(call);
    bool isBins = view.target == "aten.histc.default" && hasOwnBins(view, experts);
    bool isCount =
        view.target == "aten.bincount.default" && view.getInt("minlength", 0) == experts && !view.getOperand("weights");
    if (isBins || isCount)
      return tensorArgument(call, view, "self");
  }
  while (Value summed = summedOverRows(at)) {
    if (Value ids = idsOfVectors(gates, summed))
      return ids;
    follow(summed);
    skipConversions();
  }
  return {};
}

CountedExperts EndsReader::read(Value ends) {
  if (!ends || rankOf(ends) != 1)
    return {{}, ends};
  follow(ends);
  skipConversions();
  plan::CallOp sum = callOf(at, "aten.cumsum.default");
  if (!sum || countedDim(CallView::of(sum).getInt("dim", 1), 1) != 0)
    return {{}, at};
  follow(sum.getOperand(0));
  skipConversions();
  Value ids = readCounts();
  bool isExact =
      ids && llvm::all_of(path, [&](Value value) {
        plan::CallOp maker = callOf(value);
        return hasNumbersTo(elementOf(value), maker && convertsElements(maker) ? typeOf(ids).getNumElements() : 0);
      });
  return {isExact ? ids : Value(), at};
}

CountedExperts meshplan::readEnds(SparseGatesReader &gates, Value ends) { return EndsReader(gates).read(ends); }
