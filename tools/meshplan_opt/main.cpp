//===- main.cpp - meshplan-opt --------------------------------------------===//
//
// Runs the compiler's passes on textual IR.
//
//===----------------------------------------------------------------------===//

#include "compiler/pipeline/build_pipeline.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  meshplan::registerPasses();
  mlir::DialectRegistry registry;
  meshplan::registerDialects(registry);
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "meshplan passes\n", registry));
}
