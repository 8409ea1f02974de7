//===- enums.td - enums of the base dialect -------------------------------===//
//
// Apart from attrs.td, as mlir-tblgen writes the enums of every file that it reads.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_DIALECT_BASE_ENUMS_TD
#define MESHPLAN_DIALECT_BASE_ENUMS_TD

include "mlir/IR/EnumAttr.td"

class Base_Enum<string name, string summary, list<I32EnumAttrCase> cases> : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::meshplan::base";
  let genSpecializedAttr = 0;
}

def Base_Reduction : Base_Enum<"Reduction", "reduction of a partial value", [
    I32EnumAttrCase<"none", 0>, I32EnumAttrCase<"sum", 1>, I32EnumAttrCase<"max", 2>, I32EnumAttrCase<"min", 3>]>;

def Base_CollectiveKind : Base_Enum<"CollectiveKind", "kind of a collective", [
    I32EnumAttrCase<"all_gather", 0>, I32EnumAttrCase<"reduce_scatter", 1>, I32EnumAttrCase<"all_reduce", 2>,
    I32EnumAttrCase<"all_to_all", 3>, I32EnumAttrCase<"permute", 4>]>;

def Base_Direction : Base_Enum<"Direction", "part of a training step", [
    I32EnumAttrCase<"forward", 0>, I32EnumAttrCase<"backward", 1>, I32EnumAttrCase<"update", 2>]>;

def Base_Purpose : Base_Enum<"Purpose", "what a collective moves", [
    I32EnumAttrCase<"activations", 0>, I32EnumAttrCase<"parameters", 1>, I32EnumAttrCase<"gradients", 2>,
    I32EnumAttrCase<"optimizer", 3>]>;

def Base_ProgramRole : Base_Enum<"ProgramRole", "what a run uses a program for", [
    I32EnumAttrCase<"forward", 0>, I32EnumAttrCase<"step", 1>, I32EnumAttrCase<"eval", 2>,
    I32EnumAttrCase<"reference", 3>, I32EnumAttrCase<"microbatch", 4>]>;

def Base_When : Base_Enum<"When", "in which instances of its program a step runs", [
    I32EnumAttrCase<"always", 0>, I32EnumAttrCase<"last", 1>, I32EnumAttrCase<"deferred", 2>,
    I32EnumAttrCase<"first", 3>]>;

def Base_RoutedKind : Base_Enum<"RoutedKind", "what a rank stores of a routed value", [
    I32EnumAttrCase<"rows", 0>, I32EnumAttrCase<"counts", 1>, I32EnumAttrCase<"arrivals", 2>]>;

def Base_InitKind : Base_Enum<"InitKind", "how the first elements of a parameter are made", [
    I32EnumAttrCase<"constant", 0>, I32EnumAttrCase<"uniform", 1>, I32EnumAttrCase<"normal", 2>,
    I32EnumAttrCase<"truncated_normal", 3>, I32EnumAttrCase<"given", 4>]>;

def Base_RateKind : Base_Enum<"RateKind", "how a learning rate changes with the steps", [
    I32EnumAttrCase<"constant", 0>, I32EnumAttrCase<"linear", 1>, I32EnumAttrCase<"cosine", 2>,
    I32EnumAttrCase<"wsd", 3>]>;

#endif // MESHPLAN_DIALECT_BASE_ENUMS_TD
