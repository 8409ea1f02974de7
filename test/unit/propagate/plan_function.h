//===- plan_function.h - functions of the plan dialect from text *- C++ -*-===//

#ifndef MESHPLAN_TEST_UNIT_PROPAGATE_PLAN_FUNCTION_H
#define MESHPLAN_TEST_UNIT_PROPAGATE_PLAN_FUNCTION_H

#include "test/unit/dialect/plan_text.h"

namespace meshplan {

/// A fixture with one function on a mesh of dp = 2 and tp = 4.
class PlanFunction : public PlanText {
protected:
  explicit PlanFunction(llvm::StringRef arguments = "", llvm::StringRef body = "") { read(arguments, body); }

  /// Reads another function: its arguments and its body, which ends with the return.
  void read(llvm::StringRef arguments, llvm::StringRef body) {
    readOnMesh(2, 4, ("func.func @f(" + arguments + ") {\n" + body + "\nreturn\n}").str());
  }
};

} // namespace meshplan

#endif // MESHPLAN_TEST_UNIT_PROPAGATE_PLAN_FUNCTION_H
