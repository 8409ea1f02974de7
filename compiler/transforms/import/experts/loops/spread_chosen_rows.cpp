//===- spread_chosen_rows.cpp - rows that are chosen by data --------------===//
//
// See SpreadChosenRows in passes.td.
//
//===----------------------------------------------------------------------===//

#include "compiler/sharding/families/random_ops.h"
#include "compiler/support/layer_names.h"
#include "compiler/transforms/import/experts/call_patterns.h"
#include "compiler/transforms/import/experts/loops/chosen_rows.h"
#include "compiler/transforms/import/experts/loops/row_spreader.h"
#include "compiler/transforms/import/passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace meshplan {
#define GEN_PASS_DEF_SPREADCHOSENROWS
#include "compiler/transforms/import/passes.h.inc"
} // namespace meshplan

using namespace mlir;
using namespace meshplan;

static void refuse(plan::CallOp call) {
  bool isOwn = llvm::any_of(call.getResults(), hasChosenRows);
  auto name = dyn_cast<NameLoc>(call.getLoc());
  auto error = call.emitError() << "the shape of " << (isOwn ? "'" : "an operand of '")
                                << (name ? name.getName().getValue() : call.getTarget())
                                << "' depends on data, in a form that is not known for experts";
  error.attachNote(call.getLoc()) << "it is " << operatorText(call.getTarget(), call.getModule());
  if (drawsRandomNumbers(CallView::of(call))) {
    error.attachNote(call.getLoc()) << helpWithDraws;
    return;
  }
  error.attachNote(call.getLoc())
      << "help: use operations whose result shape follows from the shapes of the inputs; in a "
         "loop over experts, take their tokens with torch.where(ids == e) and add the results "
         "times the gates with index_add";
}

namespace {

struct SpreadChosenRowsPass : meshplan::impl::SpreadChosenRowsBase<SpreadChosenRowsPass> {
  void runOnOperation() final {
    for (Block &block : getOperation().getBody())
      if (plan::CallOp call = spreadRows(block)) {
        refuse(call);
        return signalPassFailure();
      }
  }
};

} // namespace
