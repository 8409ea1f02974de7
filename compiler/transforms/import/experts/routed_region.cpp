//===- routed_region.cpp - the experts' part of a mixture -----------------===//
//
// Every value that is computed from the chosen experts gets a meaning, from the ids on, in program order. A reader
// gives its results a meaning from those of its operands. Values that come from outside of the region, such as the
// tokens and the gates, are read by the functions of chosen_experts.h.
//
// Example: 64 tokens, 2 slots, 8 experts, in the order of experts
//
//   ids       [128]      ids = view(topk(..)#1)
//   order     [128]      sort(ids)#1          the pair at each position
//   ids       [128]      sort(ids)#0          in that order
//   tokens    [128]      order // 2
//   rows      [128, 32]  x[tokens]            dispatch of x [4, 16, 32], which a view made [64, 32]
//   ends      [8]        cumsum(histc(ids))   read backwards from the product (expert_counts.h)
//   rows      [128, 96]  grouped_mm(rows, w, ends)      product
//   rows      [128, 96]  silu(rows)                     compute
//   rows      [128, 32]  grouped_mm(rows, v, ends)      product
//   rows      [128]      gates[order]                   dispatch of gates
//   rows      [128, 32]  rows * gates                   compute
//   inverse   [128]      index_put(empty, order, arange)
//   rows      [128, 32]  rows[inverse]                  the same rows, in the order of pairs
//   rows      [64, 2, 32]                               the same rows
//   result    [64, 32]   sum over the slots             combine
//
// In the batched form there is no order: the weights of each pair's expert are copied, w[ids] [128, 96, 32], and
// multiplied with the rows one by one. The pairs may have two dims, w[indices] [64, 2, 96, 32]; then a product may read
// the rows of the tokens themselves: einsum("tkfh,th->tkf", w[indices], x).
//
// Numbers of pairs may have readers that mean nothing here: they keep reading what they read. Rows may not, because the
// region would then be computed twice.

#include "compiler/transforms/import/experts/routed_region.h"
#include "compiler/support/layer_names.h"
#include "compiler/transforms/import/experts/region_reader.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::indexing;

SmallVector<int64_t> meshplan::featuresOf(Value value, const RoutedRows &rows) {
  SmallVector<int64_t> features(shapeOf(value).drop_front(rows.lead));
  if (rows.unit != 0)
    features.erase(features.end() + rows.unit);
  return features;
}

void RoutedRegion::setTokenDims() {
  tokenDims = {chosen.tokens};
  const auto *first = llvm::find_if(steps, [](const RoutedStep &step) { return step.kind == RoutedStep::dispatch; });
  if (first != steps.end())
    tokenDims.assign(shapeOf(first->from).drop_back().begin(), shapeOf(first->from).drop_back().end());
}

const PairValue *RoutedRegionReader::pairsOf(Value value, PairMeaning meaning) const {
  auto found = value ? numbers.find(value) : numbers.end();
  return found != numbers.end() && found->second.meaning == meaning ? &found->second : nullptr;
}

const RoutedRows *RoutedRegionReader::rowsOf(Value value) const {
  auto found = value ? region.rows.find(value) : region.rows.end();
  return found != region.rows.end() ? &found->second : nullptr;
}

void RoutedRegionReader::follow(Value value) {
  known.insert(value);
  for (Operation *user : value.getUsers())
    if (user->getBlock() == ids.getParentBlock() && (!last || last->isBeforeInBlock(user)))
      last = user;
}

bool RoutedRegionReader::readCall(plan::CallOp call) {
  if (call.getNumResults() == 0)
    return false;
  using Reader = bool (RoutedRegionReader::*)(plan::CallOp, const CallView &);
  Reader reader =
      llvm::StringSwitch<Reader>(call.getTarget())
          .Cases({"aten.sort.default", "aten.sort.stable", "aten.argsort.default", "aten.argsort.stable"},
                 &RoutedRegionReader::readSort)
          .Cases({"aten.floor_divide.default", "aten.div.Tensor_mode", "aten.div.Scalar_mode"},
                 &RoutedRegionReader::readQuotient)
          .Cases({"aten.to.dtype", "aten.to.dtype_layout", "aten._to_copy.default"},
                 &RoutedRegionReader::readConversion)
          .Cases({"aten.index.Tensor", "aten.index_select.default", "aten.gather.default"},
                 &RoutedRegionReader::readLookup)
          .Cases({"aten.index_put.default", "aten.scatter.src", "aten.index_copy.default"},
                 &RoutedRegionReader::readWritten)
          .Cases({"meshplan.grouped_mm", "aten._grouped_mm.default"}, &RoutedRegionReader::readGroupedProduct)
          .Cases({"aten.bmm.default", "aten.matmul.default"}, &RoutedRegionReader::readPairProducts)
          .Case("aten.einsum.default", &RoutedRegionReader::readEinsum)
          .Case("aten.add.Tensor", &RoutedRegionReader::readSum)
          .Case("aten.sum.dim_IntList", &RoutedRegionReader::readReduction)
          .Cases({"aten.index_add.default", "aten.scatter_add.default"}, &RoutedRegionReader::readAddedRows)
          .Cases({"aten.slice.Tensor", "aten.split.Tensor", "aten.split_with_sizes.default", "aten.chunk.default"},
                 &RoutedRegionReader::readSlice)
          .Cases({"aten.transpose.int", "aten.permute.default"}, &RoutedRegionReader::readExchange)
          .Default(keepsOrder(call) ? &RoutedRegionReader::readView : &RoutedRegionReader::readPointwise);
  return (this->*reader)(call, CallView::of(call));
}

void RoutedRegionReader::visit(Operation *op) {
  auto call = dyn_cast<plan::CallOp>(op);
  if (call && readCall(call))
    return;
  if (isMovementOfNumbers(call))
    follow(call.getResult(0));
  bool readsRows = llvm::any_of(op->getOperands(), [&](Value operand) {
    return isInside(operand) && (rowsOf(operand) || pairsOf(operand, PairMeaning::weights));
  });
  bool isProduct = call && llvm::is_contained({"meshplan.grouped_mm", "aten._grouped_mm.default"}, call.getTarget());
  if (readsRows || isProduct)
    refuse(op, call ? operatorText(call.getTarget(), call.getModule()) + " reads their rows in a form that is not known"
                    : "the model returns their rows");
}

RoutedRegion RoutedRegionReader::read() {
  PairValue all{PairMeaning::ids};
  all.lead = rankOf(ids);
  define(ids, all);
  Operation *op = ids.getDefiningOp() ? ids.getDefiningOp()->getNextNode() : &ids.getParentBlock()->front();
  for (; op && last; op = op->getNextNode()) {
    if (llvm::any_of(op->getOperands(), [&](Value operand) { return isInside(operand); }))
      visit(op);
    if (op == last || region.obstacle)
      break;
  }
  region.setTokenDims();
  // Numbers that may repeat are those of experts only if all else is as in a mixture.
  if (region.chosen.experts == 0 && (region.obstacle || !region.isComplete()))
    region.multiplies = false;
  if (region.chosen.experts == 0) {
    Operation *maker = region.chosen.indices.getDefiningOp();
    region.obstacle = maker ? maker : region.chosen.indices.getParentBlock()->getParentOp();
    region.why = region.chosen.slots > 1 ? "a token may choose an expert twice"
                                         : "the number that a token has is not provably one of an expert";
    region.help =
        region.chosen.slots > 1 ? StringRef() : "help: make it by topk or argmax of scores, or by 'numbers % experts'";
  }
  return std::move(region);
}

std::optional<RoutedRegion> meshplan::readRoutedRegion(IndexFunctions &functions, Value ids) {
  std::optional<ChosenExperts> chosen = findChosenExperts(functions, ids);
  return chosen ? std::optional(RoutedRegionReader(functions, ids, *chosen).read()) : std::nullopt;
}
