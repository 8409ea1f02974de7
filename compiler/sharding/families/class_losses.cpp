//===- class_losses.cpp - losses of class indices -------------------------===//

#include "compiler/sharding/families/class_losses.h"
#include "llvm/ADT/STLExtras.h"

static constexpr llvm::StringRef losses[] = {
    "aten.cross_entropy_loss.default", "aten.nll_loss.default",         "aten.nll_loss_nd.default",
    "aten.nll_loss2d.default",         "aten.nll_loss_forward.default", "aten.nll_loss2d_forward.default",
};

bool meshplan::isClassLoss(llvm::StringRef target) { return llvm::is_contained(losses, target); }
