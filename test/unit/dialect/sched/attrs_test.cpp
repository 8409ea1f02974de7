//===- attrs_test.cpp - digits of an axis; what text cannot say -----------===//

#include "dialect/sched/sched.h"
#include "test/unit/dialect/parsed_text.h"
#include <set>

using namespace meshplan::sched;

namespace meshplan {
namespace {

using SchedAttrs = ParsedText<SchedDialect>;

TEST_F(SchedAttrs, AxesOverlapWhereTheirDigitsDepend) {
  // Digits of an axis of 8 are independent if every pair of their values occurs. A digit of size 1 does not matter.
  const int64_t extent = 8;
  auto digit = [](int64_t at, int64_t pre, int64_t size) { return at / (extent / (pre * size)) % size; };
  for (int64_t pre = 1; pre <= extent; pre *= 2)
    for (int64_t size = 1; pre * size <= extent; size *= 2)
      for (int64_t otherPre = 1; otherPre <= extent; otherPre *= 2)
        for (int64_t otherSize = 1; otherPre * otherSize <= extent; otherSize *= 2) {
          std::set<std::pair<int64_t, int64_t>> pairs;
          for (int64_t at = 0; at < extent; ++at)
            pairs.insert({digit(at, pre, size), digit(at, otherPre, otherSize)});
          bool depend = static_cast<int64_t>(pairs.size()) < size * otherSize;
          AxisAttr one = AxisAttr::get(&context, 1, pre, size), other = AxisAttr::get(&context, 1, otherPre, otherSize);
          EXPECT_TRUE(size == 1 || otherSize == 1 || one.overlaps(other) == depend)
              << print(one) << ' ' << print(other);
          EXPECT_EQ(one.overlaps(other), other.overlaps(one)) << print(one) << ' ' << print(other);
          EXPECT_FALSE(one.overlaps(AxisAttr::get(&context, 0, otherPre, otherSize)));
        }
}

TEST_F(SchedAttrs, APackedValueHasATensor) {
  std::string message;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
    message = diagnostic.str();
    return mlir::success();
  });
  auto emitError = [&] { return mlir::emitError(mlir::UnknownLoc::get(&context)); };
  EXPECT_FALSE(PackedType::getChecked(emitError, &context, llvm::ArrayRef<ShardedTensorType>()));
  EXPECT_EQ(message, "packs 0 tensors, must be at least 1") << "A16";
}

} // namespace
} // namespace meshplan
