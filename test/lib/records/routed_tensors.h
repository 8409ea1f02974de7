//===- routed_tensors.h - routed operands and results -----------*- C++ -*-===//
//
// Tensors that are routed to experts exist only inside a program: neither a feed nor a file has the rows of a rank. The
// program of a sample therefore routes random tokens to make its routed operands, and its outputs are sums over the
// rows of its routed results.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_TEST_LIB_RECORDS_ROUTED_TENSORS_H
#define MESHPLAN_TEST_LIB_RECORDS_ROUTED_TENSORS_H

#include "dialect/plan/plan.h"
#include "mlir/IR/Builders.h"
#include <functional>

namespace meshplan {

/// The routed tensors of one program. The builder must outlive this.
class RoutedTensors {
public:
  /// Adds an argument of the program. Its element numbers follow from `name`, which may end with a range.
  using AddArgument = std::function<mlir::Value(mlir::RankedTensorType type, const std::string &name)>;

  /// Each token has `slots` experts. Without a mesh the program runs on one rank, and nothing is divided.
  RoutedTensors(mlir::OpBuilder &builder, int64_t slots, plan::MeshOp mesh, AddArgument addArgument)
      : builder(builder), slots(slots), mesh(mesh), addArgument(std::move(addArgument)) {}

  /// Routes tokens at random; the table and the counts have this type, [experts, tokens..], and sharding.
  void route(mlir::RankedTensorType type, plan::ShardingAttr sharding);
  /// Uses the results of a route instead.
  void setRoute(mlir::Value madeTable, mlir::Value madeCounts) { table = madeTable, counts = madeCounts; }

  /// An operand of this kind: "table", "counts", "numbers", integers of rows, or "rows", which have features or not.
  /// `number` is that of the operand.
  mlir::Value make(llvm::StringRef kind, mlir::RankedTensorType type, plan::ShardingAttr sharding, size_t number);

  /// A tensor of the tokens or of their slots, which every row of a result of this kind changes.
  mlir::Value sum(llvm::StringRef kind, mlir::Value value);

private:
  using Dims = llvm::SmallVector<plan::DimShardingAttr>;

  mlir::RankedTensorType typeOf(llvm::ArrayRef<int64_t> shape, mlir::Type element, const Dims &dims,
                                llvm::ArrayRef<plan::AxisRefAttr> partial = {});
  mlir::Value argument(llvm::ArrayRef<int64_t> shape, mlir::Type element, const Dims &dims, const llvm::Twine &name);
  mlir::Value call(llvm::StringRef target, mlir::TypeRange results,
                   llvm::ArrayRef<std::pair<llvm::StringRef, mlir::Value>> tensors,
                   llvm::ArrayRef<std::pair<llvm::StringRef, mlir::Attribute>> literals = {});
  mlir::Value rowsWithFeatures(mlir::RankedTensorType type, plan::ShardingAttr sharding, size_t number);
  mlir::Value collect(mlir::Value rows);
  mlir::Value combine(mlir::Value rows);
  plan::DimShardingAttr whole();
  Dims dimsOf(plan::ShardingAttr sharding, int64_t first, int64_t count);
  llvm::SmallVector<int64_t> withTokens(int64_t last);
  Dims tokenDims(plan::DimShardingAttr last);

  mlir::OpBuilder &builder;
  int64_t slots;
  plan::MeshOp mesh;
  AddArgument addArgument;
  mlir::Value table, counts;
};

} // namespace meshplan

#endif // MESHPLAN_TEST_LIB_RECORDS_ROUTED_TENSORS_H
