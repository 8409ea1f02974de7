//===- sched_module.h - sched modules from text -----------------*- C++ -*-===//

#ifndef MESHPLAN_TEST_UNIT_TARGET_SCHED_MODULE_H
#define MESHPLAN_TEST_UNIT_TARGET_SCHED_MODULE_H

#include "dialect/sched/sched.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace meshplan {

/// A module and its context; collects diagnostics.
class SchedModule {
public:
  explicit SchedModule(const std::string &text)
      : handler(&context, [this](mlir::Diagnostic &diagnostic) { messages.push_back(diagnostic.str()); }) {
    context.loadDialect<sched::SchedDialect>();
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  }

  mlir::ModuleOp get() { return *module; }

  std::vector<std::string> messages;

private:
  mlir::MLIRContext context;
  mlir::ScopedDiagnosticHandler handler;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

/// Mesh dp=2, tp=3, communicators over tp, dp and both.
inline const std::string schedHead = R"(
sched.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 3>]
sched.communicator @tp over [#sched.axis<1:(1)3>]
sched.communicator @dp over [#sched.axis<0:(1)2>]
sched.communicator @dp_tp over [#sched.axis<0:(1)2>, #sched.axis<1:(1)3>]
)";

/// A program with one step, whose input is `from` and whose collective produces `to`.
inline std::string schedCollective(const std::string &step, const std::string &from, const std::string &to) {
  return schedHead + "sched.program @forward {\n%x = sched.input \"x\" : <" + from + ">\n%t = sched.start " + step +
         " sequence 0 because \"rowwise tp\" : !sched.tensor<" + from + "> -> <!sched.tensor<" + to +
         ">> loc(\"a.plan\":3:4)\n%y = sched.wait %t : !sched.token<!sched.tensor<" + to +
         ">>\nsched.output \"y\" %y : <" + to + ">\n}";
}

} // namespace meshplan

#endif // MESHPLAN_TEST_UNIT_TARGET_SCHED_MODULE_H
