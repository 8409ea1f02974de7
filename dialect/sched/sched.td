//===- sched.td - the sched dialect ---------------------------------------===//
//
// The program as ranks execute it: a list of steps with collectives and
// lifetimes.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_DIALECT_SCHED_SCHED_TD
#define MESHPLAN_DIALECT_SCHED_SCHED_TD

include "mlir/IR/OpBase.td"

def Sched_Dialect : Dialect {
  let name = "sched";
  let cppNamespace = "::meshplan::sched";
  let summary = "programs as ranks execute them: ordered steps, collectives, lifetimes";
  let description = [{
    A module holds one `sched.mesh`, the communicators, and one `sched.program` for each entry point. Every
    rank issues the ops of a program in their order; where they run follows from them: a collective on the lane of its
    communicator, a copy on that of its direction, everything else on the one that computes. A value is a tensor with its global shape and a resolved layout
    (axes by position and size), of which a rank holds its shard. It lives from the op that defines it to its
    `sched.free`. The artifact (runtime/schema/schedule.fbs) has the same programs, without what only reports use. The
    dialect does not depend on the plan dialect.
  }];
  let dependentDialects = ["::meshplan::base::BaseDialect"];
  let discardableAttrs = (ins
      // Of compute, slice, start and copy, for traces. Without it: forward.
      "::meshplan::base::DirectionAttr":$direction,
      // Of start, for traces. Without it: activations.
      "::meshplan::base::PurposeAttr":$purpose,
      // Of start, for traces: the module whose tensors it moves.
      "::mlir::StringAttr":$subject
  );
  let hasOperationAttrVerify = 1;
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let extraClassDeclaration = [{
    void registerAttributes();
    void registerTypes();
  }];
}

#endif // MESHPLAN_DIALECT_SCHED_SCHED_TD
