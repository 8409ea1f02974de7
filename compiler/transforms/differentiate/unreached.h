//===- unreached.h - parameters that the loss does not depend on -*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_DIFFERENTIATE_UNREACHED_H
#define MESHPLAN_COMPILER_TRANSFORMS_DIFFERENTIATE_UNREACHED_H

#include "mlir/IR/BuiltinOps.h"
#include <string>
#include <vector>

namespace meshplan {

/// First names of the parameters of a placed program that are trained and that its loss does not reach, in order. All
/// of them where nothing on the way can be differentiated; none in a program without a loss. The program stays as it
/// is.
std::vector<std::string> unreachedParameters(mlir::ModuleOp program);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_DIFFERENTIATE_UNREACHED_H
