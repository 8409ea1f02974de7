//===- dialect.cpp - the base dialect -------------------------------------===//

#include "dialect/base/base.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace meshplan::base;

#include "dialect/base/dialect.cpp.inc"
#include "dialect/base/enums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/base/attrs.cpp.inc"

void BaseDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialect/base/attrs.cpp.inc"
      >();
}

void BaseDialect::initialize() { registerAttributes(); }
