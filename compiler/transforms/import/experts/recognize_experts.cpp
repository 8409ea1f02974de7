//===- recognize_experts.cpp - recognizes the experts of a mixture --------===//
//
// See RecognizeExperts in passes.td.
//
//===----------------------------------------------------------------------===//

#include "compiler/sharding/families/random_ops.h"
#include "compiler/support/layer_names.h"
#include "compiler/transforms/import/erase_unread.h"
#include "compiler/transforms/import/experts/call_patterns.h"
#include "compiler/transforms/import/experts/capacity/capacity_experts.h"
#include "compiler/transforms/import/experts/capacity/capacity_products.h"
#include "compiler/transforms/import/experts/equal_experts.h"
#include "compiler/transforms/import/experts/expert_gates.h"
#include "compiler/transforms/import/experts/loops/merge_slots.h"
#include "compiler/transforms/import/experts/routed_calls.h"
#include "compiler/transforms/import/experts/routed_region.h"
#include "compiler/transforms/import/experts/stacked_experts.h"
#include "compiler/transforms/import/experts/unknown_experts.h"
#include "compiler/transforms/import/passes.h"
#include "compiler/transforms/import/rows/unmerge_rows.h"
#include "llvm/ADT/StringSet.h"

namespace meshplan {
#define GEN_PASS_DEF_RECOGNIZEEXPERTS
#include "compiler/transforms/import/passes.h.inc"
} // namespace meshplan

using namespace mlir;
using namespace meshplan;

/// Tensors that a call may read as numbers of experts: what it sorts, or takes parts of a parameter by.
static SmallVector<Value> possibleIds(plan::CallOp call) {
  StringRef target = call.getTarget();
  if (llvm::is_contained({"aten.sort.default", "aten.sort.stable", "aten.argsort.default", "aten.argsort.stable"},
                         target))
    return call.getNumOperands() == 1 ? SmallVector<Value>{call.getOperand(0)} : SmallVector<Value>();
  if (target != "aten.index.Tensor" && target != "aten.index_select.default")
    return {};
  // By numbers with a dim for the slots, parts are copies of weights.
  bool areMatrices = rankOf(call.getOperand(0)) > 2 && isa<FloatType>(elementOf(call.getOperand(0)));
  return llvm::to_vector(llvm::make_filter_range(call.getOperands(), [&](Value operand) {
    return isa<IntegerType>(elementOf(operand)) && (rankOf(operand) == 1 || (rankOf(operand) > 1 && areMatrices));
  }));
}

static void explain(Operation *obstacle, std::optional<StringRef> module, const Twine &why, StringRef help = {}) {
  if (help.empty())
    help = "help: choose experts with topk, and compute on each row alone between the products with their weights";
  auto remark = obstacle->emitRemark() << "experts of " << moduleText(module.value_or(""))
                                       << " are computed as the model writes them: " << why;
  auto call = dyn_cast<plan::CallOp>(obstacle);
  remark.attachNote() << (call && drawsRandomNumbers(CallView::of(call)) ? StringRef(helpWithDraws) : help);
}

/// Returns the module that it names.
static StringRef explain(const RoutedRegion &region) {
  auto call = dyn_cast<plan::CallOp>(region.obstacle);
  std::optional<StringRef> module = call ? call.getModule() : std::nullopt;
  if (!region.steps.empty())
    module = plan::CallOp(region.steps.front().place).getModule();
  explain(region.obstacle, module, region.why, region.help);
  return module.value_or("");
}

static void explain(UnknownExperts unknown) {
  std::string choice = operatorText(unknown.choice.getTarget(), unknown.choice.getModule());
  if (unknown.choosesTokens)
    return explain(unknown.product, unknown.module,
                   choice + " chooses tokens for each expert, not experts for each token",
                   "help: divide the weights by the dim that numbers experts, as by 'parameter { WEIGHT: split 0 over "
                   "AXIS }', or the features of each expert by 'colwise' and 'rowwise'");
  explain(unknown.product, unknown.module,
          choice + " chooses some of them, but what " +
              operatorText(unknown.product.getTarget(), unknown.product.getModule()) +
              " makes is weighed and summed in a form that is not known",
          "help: add what each expert makes times a gate that is 0 for tokens that have not chosen it, or compute the "
          "tokens of 'torch.where(indices == e)' alone");
}

/// True if the region has been replaced. Adds the module of one that stays to `explained`.
static bool replace(const std::optional<RoutedRegion> &region, llvm::StringSet<> &explained) {
  if (!region || !region->multiplies)
    return false;
  if (region->obstacle)
    explained.insert(explain(*region));
  if (region->obstacle || !region->isComplete())
    return false;
  buildRoutedCalls(*region);
  return true;
}

/// The same for a product of gates and what experts make.
static bool replaceProduct(SparseGatesReader &gates, plan::CallOp product, llvm::StringSet<> &explained) {
  SpelledOutSum spelled = spellOutExpertSum(gates, product);
  if (!spelled.sum)
    return false;
  product.getResult(0).replaceAllUsesWith(spelled.result);
  if (replace(readEqualExperts(gates, spelled.sum), explained) ||
      replace(readStackedExperts(gates, spelled.sum), explained))
    return true;
  spelled.result.replaceAllUsesWith(product.getResult(0));
  return false;
}

namespace {

struct RecognizeExpertsPass : meshplan::impl::RecognizeExpertsBase<RecognizeExpertsPass> {
  void runOnOperation() final {
    for (Block &block : getOperation().getBody())
      recognize(block);
  }

private:
  static void recognize(Block &block) {
    // What nothing reads would otherwise count as a reader.
    eraseUnread(block);
    mergeSlots(block);
    eraseUnread(block);
    IndexFunctions functions;
    SparseGatesReader gates(functions);
    llvm::DenseSet<Value> seen;
    llvm::StringSet<> explained; // modules
    bool isAnyBuilt = false;
    for (auto call : llvm::make_early_inc_range(block.getOps<plan::CallOp>())) {
      for (Value ids : possibleIds(call))
        if (seen.insert(ids).second)
          isAnyBuilt |= replace(readRoutedRegion(functions, ids), explained);
      if (call.getTarget() == "aten.add.Tensor" || call.getTarget() == "aten.sum.dim_IntList")
        isAnyBuilt |= replace(readEqualExperts(gates, call), explained);
      if (call.getTarget() == "aten.sum.dim_IntList")
        isAnyBuilt |= replace(readStackedExperts(gates, call), explained);
      if (call.getTarget() == "aten.einsum.default")
        isAnyBuilt |=
            replace(readCapacityExperts(functions, call), explained) || replaceProduct(gates, call, explained);
      if (call.getTarget() == "aten.bmm.default" || call.getTarget() == "aten.matmul.default")
        isAnyBuilt |= replaceProduct(gates, call, explained);
    }
    // Values of gates may have been computed for nothing.
    eraseUnread(block);
    if (isAnyBuilt) {
      // Rows that the sum over slots needed until now are tokens with dims again.
      unmergeRowRegions(block);
      eraseUnread(block);
    }
    explainRemaining(block, explained);
  }

  static void explainRemaining(Block &block, llvm::StringSet<> &explained) {
    IndexFunctions functions;
    SparseGatesReader gates(functions);
    for (auto call : llvm::make_early_inc_range(block.getOps<plan::CallOp>())) {
      StringRef module = call.getModule().value_or("");
      if (takesCapacity(call) && explained.insert(module).second)
        explain(call, module,
                operatorText(call.getTarget(), call.getModule()) +
                    " takes tokens by their position among those of an expert, up to a capacity");
      if (hasUnknownGates(gates, call) && explained.insert(module).second)
        explain(call, module,
                operatorText(call.getTarget(), call.getModule()) +
                    " multiplies by gates that are not provably 0 for experts that a token has not chosen",
                "help: make them from the indices of a topk, as by 'torch.zeros_like(scores).scatter(-1, indices, "
                "values)'; a "
                "threshold also chooses experts with equal scores");
    }
    for (const UnknownExperts &unknown : findUnknownExperts(block))
      if (llvm::none_of(explained.keys(),
                        [&](StringRef module) { return module == unknown.module || isInside(module, unknown.module); }))
        explain(unknown);
    eraseUnread(block);
  }
};

} // namespace
