//===- refuse_random_ops.cpp - refuses random calls -----------------------===//
//
// See RefuseRandomOps in passes.td.
//
//===----------------------------------------------------------------------===//

#include "compiler/sharding/families/random_ops.h"
#include "compiler/support/layer_names.h"
#include "compiler/transforms/import/passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"

namespace meshplan {
#define GEN_PASS_DEF_REFUSERANDOMOPS
#include "compiler/transforms/import/passes.h.inc"
} // namespace meshplan

using namespace mlir;
using namespace meshplan;

static constexpr size_t maxRandomNotes = 3;

static void report(ArrayRef<plan::CallOp> calls) {
  plan::CallOp first = calls.front();
  auto diagnostic = first.emitError() << "operator '" << first.getTarget()
                                      << "' draws random numbers, which is not implemented yet";
  for (plan::CallOp call : calls.take_front(maxRandomNotes))
    diagnostic.attachNote(call.getLoc()) << "in " << moduleText(call.getModule().value_or(""));
  if (calls.size() > maxRandomNotes)
    diagnostic.attachNote(first.getLoc()) << "and " << calls.size() - maxRandomNotes << " more";
  diagnostic.attachNote(first.getLoc()) << "help: export the model in evaluation mode, after 'model.eval()'";
}

namespace {

struct RefuseRandomOpsPass : meshplan::impl::RefuseRandomOpsBase<RefuseRandomOpsPass> {
  void runOnOperation() final {
    llvm::MapVector<StringRef, SmallVector<plan::CallOp>> random;
    getOperation().walk([&](plan::CallOp call) {
      if (drawsRandomNumbers(CallView::of(call)))
        random[call.getTarget()].push_back(call);
    });
    for (auto &[target, calls] : random)
      report(calls);
    if (!random.empty())
      signalPassFailure();
  }
};

} // namespace
