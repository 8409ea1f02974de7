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
#include "compiler/transforms/import/experts/routed_calls.h"
#include "compiler/transforms/import/experts/routed_region.h"
#include "compiler/transforms/import/experts/stacked_experts.h"
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
  return llvm::to_vector(llvm::make_filter_range(
      call.getOperands(), [](Value operand) { return rankOf(operand) == 1 && isa<IntegerType>(elementOf(operand)); }));
}

static void explain(Operation *obstacle, std::optional<StringRef> module, const Twine &why) {
  auto remark = obstacle->emitRemark() << "experts of " << moduleText(module.value_or(""))
                                       << " are computed as the model writes them: " << why;
  auto call = dyn_cast<plan::CallOp>(obstacle);
  remark.attachNote() << (call && drawsRandomNumbers(CallView::of(call))
                              ? helpWithDraws
                              : "help: choose experts with topk, and compute on each row alone between the products "
                                "with their weights");
}

/// Returns the module that it names.
static StringRef explain(const RoutedRegion &region) {
  auto call = dyn_cast<plan::CallOp>(region.obstacle);
  std::optional<StringRef> module = call ? call.getModule() : std::nullopt;
  if (!region.steps.empty())
    module = plan::CallOp(region.steps.front().place).getModule();
  explain(region.obstacle, module, region.why);
  return module.value_or("");
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
    IndexFunctions functions;
    llvm::DenseSet<Value> seen;
    llvm::StringSet<> explained; // modules
    bool isAnyBuilt = false;
    for (auto call : llvm::make_early_inc_range(block.getOps<plan::CallOp>())) {
      for (Value ids : possibleIds(call))
        if (seen.insert(ids).second)
          isAnyBuilt |= replace(readRoutedRegion(functions, ids), explained);
      if (call.getTarget() == "aten.add.Tensor" || call.getTarget() == "aten.sum.dim_IntList")
        isAnyBuilt |= replace(readEqualExperts(functions, call), explained);
      if (call.getTarget() == "aten.sum.dim_IntList")
        isAnyBuilt |= replace(readStackedExperts(functions, call), explained);
      if (call.getTarget() == "aten.einsum.default")
        isAnyBuilt |= replace(readCapacityExperts(functions, call), explained);
    }
    if (isAnyBuilt) {
      eraseUnread(block);
      // Rows that the sum over slots needed until now are tokens with dims again.
      unmergeRowRegions(block);
      eraseUnread(block);
    }
    for (auto call : block.getOps<plan::CallOp>())
      if (StringRef module = call.getModule().value_or(""); takesCapacity(call) && explained.insert(module).second)
        explain(call, module,
                operatorText(call.getTarget(), call.getModule()) +
                    " takes tokens by their position among those of an expert, up to a capacity");
  }
};

} // namespace
