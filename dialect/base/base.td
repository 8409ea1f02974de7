//===- base.td - the base dialect -----------------------------------------===//
//
// Attributes that the dialects plan and sched both use.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_DIALECT_BASE_BASE_TD
#define MESHPLAN_DIALECT_BASE_BASE_TD

include "mlir/IR/OpBase.td"

def Base_Dialect : Dialect {
  let name = "base";
  let cppNamespace = "::meshplan::base";
  let summary = "attributes that plan and sched share";
  let description = [{
    Has no ops and no types. An attribute belongs here if the phase `schedule` copies it unchanged from a plan program
    to a sched program. Enums have a counterpart of the same name in the artifact (runtime/schema/schedule.fbs);
    compiler/target/artifact/enums.h converts them.
  }];
  let useDefaultAttributePrinterParser = 1;
  let extraClassDeclaration = "void registerAttributes();";
}

#endif // MESHPLAN_DIALECT_BASE_BASE_TD
