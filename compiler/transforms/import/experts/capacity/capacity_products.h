//===- capacity_products.h - products with one-hot positions ----*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_IMPORT_EXPERTS_CAPACITY_CAPACITY_PRODUCTS_H
#define MESHPLAN_COMPILER_TRANSFORMS_IMPORT_EXPERTS_CAPACITY_CAPACITY_PRODUCTS_H

#include "dialect/plan/plan.h"

namespace meshplan {

/// True for a product that gives tokens to experts by their position among the tokens of the expert, or back, with
/// one-hot vectors of the position: tokens beyond the capacity of an expert have none.
bool takesCapacity(plan::CallOp call);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_IMPORT_EXPERTS_CAPACITY_CAPACITY_PRODUCTS_H
