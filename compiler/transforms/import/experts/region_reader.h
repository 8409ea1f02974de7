//===- region_reader.h - reads a routed region ------------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_IMPORT_EXPERTS_REGION_READER_H
#define MESHPLAN_COMPILER_TRANSFORMS_IMPORT_EXPERTS_REGION_READER_H

#include "compiler/transforms/import/experts/call_patterns.h"
#include "compiler/transforms/import/experts/routed_region.h"

namespace meshplan {

/// What a value says about the pairs.
enum class PairMeaning {
  ids,     ///< the expert of each pair
  order,   ///< the pair at each position, in order of the experts
  tokens,  ///< the token of each pair
  inverse, ///< the position of each pair
  weights, ///< for each pair, the part of a parameter that belongs to its expert
};

struct PairValue {
  PairMeaning meaning;
  /// Of ids, tokens and weights: as in RoutedRows. Of order and inverse: the order itself.
  mlir::Value order;
  mlir::Value weight; ///< [experts, ..]
  /// The last two dims of weights are exchanged.
  bool isFlipped = false;
  mlir::Type converted = {}; ///< to which the weights of all pairs have been converted; null: they have not
  unsigned lead = 1;         ///< as in RoutedRows

  mlir::Type element() const { return converted ? converted : elementOf(weight); }
};

/// Reads the region of one choice of experts. Every function named `read...` returns false for what it does not know.
class RoutedRegionReader {
public:
  RoutedRegionReader(IndexFunctions &functions, mlir::Value ids, const ChosenExperts &chosen)
      : functions(functions), builder(functions.builder), ids(ids), experts(chosen.experts) {
    region.chosen = chosen;
  }

  RoutedRegion read();

private:
  bool readCall(plan::CallOp call);
  void visit(mlir::Operation *op);

  // One function for each kind of operator; false if the call is not understood.
  bool readSort(plan::CallOp call, const CallView &view);
  bool readQuotient(plan::CallOp call, const CallView &view);
  bool readConversion(plan::CallOp call, const CallView &view);
  bool readLookup(plan::CallOp call, const CallView &view);
  bool readGroupedProduct(plan::CallOp call, const CallView &view);
  bool readPairProducts(plan::CallOp call, const CallView &view);
  bool readEinsum(plan::CallOp call, const CallView &view);
  bool readWritten(plan::CallOp call, const CallView &view);
  bool readSum(plan::CallOp call, const CallView &view);
  bool readReduction(plan::CallOp call, const CallView &view);
  bool readAddedRows(plan::CallOp call, const CallView &view);
  bool readSlice(plan::CallOp call, const CallView &view);
  bool readExchange(plan::CallOp call, const CallView &view);
  bool readView(plan::CallOp call, const CallView &view);
  bool readPointwise(plan::CallOp call, const CallView &view);
  bool readViewOfNumbers(mlir::Value self, mlir::Value result);
  bool readEndsOfRows(plan::CallOp product, mlir::Value ends);
  bool isMovementOfNumbers(plan::CallOp call) const;
  mlir::Value rowNumbersOf(mlir::Value index);

  bool readReordered(plan::CallOp call, mlir::Value self, const PairValue &index);
  bool readTokens(plan::CallOp call, mlir::Value self, mlir::Value order);
  bool readOfPairs(plan::CallOp call, mlir::Value self, mlir::Value order);
  bool readParts(plan::CallOp call, mlir::Value self, mlir::Value index);
  bool readOutside(plan::CallOp place, mlir::Value value, llvm::ArrayRef<int64_t> leadShape);
  std::optional<PairValue> weightOf(mlir::Value value);
  bool readProduct(plan::CallOp call, mlir::Value input, const PairValue &weight, bool transposed,
                   llvm::ArrayRef<int64_t> leadShape);
  bool readPairEinsum(plan::CallOp call, const PairEinsum &pair);
  bool readGatedEinsum(plan::CallOp call, const PairEinsum &pair);
  bool readGatedProduct(plan::CallOp call, mlir::Value gates, mlir::Value rows);
  bool readGatedSum(plan::CallOp call, mlir::Value value, mlir::Value gates);
  bool readTokenRows(plan::CallOp place, mlir::Value value);

  const PairValue *pairsOf(mlir::Value value, PairMeaning meaning) const;
  const RoutedRows *rowsOf(mlir::Value value) const;
  bool isInside(mlir::Value value) const { return known.contains(value); }
  int64_t pairs() const { return region.chosen.tokens * region.chosen.slots; }
  bool isExperts(int64_t size) {
    // Without a proof, the first reader tells; the region is then only read to see what it is.
    experts = experts == 0 ? size : experts;
    return size == experts;
  }

  /// True if the value is [pairs, *features].
  bool isOfPairs(mlir::Value value, llvm::ArrayRef<int64_t> features) const {
    return rankOf(value) > 0 && shapeOf(value).front() == pairs() && shapeOf(value).drop_front() == features;
  }

  void follow(mlir::Value value);
  void define(mlir::Value value, PairValue pair) {
    numbers[value] = pair;
    follow(value);
  }
  void define(mlir::Value value, RoutedRows rows) {
    region.rows[value] = rows;
    follow(value);
  }
  void step(RoutedStep::Kind kind, plan::CallOp place, mlir::Value made, mlir::Value from, mlir::Value with = {},
            bool transposed = false) {
    region.steps.push_back({kind, place, made, from, with, transposed});
  }
  void refuse(mlir::Operation *op, std::string why, llvm::StringRef help = {}) {
    if (!region.obstacle) {
      region.obstacle = op;
      region.why = std::move(why);
      region.help = help;
    }
  }

  IndexFunctions &functions;
  indexing::ExprBuilder &builder;
  mlir::Value ids;
  int64_t experts;
  RoutedRegion region;
  llvm::DenseMap<mlir::Value, PairValue> numbers;
  llvm::DenseSet<mlir::Value> known; ///< values that are computed from the ids
  mlir::Operation *last = nullptr;   ///< reader of a known value
};

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_IMPORT_EXPERTS_REGION_READER_H
