//===- enums.td - enums of the sched dialect ------------------------------===//
//
// Apart from attrs.td, as mlir-tblgen writes the enums of every file that it reads.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_DIALECT_SCHED_ENUMS_TD
#define MESHPLAN_DIALECT_SCHED_ENUMS_TD

include "mlir/IR/EnumAttr.td"

def Sched_CollectiveKind : I32EnumAttr<"CollectiveKind", "kind of a collective", [
    I32EnumAttrCase<"all_gather", 0>, I32EnumAttrCase<"reduce_scatter", 1>, I32EnumAttrCase<"all_reduce", 2>,
    I32EnumAttrCase<"all_to_all", 3>, I32EnumAttrCase<"permute", 4>]> {
  let cppNamespace = "::meshplan::sched";
  let genSpecializedAttr = 0;
}

#endif // MESHPLAN_DIALECT_SCHED_ENUMS_TD
