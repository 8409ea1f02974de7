//===- messages.cpp - what propagation reports ----------------------------===//

#include "compiler/transforms/propagate/messages.h"
#include "compiler/sharding/layout_text.h"
#include "compiler/support/layer_names.h"
#include "compiler/support/parts_clause.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

static bool sums(const CallView &view) {
  FactorRule rule = factorRuleOf(view, OpRegistry::get().lookup(view.target));
  return llvm::any_of(rule.factors, [](const Factor &factor) { return factor.kind == FactorKind::sum; });
}

/// What the parts of a divided dim are called: by the attention that the value flows into, if there is one. Behind a
/// product with weights the parts are others.
static StringRef nameOfParts(Value value) {
  SmallVector<Value> open{value};
  llvm::DenseSet<Value> seen{value};
  for (size_t i = 0; i < open.size(); ++i)
    for (OpOperand &use : open[i].getUses()) {
      auto call = dyn_cast<CallOp>(use.getOwner());
      if (!call)
        continue;
      CallView view = CallView::of(call);
      if (view.target == "meshplan.attention")
        return view.getOperand("query") == use.getOperandNumber() ? "heads" : "KV heads";
      for (Value result : call.getResults())
        if (!sums(view) && seen.insert(result).second)
          open.push_back(result);
    }
  return "groups";
}

/// The module whose result the value is.
static StringRef moduleBehind(Value value, CallOp user) {
  auto producer = value.getDefiningOp<CallOp>();
  return (producer ? producer : user).getModule().value_or("");
}

/// A value that an operator takes apart along the dim that is divided.
static void reportMissingParts(CallOp call, unsigned index, const ProjectionBlock &block, const FactorRule &rule,
                               Location place) {
  Value operand = call.getOperands()[index];
  SmallVector<int64_t> sizes = llvm::map_to_vector(rule.operands[index].dims[block.dim],
                                                   [&](unsigned factor) { return rule.factors[factor].size; });
  auto diagnostic = emitError(place);
  diagnostic << "dim " << block.dim << " of " << moduleText(moduleBehind(operand, call)) << " is parts of ";
  llvm::interleaveComma(sizes, diagnostic);
  diagnostic << " to '" << call.getTarget() << "' in " << moduleText(call.getModule().value_or(""))
             << ", and is divided over " << block.axis.getName() << " as one";
  diagnostic.attachNote() << "help: state the parts of the fused weight: '" << partsClause(sizes) << "'";
}

void meshplan::reportBlockedAxis(CallOp call, unsigned index, const ProjectionBlock &block, const FactorRule &rule,
                                 MeshOp mesh, Location place) {
  if (rule.operands[index].isJoined(block.dim))
    return reportMissingParts(call, index, block, rule, place);
  Value operand = call.getOperands()[index];
  int64_t size = cast<RankedTensorType>(operand.getType()).getDimSize(block.dim);
  int64_t parts = rule.factors[block.factor].size;
  StringRef name = nameOfParts(call.getResult(0)), axis = block.axis.getName();
  int64_t shards = axisSize(block.axis, mesh);
  auto diagnostic = emitError(place);
  diagnostic << "dim " << block.dim << " of size " << size << " of " << moduleText(moduleBehind(operand, call))
             << " is " << parts << " " << name << " of " << size / parts << ", ";
  if (parts < shards) {
    diagnostic << "fewer than " << axis << " = " << shards;
    diagnostic.attachNote() << "help: " << axis << " can be at most " << parts << " (" << name << ", not columns)";
    return;
  }
  diagnostic << "and its shards over " << axis << " = " << shards << " would cut one";
  diagnostic.attachNote() << "help: " << axis << " must divide " << parts << " (" << name << ", not columns)";
}

/// Notes every other statement that divides the operand.
static void noteCauses(InFlightDiagnostic &diagnostic, Value operand, const Layouts &layouts, Location place) {
  for (AxisRefAttr axis : allAxes(getSharding(operand)))
    if (std::optional<Cause> cause = layouts.causeOf(operand, axis))
      if (cause->style && cause->location != place)
        diagnostic.attachNote(cause->location) << "also divided by '" << cause->style.getValue() << "'";
}

/// A statement that makes the operand whole before the call: at the border of the module that it comes from, or of the
/// one that reads it. Empty if it crosses no border.
static std::string wholeAtBorder(Value operand, CallOp user) {
  auto producer = operand.getDefiningOp<CallOp>();
  StringRef to = user.getModule().value_or(""), from = producer ? producer.getModule().value_or("") : "";
  std::string dims = "_";
  for (int64_t dim = 1; dim < cast<RankedTensorType>(operand.getType()).getRank(); ++dim)
    dims += ", _";
  if (from == to || (from.empty() && to.empty()))
    return "";
  return from.empty() ? (to + ": input [" + dims + "]").str() : (from + ": output [" + dims + "]").str();
}

void meshplan::reportUnknownOperator(CallOp call, unsigned index, const Layouts &layouts, Location place) {
  Value operand = call.getOperands()[index];
  auto diagnostic = emitError(place) << "operator '" << call.getTarget() << "' in "
                                     << moduleText(call.getModule().value_or("")) << " has no record, and its operand "
                                     << index << " is " << layoutText(cast<RankedTensorType>(operand.getType()));
  noteCauses(diagnostic, operand, layouts, place);
  std::string whole = wholeAtBorder(operand, call);
  Diagnostic &help = diagnostic.attachNote();
  if (whole.empty())
    help << "help: divide nothing that reaches it, or add a record (docs/adding-an-op.md)";
  else
    help << "help: gather the values before it with '" << whole << "', or add a record (docs/adding-an-op.md)";
}

void meshplan::reportUnstatedReshard(CallOp call, unsigned index, ShardingAttr needed, MeshOp mesh, Location place,
                                     bool isError) {
  Value operand = call.getOperands()[index];
  RankedTensorType wanted = withSharding(operand.getType(), needed);
  auto diagnostic = isError ? emitError(place) : emitWarning(place);
  diagnostic << "nothing in the plan asks for this reshard: '" << call.getTarget() << "' in "
             << moduleText(call.getModule().value_or("")) << " needs " << layoutText(wanted) << ", and gets "
             << layoutText(cast<RankedTensorType>(operand.getType())) << "; " << largestShardBytes(wanted, mesh)
             << " bytes on each rank";
  diagnostic.attachNote() << "help: give the modules that share these values styles that fit together";
}

void meshplan::reportSmallDim(ConstrainOp constrain, int64_t dim, int64_t shards) {
  auto diagnostic = constrain.emitError() << "'" << constrain.getStyle() << "' divides dim " << dim << " of size "
                                          << constrain.getInput().getType().getDimSize(dim) << " by " << shards
                                          << ", which leaves ranks without any";
  diagnostic.attachNote() << "help: divide it by at most its size";
}
