//===- unreached.h - parameters without a gradient --------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_DIFFERENTIATE_UNREACHED_H
#define MESHPLAN_COMPILER_TRANSFORMS_DIFFERENTIATE_UNREACHED_H

#include "mlir/IR/BuiltinOps.h"
#include <string>
#include <vector>

namespace meshplan {

/// First names, in order, of the trained parameters of a placed program on which its loss does not depend. All trained
/// parameters if no operator on the path can be differentiated; empty for a program without a loss. Does not change the
/// program.
std::vector<std::string> unreachedParameters(mlir::ModuleOp program);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_DIFFERENTIATE_UNREACHED_H
