//===- unmerge_dims.cpp - keeps dims apart that are split again -----------===//
//
// See UnmergeDims in passes.td.
//
//===----------------------------------------------------------------------===//

#include "compiler/sharding/op_record.h"
#include "compiler/transforms/import/erase_unread.h"
#include "compiler/transforms/import/movement_chain.h"
#include "compiler/transforms/import/passes.h"
#include "compiler/transforms/import/rows/unmerge_rows.h"
#include "dialect/plan/call_builder.h"

namespace meshplan {
#define GEN_PASS_DEF_UNMERGEDIMS
#include "compiler/transforms/import/passes.h.inc"
} // namespace meshplan

using namespace mlir;
using namespace meshplan;

namespace {

/// The tensors of a product of rows with a matrix [output features, input features].
struct RowProduct {
  Value rows, weight, bias; ///< bias may be null
};

} // namespace

static Value operandOf(plan::CallOp call, const CallView &view, StringRef name) {
  std::optional<unsigned> operand = view.getOperand(name);
  return operand ? Value(call.getOperand(*operand)) : Value();
}

/// The matrix whose transpose is `transposed`, or null.
static Value transposeOf(Value transposed) {
  auto call = transposed ? transposed.getDefiningOp<plan::CallOp>() : plan::CallOp();
  bool isTranspose =
      call && typeOf(transposed).getRank() == 2 &&
      llvm::is_contained({"aten.t.default", "aten.transpose.int", "aten.permute.default"}, call.getTarget());
  if (!isTranspose)
    return {};
  MovementChain chain = movementChainOf(transposed);
  return typeOf(chain.root).getRank() == 2 && !llvm::is_sorted(chain.digits.order()) ? chain.root : Value();
}

/// nullopt for other operators, and for products that `aten.linear` cannot express.
static std::optional<RowProduct> readRowProduct(plan::CallOp call) {
  CallView view = CallView::of(call);
  RowProduct product;
  if (view.target == "aten.linear.default") {
    product = {operandOf(call, view, "input"), operandOf(call, view, "weight"), operandOf(call, view, "bias")};
  } else if (view.target == "aten.mm.default") {
    product = {operandOf(call, view, "self"), transposeOf(operandOf(call, view, "mat2")), {}};
  } else if (view.target == "aten.addmm.default" && view.getFloat("alpha", 1) == 1 && view.getFloat("beta", 1) == 1) {
    product = {operandOf(call, view, "mat1"), transposeOf(operandOf(call, view, "mat2")),
               operandOf(call, view, "self")};
    if (!product.bias || typeOf(product.bias).getRank() != 1)
      return std::nullopt;
  }
  bool isProduct = product.rows && product.weight && typeOf(product.rows).getRank() == 2;
  return isProduct ? std::optional(product) : std::nullopt;
}

/// Keeps the dims of a product whose rows merge them in another order than that of the tensor.
static void unmergeRows(plan::CallOp call) {
  std::optional<RowProduct> product = readRowProduct(call);
  if (!product)
    return;
  MovementChain chain = movementChainOf(product->rows);
  // Rows in the order of the tensor are handled above, or cost nothing. In another order, as [6, 4] transposed and
  // merged, neighbouring rows belong to different samples, and a shard of a dim is not a range of rows.
  if (!chain.digits.isReordered(0))
    return;
  SmallVector<int64_t> shape =
      llvm::map_to_vector(chain.digits.dim(0), [&](unsigned digit) { return chain.digits.size(digit); });
  shape.push_back(typeOf(product->rows).getDimSize(1));
  CallBuilder builder("aten.linear.default", call);
  builder.tensor("input", moveAtOnce(chain, shape, call)).tensor("weight", product->weight);
  if (product->bias)
    builder.tensor("bias", product->bias);
  RankedTensorType type = typeOf(call.getResult(0));
  shape.back() = type.getDimSize(1);
  Value wide = builder.build(shape, type.getElementType());
  call.getResult(0).replaceAllUsesWith(CallBuilder("aten.reshape.default", call)
                                           .tensor("self", wide)
                                           .integers("shape", type.getShape())
                                           .build(type.getShape(), type.getElementType()));
}

/// Replaces a chain that merges dims in between by one movement to its end.
static void shortenChain(plan::CallOp call) {
  if (call.getNumResults() != 1)
    return;
  MovementChain chain = movementChainOf(call.getResult(0));
  if (chain.root != call.getResult(0) && chain.digits.mergesOnTheWay())
    call.getResult(0).replaceAllUsesWith(moveAtOnce(chain, typeOf(call.getResult(0)).getShape(), call));
}

namespace {

struct UnmergeDimsPass : meshplan::impl::UnmergeDimsBase<UnmergeDimsPass> {
  void runOnOperation() final {
    for (Block &block : getOperation().getBody()) {
      // Regions first: they remove merges that the single products below would otherwise handle one by one.
      unmergeRowRegions(block);
      eraseUnread(block);
      for (auto call : llvm::make_early_inc_range(block.getOps<plan::CallOp>())) {
        unmergeRows(call);
        shortenChain(call);
      }
      eraseUnread(block);
    }
  }
};

} // namespace
