//===- unknown_experts.cpp - experts that are not recognized --------------===//

#include "compiler/transforms/import/experts/unknown_experts.h"
#include "compiler/support/layer_names.h"
#include "compiler/transforms/import/experts/call_patterns.h"
#include "compiler/transforms/import/index_functions/call_reader.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include <algorithm>

using namespace mlir;
using namespace meshplan;

namespace {

/// Products with weights of experts.
struct Products {
  plan::CallOp first;
  llvm::StringSet<> members;                                  ///< of a list of modules
  int64_t matrices = 0;                                       ///< of one weight
  llvm::MapVector<Value, llvm::SmallDenseSet<int64_t>> parts; ///< of stacked weights that products read one by one
};

} // namespace

static bool chooses(StringRef target) {
  return llvm::is_contained({"aten.topk.default", "aten.sort.default", "aten.sort.stable", "aten.argsort.default",
                             "aten.argsort.stable", "aten.max.dim", "aten.argmax.default"},
                            target);
}

static bool multiplies(StringRef target) {
  return llvm::is_contained({"aten.linear.default", "aten.mm.default", "aten.addmm.default", "aten.matmul.default",
                             "aten.bmm.default", "aten.baddbmm.default", "aten.einsum.default"},
                            target);
}

/// The lists of modules and the numbers in them: "mlp.experts" and "3", "mlp.experts.3.net" and "0" of
/// "mlp.experts.3.net.0".
static SmallVector<std::pair<StringRef, StringRef>> membersOf(StringRef module) {
  SmallVector<std::pair<StringRef, StringRef>> members;
  for (StringRef rest = module; rest.contains('.'); rest = rest.rsplit('.').first) {
    auto [list, number] = rest.rsplit('.');
    if (!number.empty() && llvm::all_of(number, llvm::isDigit))
      members.push_back({list, number});
  }
  return members;
}

/// The parameter of which a value is a view or conversion, or has copies of parts; or the value.
static Value sourceOf(Value value) {
  value = beforeViews(beforeConversions(value));
  plan::CallOp copies = callOf(value);
  bool isCopy = copies && llvm::is_contained({"aten.index.Tensor", "aten.index_select.default"}, copies.getTarget());
  return isCopy ? beforeViews(beforeConversions(copies.getOperand(0))) : value;
}

/// How many matrices an operand has that is made of a parameter; 0 if there is none, or if all operands are parameters,
/// whose product is another weight.
static int64_t matricesOf(plan::CallOp call) {
  int64_t matrices = 0;
  bool readsActivations = false;
  for (Value operand : call.getOperands()) {
    auto argument = dyn_cast<BlockArgument>(sourceOf(operand));
    bool isWeight = argument && plan::argumentKind(argument) == plan::ArgumentKind::parameter;
    readsActivations |= !isWeight;
    if (isWeight && rankOf(argument) == 3 && rankOf(operand) >= 3)
      matrices = shapeOf(argument).front();
  }
  return readsActivations ? matrices : 0;
}

/// The weight and the number of the matrix that is an operand, `w[e]`; nullopt if there is none.
static std::optional<Pick> partOf(IndexFunctions &functions, plan::CallOp call) {
  for (Value operand : call.getOperands())
    if (std::optional<Pick> pick = pickOf(functions.builder, sourceOf(operand), 0);
        pick && rankOf(pick->tensor) == 3 && plan::isWeight(beforeConversions(pick->tensor)))
      return Pick{beforeConversions(pick->tensor), pick->index};
  return std::nullopt;
}

namespace {

/// Scores of which the best are chosen.
struct Scores {
  int64_t experts = 0;  ///< among which tokens choose
  int64_t choosers = 0; ///< which may be experts that choose tokens; 0: there are none
};

} // namespace

/// True if `product` is computed from what `choice` makes.
static bool dependsOn(plan::CallOp product, plan::CallOp choice) {
  SmallVector<Operation *> ways{product};
  llvm::SmallPtrSet<Operation *, 32> seen;
  while (!ways.empty()) {
    Operation *op = ways.pop_back_val();
    if (op == choice)
      return true;
    for (Value operand : op->getOperands())
      if (Operation *maker = operand.getDefiningOp();
          maker && !maker->isBeforeInBlock(choice) && seen.insert(maker).second)
        ways.push_back(maker);
  }
  return false;
}

static Scores scoresOf(plan::CallOp choice) {
  Value scores = choice.getOperand(0);
  int64_t rank = rankOf(scores);
  std::optional<int64_t> dim = countedDim(CallView::of(choice).getInt("dim", -1), rank);
  // Numbers are sorted for their order.
  if (!dim || !isa<FloatType>(elementOf(scores)))
    return {};
  int64_t other = *dim == rank - 1 ? rank - 2 : rank - 1;
  return {shapeOf(scores)[*dim], other >= 0 ? shapeOf(scores)[other] : 0};
}

SmallVector<UnknownExperts> meshplan::findUnknownExperts(Block &block) {
  // Products by list, or by the module that has the stacked weights.
  IndexFunctions functions;
  llvm::MapVector<StringRef, Products> lists, stacks;
  for (auto call : block.getOps<plan::CallOp>()) {
    StringRef module = call.getModule().value_or("");
    if (!multiplies(call.getTarget()))
      continue;
    if (int64_t matrices = matricesOf(call)) {
      Products &products = stacks[module];
      products.first = products.first ? products.first : call;
      products.matrices = matrices;
      continue;
    }
    if (std::optional<Pick> part = partOf(functions, call)) {
      Products &products = stacks[module];
      products.first = products.first ? products.first : call;
      llvm::SmallDenseSet<int64_t> &parts = products.parts[part->tensor];
      parts.insert(part->index);
      products.matrices = std::max(products.matrices, static_cast<int64_t>(parts.size()));
      continue;
    }
    for (auto [list, number] : membersOf(module)) {
      Products &products = lists[list];
      products.first = products.first ? products.first : call;
      products.members.insert(number);
    }
  }
  SmallVector<UnknownExperts> found;
  llvm::StringSet<> seen;
  for (auto choice : block.getOps<plan::CallOp>()) {
    if (!chooses(choice.getTarget()) || choice.getNumOperands() != 1)
      continue;
    // A router is a module beside the experts, or a part of the module that has them.
    StringRef own = choice.getModule().value_or(""), parent = own.contains('.') ? own.rsplit('.').first : own;
    Scores scores = scoresOf(choice);
    auto isBeside = [&](StringRef module) {
      // The root has everything in it, of which its own parts are beside its router.
      return own.empty() ? !module.contains('.')
                         : module == own || isInside(module, own) || (parent != own && isInside(module, parent));
    };
    auto report = [&](StringRef module, const Products &products, int64_t count) {
      // Of the module that has the router, weights are beside it; as a list, it is one of layers.
      bool isOwner = products.matrices > 0 && module == parent;
      // One choice more may be that of no expert.
      bool isChosen = count == scores.experts || count + 1 == scores.experts;
      // The experts of tokens may compute all of them. Those that choose compute what they have chosen.
      bool choose = !isChosen && count == scores.choosers && dependsOn(products.first, choice);
      if (count > 1 && (isChosen || choose) && (isOwner || isBeside(module)) && seen.insert(own).second)
        found.push_back(
            {products.first, choice, (module == own || isInside(module, own) ? own : parent).str(), choose});
    };
    for (const auto &[module, products] : lists)
      report(module, products, products.members.size());
    for (const auto &[module, products] : stacks)
      report(module, products, products.matrices);
  }
  return found;
}
