//===- wide_products.cpp - products of 16 bits in f32 ---------------------===//

#include "compiler/sharding/record_support/wide_products.h"

#include <algorithm>

int64_t meshplan::wideProductBytes(int64_t firstElements, int64_t secondElements, int64_t contracted) {
  constexpr int64_t elementBytes = 4, blockElements = 1 << 18, leastColumns = 16;
  return elementBytes * (firstElements + std::min(secondElements, std::max(blockElements, leastColumns * contracted)));
}
