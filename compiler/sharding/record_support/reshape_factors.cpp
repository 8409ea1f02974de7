//===- reshape_factors.cpp - factors that two shapes share ----------------===//
//
// A reshape keeps the row-major order of elements, so a dim is a mixed-radix number of factors, the most major one
// first, and two shapes agree where they have a common prefix of factors. Both sides are walked from the most major
// dim. Each turn takes the greatest common divisor of what is left of the two current dims as a shared factor:
//    [4, 96, 576] -> [4, 96, 9, 64]: 4 | 4, 96 | 96, gcd(576, 9) = 9, gcd(64, 64) = 64
//    [4, 96, 9, 64] -> [384, 576]:   gcd(4, 384) = 4, gcd(96, 96) = 96, gcd(9, 576) = 9, 64
// So 576 features that are split over tp=3 become 9 heads split over tp=3: the axis divides the major factor 9.
//
// Where both rests are greater than 1 and have no common divisor, no shard of one side is a shard of the other: [2, 3]
// -> [3, 2] cuts after element 3 on one side and after elements 2 and 4 on the other. Such parts stay whole on both
// sides, up to the next position that both sides can cut.

#include "compiler/sharding/record_support/reshape_factors.h"
#include <numeric>

using namespace mlir;

namespace meshplan {

namespace {
/// Walks the dims of one side from the most major one. `rest` is the size of the current dim without the factors so
/// far.
class Cursor {
public:
  Cursor(RuleBuilder &builder, TensorRef tensor) : builder(builder), tensor(tensor) { settle(); }

  bool atEnd() const { return dim == tensor.getRank(); }
  int64_t getRest() const { return rest; }

  /// Gives `factor`, of this size, to the current dim.
  void take(unsigned factor, int64_t size) {
    builder.append(tensor[dim], factor);
    rest /= size;
    if (rest == 1)
      next();
  }

  /// Gives the rest of the current dim a `whole` factor and returns its size.
  int64_t takeWhole() {
    int64_t size = rest;
    take(builder.add(size, FactorKind::whole), size);
    return size;
  }

private:
  void next() {
    ++dim;
    settle();
  }

  void settle() {
    while (!atEnd() && tensor[dim].size == 1)
      ++dim;
    rest = atEnd() ? 1 : tensor[dim].size;
  }

  RuleBuilder &builder;
  TensorRef tensor;
  int64_t dim = 0;
  int64_t rest = 1;
};
} // namespace

static int64_t numElements(TensorRef tensor) {
  int64_t count = 1;
  for (int64_t dim = 0; dim < tensor.getRank(); ++dim)
    count *= tensor[dim].size;
  return count;
}

/// Consumes whole factors on both sides until both have covered the same number of elements.
static void skipUnshared(Cursor &from, Cursor &to) {
  // Both sides end in the same number of elements, so the smaller side can always take another dim until they meet.
  int64_t coveredFrom = from.takeWhole(), coveredTo = to.takeWhole();
  while (coveredFrom != coveredTo) {
    if (coveredFrom < coveredTo)
      coveredFrom *= from.takeWhole();
    else
      coveredTo *= to.takeWhole();
  }
}

void shareFactors(RuleBuilder &builder, TensorRef fromTensor, TensorRef toTensor) {
  int64_t elements = numElements(fromTensor);
  // An archive may contain a reshape that does not fit: without this check a cursor would walk beyond its last dim.
  if (elements == 0 || elements != numElements(toTensor))
    return;
  Cursor from(builder, fromTensor), to(builder, toTensor);
  while (!from.atEnd() && !to.atEnd()) {
    // The greatest common divisor and not the smaller rest: from 6 to 4 the rests share 2, the major half of both; what
    // is left, 3 and 2, is in different positions.
    int64_t shared = std::gcd(from.getRest(), to.getRest());
    if (shared == 1) {
      skipUnshared(from, to);
      continue;
    }
    unsigned factor = builder.add(shared);
    from.take(factor, shared);
    to.take(factor, shared);
  }
}

} // namespace meshplan
