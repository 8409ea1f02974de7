//===- messages.cpp - diagnostics of styles -------------------------------===//
//
// Each function reports one fault: what cannot be done, for which statement, and the help with what the plan should say
// instead. They are apart from the passes so that these read as decisions.
//
//===----------------------------------------------------------------------===//

#include "compiler/transforms/place/messages.h"
#include "compiler/sharding/axes.h"
#include "compiler/sharding/dataflow/expert_weights.h"
#include "compiler/sharding/layout_text.h"
#include "compiler/sharding/op_record.h"
#include "compiler/support/layer_names.h"
#include "compiler/support/parts_clause.h"
#include "dialect/plan/attributes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <numeric>

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

std::string meshplan::dimText(int64_t dim, BlockArgument parameter) {
  return ("dim " + Twine(dim) + " of '" + parameterName(parameter) + "'").str();
}

/// The name of the parameter within its module.
static StringRef leafName(BlockArgument parameter) {
  StringRef name = parameterName(parameter);
  return name.drop_front(name.rfind('.') + 1);
}

LogicalResult meshplan::reportNoFeatures(StyleOp style, FeatureFault fault, bool isParameter) {
  auto diagnostic = style.emitError() << moduleText(style.getModule()) << " cannot be " << style.getText() << ": ";
  StringRef kind = style.getKind() == StyleKind::colwise ? "output" : "input";
  if (fault.grouped) {
    CallView view = CallView::of(fault.grouped);
    diagnostic << "'" << view.target << "' has " << view.getInt("groups", 1) << " groups, and no style splits the "
               << kind << " features of groups";
    diagnostic.attachNote()
        << "help: use 'colwise', which splits whole groups with their inputs and outputs, or 'replicate'";
    return failure();
  }
  if (fault.parameter && fault.isWhole) {
    diagnostic << "'" << fault.call.getTarget() << "' needs the " << kind << " features of '"
               << parameterName(fault.parameter) << "' whole";
    diagnostic.attachNote() << "help: use 'replicate'";
    return failure();
  }
  if (fault.parameter) {
    diagnostic << "the dim of '" << parameterName(fault.parameter) << "' that holds " << kind
               << " features is not known after '" << fault.call.getTarget() << "'";
    diagnostic.attachNote() << "help: state the dim to split, as 'parameter { " << leafName(fault.parameter)
                            << ": split 0 over " << axisWords(toAxes(style.getAxes())) << " }'";
    return failure();
  }
  diagnostic << (isParameter ? "it has no " : "none of its parameters has ") << kind << " features that can be split";
  diagnostic.attachNote() << "help: use 'replicate'" << (isParameter ? "" : ", or 'sequence' for a normalization");
  return failure();
}

LogicalResult meshplan::reportUnused(StyleOp style, bool isParameter) {
  auto diagnostic = style.emitError() << moduleText(style.getModule()) << " cannot be " << style.getText()
                                      << ": nothing that the model returns is computed "
                                      << (isParameter ? "from it" : "in it");
  diagnostic.attachNote() << "help: use 'replicate'";
  return failure();
}

LogicalResult meshplan::reportSmallDim(InFlightDiagnostic diagnostic, const Twine &what, int64_t size,
                                       ArrayRef<AxisRefAttr> axes, MeshOp mesh) {
  diagnostic << what << " has size " << size << ", fewer than " << describeAxes(axes, mesh);
  if (size == 1)
    diagnostic.attachNote() << "help: use 'replicate'";
  else
    diagnostic.attachNote() << "help: " << axisNames(axes) << " can be at most " << size;
  return failure();
}

LogicalResult meshplan::reportWrongParts(InFlightDiagnostic diagnostic, ArrayRef<int64_t> parts,
                                         BlockArgument parameter, int64_t dim, ArrayRef<int64_t> known) {
  diagnostic << dimText(dim, parameter) << " has size " << cast<RankedTensorType>(parameter.getType()).getDimSize(dim)
             << ", which is not a multiple of " << std::accumulate(parts.begin(), parts.end(), int64_t(0))
             << ", the sum of 'parts'";
  if (known.empty())
    diagnostic.attachNote() << "help: choose sizes in 'parts' whose sum divides it";
  else
    diagnostic.attachNote() << partsHelp(known);
  return failure();
}

static constexpr const char *onePlacement = "help: modules that share a parameter need one placement";

LogicalResult meshplan::reportTwoPlacements(StyleOp style, BlockArgument parameter) {
  auto function = cast<func::FuncOp>(parameter.getOwner()->getParentOp());
  auto text = argAttr<attr::Style>(function, parameter.getArgNumber());
  auto diagnostic = style.emitError() << "parameter '" << parameterName(parameter) << "' has two placements: '"
                                      << (text ? text.getValue() : "") << "' and '" << style.getText() << "'";
  diagnostic.attachNote(parameter.getLoc()) << "the other statement is here";
  diagnostic.attachNote()
      << "help: 'parameter' is for parameters that no style of the module splits: remove one of the two";
  return failure();
}

LogicalResult meshplan::reportTwoStyles(StyleOp style, ShardingAttr sharding, StyleOp other, ShardingAttr otherSharding,
                                        BlockArgument parameter) {
  auto diagnostic = style.emitError() << "parameter '" << parameterName(parameter) << "' has two placements: '"
                                      << style.getText() << "' of " << moduleText(style.getModule()) << " splits "
                                      << describeSplits(sharding);
  diagnostic.attachNote(other.getLoc()) << "'" << other.getText() << "' of " << moduleText(other.getModule())
                                        << " splits " << describeSplits(otherSharding);
  diagnostic.attachNote() << onePlacement;
  return failure();
}

/// Where a style of experts belongs; empty if nothing in the model routes tokens, or if it is where it belongs.
static std::string homeOfExperts(StyleOp style, func::FuncOp function) {
  StringRef module = style.getModule(), elsewhere = pathOfExperts(function), text = style.getText();
  std::map<std::string, int64_t> lists = listsOfExperts(function);
  auto around = [&](StringRef path) {
    return llvm::find_if(lists, [&](const auto &list) { return isInside(path, list.first); });
  };
  if (auto list = around(module); list != lists.end())
    return ("'" + module + "' is in one of the experts of '" + list->first + "': write '" +
            withoutIndices(list->first) + ": " + text + "' for their list")
        .str();
  if (StringRef part = partOfExperts(function, module); !part.empty() && around(part) == lists.end())
    return ("'" + part + "' is of one expert, and '" + text +
            "' divides parameters that have all of them: make the "
            "experts modules of an 'nn.ModuleList', or their weights one parameter")
        .str();
  if (auto list = around(elsewhere); list != lists.end())
    return "'" + list->first + "' has experts: write '" + withoutIndices(list->first) + ": " + text.str() + "'";
  return elsewhere.empty() || elsewhere == module ? std::string()
                                                  : ("'" + elsewhere + "' routes tokens to experts; write '" +
                                                     stringifyStyleKind(style.getKind()) + "' there")
                                                        .str();
}

/// Reports a style of experts at a module that has none. The help is where it belongs, or else what to write.
static LogicalResult reportNoRouting(StyleOp style, func::FuncOp function, StringRef fault, StringRef withoutMixture,
                                     StringRef here) {
  InFlightDiagnostic diagnostic = style.emitError() << moduleText(style.getModule()) << " " << fault;
  std::string home = homeOfExperts(style, function);
  if (home.empty() && pathOfExperts(function).empty())
    home = ("no routing to experts was recognized in this model; use " + withoutMixture).str();
  diagnostic.attachNote(style.getLoc()) << "help: " << (home.empty() ? here.str() : home);
  return diagnostic;
}

/// The weights in a module that have a matrix for each of as many experts.
static SmallVector<BlockArgument> stacksIn(func::FuncOp function, StringRef module) {
  SmallVector<BlockArgument> stacks;
  int64_t experts = 0;
  for (BlockArgument argument : function.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!isWeight(argument) || !type || type.getRank() < 3 || type.getDimSize(0) < 2 ||
        (experts != 0 && type.getDimSize(0) != experts))
      continue;
    StringRef name = parameterName(argument), holder = name.contains('.') ? name.rsplit('.').first : "";
    if (holder != module && (module.empty() || !isInside(holder, module)))
      continue;
    experts = type.getDimSize(0);
    stacks.push_back(argument);
  }
  return stacks;
}

namespace {

/// Who chooses whom where there are n experts.
enum class Choice { none, ofExperts, ofTokens };

} // namespace

static Choice choiceAmong(func::FuncOp function, int64_t experts) {
  Choice found = Choice::none;
  for (auto call : function.getOps<CallOp>()) {
    bool chooses = llvm::is_contained({"aten.topk.default", "aten.sort.default", "aten.sort.stable", "aten.max.dim",
                                       "aten.argmax.default", "aten.argsort.default", "aten.argsort.stable"},
                                      call.getTarget());
    auto scores = chooses ? dyn_cast<RankedTensorType>(call.getOperand(0).getType()) : RankedTensorType();
    if (!scores || !isa<FloatType>(scores.getElementType()) || scores.getRank() < 1)
      continue;
    CallView view = CallView::of(call);
    int64_t dim = view.getInt("dim", -1), chosen = dim < 0 ? dim + scores.getRank() : dim;
    if (chosen >= 0 && chosen < scores.getRank() && scores.getDimSize(chosen) == experts)
      return Choice::ofExperts;
    if (llvm::is_contained(scores.getShape().take_back(2), experts))
      found = Choice::ofTokens;
  }
  return found;
}

/// What to write at weights of experts whose rows no choice of tokens gives; empty if the module has none.
static std::string helpWithStacks(StyleOp style, func::FuncOp function) {
  StringRef module = style.getModule();
  SmallVector<BlockArgument> stacks = stacksIn(function, module);
  if (stacks.empty())
    return {};
  Choice choice = choiceAmong(function, cast<RankedTensorType>(stacks.front().getType()).getDimSize(0));
  std::string why = choice == Choice::ofExperts  ? "its mixture is computed as the model writes it, as a warning says: "
                    : choice == Choice::ofTokens ? "each expert chooses tokens, not each token experts: "
                                                 : "every token goes to all of its experts: ";
  std::string axes = axisWords(toAxes(style.getAxes())), layouts;
  for (BlockArgument stack : stacks) {
    StringRef name = parameterName(stack);
    // The modules of a list, whose parameters are stacked for this statement alone.
    if (name.contains('.') && name.rsplit('.').first != module)
      return why + "divide the features in each of its modules by 'colwise' and 'rowwise', as by '" +
             withoutIndices(module) + ".*" + name.rsplit('.').first.drop_front(module.size()).str() + ": colwise " +
             axes + "'";
    layouts += (layouts.empty() ? "" : "; ") + leafName(stack).str() + ": split 0 over " + axes;
  }
  return why + "divide the weights by the dim that numbers experts, as by 'parameter { " + layouts + " }'";
}

LogicalResult meshplan::reportNoExperts(StyleOp style, func::FuncOp function) {
  constexpr StringLiteral whole = "'replicate', or 'parameter { WEIGHT: split DIM over AXIS }' for the weights";
  constexpr StringLiteral fault = "routes nothing: no weight of it has a matrix for each expert that computes the "
                                  "tokens which chose the expert";
  if (std::string help = helpWithStacks(style, function); !help.empty()) {
    InFlightDiagnostic diagnostic = style.emitError() << moduleText(style.getModule()) << " " << fault;
    diagnostic.attachNote(style.getLoc()) << "help: " << help;
    return diagnostic;
  }
  return reportNoRouting(style, function, fault, whole, ("use " + whole).str());
}

LogicalResult meshplan::reportNoFeaturesInside(StyleOp style, func::FuncOp function) {
  return reportNoRouting(style, function,
                         "has no features inside experts: no product of rows of tokens with the weights of their "
                         "experts feeds another one",
                         "'colwise' for the modules that make features, and 'rowwise' for those that contract them",
                         "write 'expert', which divides whole experts");
}

LogicalResult meshplan::reportNoSequenceDim(StyleOp style) {
  auto diagnostic = style.emitError() << moduleText(style.getModule()) << " cannot be " << style.getText()
                                      << ": no result of it has a dim " << style.getDim();
  diagnostic.attachNote() << "help: 'sequence tp dim n' names another dim";
  return failure();
}

LogicalResult meshplan::reportShortSequence(StyleOp style, int64_t extent, ArrayRef<AxisRefAttr> axes, MeshOp mesh) {
  std::string what = ("dim " + Twine(style.getDim()) + " of the output of " + moduleText(style.getModule())).str();
  return reportSmallDim(style.emitError(), what, extent, axes, mesh);
}

void meshplan::warnOfOnlyKeyHead(StyleOp style, BlockArgument parameter, ArrayRef<AxisRefAttr> axes, MeshOp mesh) {
  auto diagnostic = style.emitWarning() << "'" << parameterName(parameter)
                                        << "' computes the only KV head of its attention: it is replicated over "
                                        << describeAxes(axes, mesh);
  diagnostic.attachNote() << "help: use 'replicate' to silence this warning";
}

std::string meshplan::axisNames(ArrayRef<AxisRefAttr> axes) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::interleave(axes, stream, [&](AxisRefAttr axis) { stream << axisText(axis); }, " x ");
  return text;
}

std::string meshplan::axisWords(ArrayRef<AxisRefAttr> axes) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::interleaveComma(axes, stream, [&](AxisRefAttr axis) { stream << axisText(axis); });
  return axes.size() > 1 ? "(" + text + ")" : text;
}

std::string meshplan::describeAxes(ArrayRef<AxisRefAttr> axes, MeshOp mesh) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::interleaveComma(axes, stream,
                        [&](AxisRefAttr axis) { stream << axisText(axis) << " = " << resolveAxis(axis, mesh).size; });
  return text;
}

std::string meshplan::describeSplits(ShardingAttr sharding) {
  std::string text;
  for (auto [index, dim] : llvm::enumerate(sharding.getDims()))
    if (!dim.getAxes().empty())
      text += (text.empty() ? "dim " : ", dim ") + std::to_string(index) + " over " + axisNames(dim.getAxes());
  return text;
}
