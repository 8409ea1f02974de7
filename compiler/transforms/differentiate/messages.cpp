//===- messages.cpp - diagnostics of differentiation ----------------------===//
//
// A loss that cannot be differentiated is reported at the operator, with the path from the loss to it: the operator may
// be far from anything that the plan names. Of a long path the notes show both ends.
//
//===----------------------------------------------------------------------===//

#include "compiler/transforms/differentiate/messages.h"
#include "compiler/support/layer_names.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringExtras.h"
#include <deque>

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

static constexpr size_t maxNotes = 4;
static constexpr char otherLossHelp[] = "help: name a scalar output, or export the model with its loss";

/// The calls on the shortest path from the loss back to a call.
static SmallVector<CallOp> pathTo(CallOp call, Value loss) {
  llvm::DenseMap<Operation *, Operation *> before;
  std::deque<Operation *> open;
  if (Operation *first = loss.getDefiningOp()) {
    before[first] = nullptr;
    open.push_back(first);
  }
  while (!open.empty() && open.front() != call) {
    for (Value operand : open.front()->getOperands())
      if (Operation *producer = operand.getDefiningOp(); producer && before.insert({producer, open.front()}).second)
        open.push_back(producer);
    open.pop_front();
  }
  SmallVector<CallOp> path;
  for (Operation *op = before.lookup(call); op; op = before.lookup(op))
    if (auto between = dyn_cast<CallOp>(op))
      path.push_back(between);
  return SmallVector<CallOp>(llvm::reverse(path));
}

LogicalResult meshplan::reportNoDerivative(CallOp call, StringRef why, Value loss) {
  auto diagnostic = call.emitError() << "the loss cannot be differentiated through operator "
                                     << operatorText(call.getTarget(), call.getModule()) << ": " << why;
  SmallVector<CallOp> path = pathTo(call, loss);
  // The ends of the path are the most informative.
  for (auto [index, between] : llvm::enumerate(path))
    if (index < maxNotes / 2 || index + maxNotes / 2 >= path.size())
      diagnostic.attachNote(between.getLoc())
          << "on the way from the loss: " << operatorText(between.getTarget(), between.getModule());
    else if (index == maxNotes / 2)
      diagnostic.attachNote(between.getLoc())
          << "then " << path.size() - maxNotes << " more operator" << (path.size() == maxNotes + 1 ? "" : "s");
  diagnostic.attachNote() << "help: detach its inputs, or freeze the parameters on which they depend";
  return failure();
}

LogicalResult meshplan::reportOtherLoss(LossOp statement, StringRef output, RankedTensorType type) {
  std::string shape, element;
  llvm::raw_string_ostream(element) << type.getElementType();
  for (int64_t size : type.getShape())
    shape += (shape.empty() ? "" : ", ") + std::to_string(size);
  auto diagnostic = statement.emitError() << "output '" << output << "' has shape [" << shape << "] and type "
                                          << element << ", but a loss is a float scalar";
  diagnostic.attachNote() << otherLossHelp;
  return failure();
}

LogicalResult meshplan::reportReturnedLoss(LossOp statement, StringRef output) {
  auto diagnostic = statement.emitError()
                    << "output '" << output << "' is an argument that the model returns, but a loss must be computed";
  diagnostic.attachNote() << otherLossHelp;
  return failure();
}

LogicalResult meshplan::reportUnreached(LossOp statement, ArrayRef<StringRef> names, bool isAll) {
  if (isAll) {
    auto diagnostic = statement.emitError("the loss depends on no parameter that is trained");
    diagnostic.attachNote() << "help: name an output that depends on parameters, and train some of them";
    return failure();
  }
  auto diagnostic = statement.emitError() << "the loss does not depend on parameter '" << names.front() << "'";
  if (names.size() > 1)
    diagnostic << " and " << names.size() - 1 << " more";
  for (StringRef name : names.drop_front().take_front(maxNotes))
    diagnostic.attachNote() << "nor on '" << name << "'";
  // Longer lists are better written as patterns.
  constexpr size_t mostListed = 8;
  if (names.size() <= mostListed)
    diagnostic.attachNote() << "help: write 'unused " << llvm::join(names, ", ") << "' if this is intended";
  else
    diagnostic.attachNote() << "help: write 'unused PATH, ...' with paths that match all of them if this is intended";
  return failure();
}

void meshplan::reportReached(Location path, ArrayRef<StringRef> names) {
  auto diagnostic = emitError(path) << "the loss depends on parameter '" << names.front() << "'";
  if (names.size() > 1)
    diagnostic << " and " << names.size() - 1 << " more";
  diagnostic << ", and 'unused' says that it does not";
  for (StringRef name : names.drop_front().take_front(maxNotes))
    diagnostic.attachNote() << "and on '" << name << "'";
  diagnostic.attachNote() << "help: write 'freeze " << names.front()
                          << "' if it is not to be trained, or remove it from 'unused'";
}

void meshplan::reportNothingKept(RecomputeOp statement, StringRef name) {
  auto diagnostic = statement.emitError()
                    << "'keep " << name << "' has no effect: " << moduleText(statement.getModule())
                    << " has no operator '" << name << "'";
  diagnostic.attachNote() << "help: operators have their names in ATen, such as 'linear', and 'attention' is one too";
}

void meshplan::warnNothingRepeated(ArrayRef<RecomputeOp> modules) {
  RecomputeOp first = modules.front();
  auto diagnostic = first.emitWarning() << "'recompute' has no effect on " << moduleText(first.getModule());
  if (modules.size() > 1)
    diagnostic << " and " << modules.size() - 1 << " more";
  diagnostic << ": the backward pass reads no intermediate value of it";
  diagnostic.attachNote() << "help: remove " << (modules.size() > 1 ? "them" : "it") << " from the statement";
}
