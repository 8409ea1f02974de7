//===- main.cpp - meshplan-opt --------------------------------------------===//
//
// Runs the compiler's passes on textual IR.
//
//===----------------------------------------------------------------------===//

#include "compiler/target/artifact/passes.h"
#include "compiler/transforms/schedule/passes.h"
#include "dialect/plan/plan.h"
#include "dialect/sched/sched.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  meshplan::registerSchedulePasses();
  meshplan::registerArtifactPasses();
  mlir::DialectRegistry registry;
  registry.insert<meshplan::plan::PlanDialect, meshplan::sched::SchedDialect, mlir::func::FuncDialect>();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "meshplan passes\n", registry));
}
