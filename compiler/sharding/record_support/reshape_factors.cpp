//===- reshape_factors.cpp - factors that two shapes share ----------------===//

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
  if (elements == 0 || elements != numElements(toTensor))
    return;
  Cursor from(builder, fromTensor), to(builder, toTensor);
  while (!from.atEnd() && !to.atEnd()) {
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
