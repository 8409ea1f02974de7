//===- wide_products.cpp - memory of products of 16-bit operands ----------===//

#include "compiler/sharding/record_support/wide_products.h"

#include "llvm/Support/MathExtras.h"
#include <algorithm>

int64_t meshplan::wideProductBytes(int64_t firstElements, int64_t secondElements, int64_t contracted) {
  constexpr int64_t elementBytes = 4, blockElements = 1 << 18, leastColumns = 16;
  return elementBytes * (firstElements + std::min(secondElements, std::max(blockElements, leastColumns * contracted)));
}

/// The longest part of a contraction that is packed at once.
static int64_t partOf(int64_t contracted, bool isLeftTransposed) {
  constexpr int64_t unit = 32, part = 512;
  if (contracted <= part)
    return static_cast<int64_t>(llvm::alignTo(contracted, unit));
  return isLeftTransposed || contracted <= 2 * part ? part : 2 * part;
}

int64_t meshplan::bf16ProductBytes(MatrixProduct product) {
  constexpr int64_t smallest = 16 * 16 * 16, blockRows = 256, blockColumns = 64, mostColumns = 1024, rest = 1024;
  constexpr int64_t elementBytes = 2, sumBytes = 4;
  auto [rows, contracted, columns, isLeftTransposed] = product;
  // Smaller products use a kernel that copies nothing.
  if (rows * contracted * columns <= smallest)
    return 0;
  // A product with a single column runs with the operands swapped: the vector then is the row.
  if (columns == 1)
    std::swap(rows, columns);
  int64_t block = llvm::divideCeil(rows, llvm::divideCeil(rows, blockRows));
  int64_t part = partOf(contracted, isLeftTransposed);
  // Each part of a transposed operand is multiplied with all columns before the next, so that all sums are live.
  bool sumsAll = isLeftTransposed && contracted > part;
  int64_t summed =
      sumsAll ? std::min<int64_t>(llvm::alignTo(columns, blockColumns), mostColumns) : std::min(columns, blockColumns);
  // Rows of a copy that are as long as a page are padded.
  constexpr int64_t longPart = 512, gap = 32, ofCopy = 128;
  int64_t copied = isLeftTransposed ? elementBytes * block * (part + (part >= longPart ? gap : 0)) + ofCopy : 0;
  return elementBytes * part * blockColumns + copied + sumBytes * block * summed + rest;
}
