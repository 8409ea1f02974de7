//===- weight_products.h - products without an activation -------*- C++ -*-===//
//
// Classifies calls that read only weights as products of two of them. Pure.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_PLACE_WEIGHT_PRODUCTS_H
#define MESHPLAN_COMPILER_TRANSFORMS_PLACE_WEIGHT_PRODUCTS_H

#include "compiler/sharding/op_record.h"

namespace meshplan {

/// The kind of product of a call without activations.
enum class WeightProduct {
  none,
  projection, ///< over the last dim of the operand, as in nn.Linear, or a lookup in it; or the operand is the bias
  other,
};
WeightProduct productOf(const FactorRule &rule, unsigned operand);

/// True if the call contracts two of its operands, or looks one up by the other.
bool isMultiplied(const FactorRule &rule, unsigned operand, unsigned other);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_PLACE_WEIGHT_PRODUCTS_H
