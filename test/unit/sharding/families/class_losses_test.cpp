//===- class_losses_test.cpp - losses of class indices --------------------===//

#include "compiler/sharding/families/class_losses.h"
#include "compiler/sharding/op_record.h"

#include <gtest/gtest.h>

using namespace meshplan;

namespace {

TEST(ClassLosses, AreKnownAsAWhole) {
  for (const char *loss : {"aten.cross_entropy_loss.default", "aten.nll_loss_nd.default"})
    EXPECT_TRUE(isClassLoss(loss)) << loss;
  for (const char *other : {"aten.cross_entropy_loss", "aten.nll_loss.out", "own.nll_loss.default",
                            "aten.mse_loss.default", "meshplan.token_loss", ""})
    EXPECT_FALSE(isClassLoss(other)) << other;
}

TEST(ClassLosses, HaveNoRecord) {
  for (llvm::StringRef target : OpRegistry::get().targets())
    EXPECT_FALSE(isClassLoss(target)) << target.str() << ": a record would never be read";
}

} // namespace
