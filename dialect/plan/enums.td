//===- enums.td - enums of the plan dialect -------------------------------===//
//
// Apart from attrs.td, as mlir-tblgen writes the enums of every file that it reads.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_DIALECT_PLAN_ENUMS_TD
#define MESHPLAN_DIALECT_PLAN_ENUMS_TD

include "mlir/IR/EnumAttr.td"

def Plan_StyleKind : I32EnumAttr<"StyleKind", "kind of a style", [
    I32EnumAttrCase<"colwise", 0>, I32EnumAttrCase<"rowwise", 1>, I32EnumAttrCase<"sequence", 2>,
    I32EnumAttrCase<"expert", 3>, I32EnumAttrCase<"within", 4>,
    I32EnumAttrCase<"replicate", 5>]> {
  let cppNamespace = "::meshplan::plan";
  let genSpecializedAttr = 0;
}

def Plan_DataStage : I32EnumAttr<"DataStage", "tensors that data parallel ranks shard", [
    I32EnumAttrCase<"replicated", 0>, I32EnumAttrCase<"optimizer", 1>, I32EnumAttrCase<"gradients", 2>,
    I32EnumAttrCase<"parameters", 3>]> {
  let cppNamespace = "::meshplan::plan";
  let genSpecializedAttr = 0;
}

def Plan_LossUnit : I32EnumAttr<"LossUnit", "elements over which the mean of losses is taken", [
    I32EnumAttrCase<"token", 0>, I32EnumAttrCase<"sequence", 1>]> {
  let cppNamespace = "::meshplan::plan";
  let genSpecializedAttr = 0;
}

def Plan_ArgumentKind : I32EnumAttr<"ArgumentKind", "what an argument of a program is", [
    I32EnumAttrCase<"parameter", 0>, I32EnumAttrCase<"buffer", 1>, I32EnumAttrCase<"input", 2>,
    I32EnumAttrCase<"setting", 3>, I32EnumAttrCase<"state", 4>, I32EnumAttrCase<"accumulator", 5>]> {
  let cppNamespace = "::meshplan::plan";
  let genSpecializedAttr = 0;
}

def Plan_StandIn : I32EnumAttr<"StandIn", "what stands for the result of a call in the evaluation", [
    I32EnumAttrCase<"first_operand", 0>, I32EnumAttrCase<"second_operand", 1>, I32EnumAttrCase<"ones", 2>]> {
  let cppNamespace = "::meshplan::plan";
  let genSpecializedAttr = 0;
}

def Plan_OptimizerKind : I32EnumAttr<"OptimizerKind", "how parameters follow their gradients", [
    I32EnumAttrCase<"sgd", 0>, I32EnumAttrCase<"adam", 1>, I32EnumAttrCase<"adamw", 2>]> {
  let cppNamespace = "::meshplan::plan";
  let genSpecializedAttr = 0;
}

def Plan_NonfiniteAction : I32EnumAttr<"NonfiniteAction", "what follows from gradients that are NaN or infinite", [
    I32EnumAttrCase<"skip", 0>, I32EnumAttrCase<"stop", 1>]> {
  let cppNamespace = "::meshplan::plan";
  let genSpecializedAttr = 0;
}

def Plan_RoutingRule : I32EnumAttr<"RoutingRule", "a statement about the tokens of experts", [
    I32EnumAttrCase<"reserve", 0>, I32EnumAttrCase<"capacity", 1>, I32EnumAttrCase<"bias", 2>]> {
  let cppNamespace = "::meshplan::plan";
  let genSpecializedAttr = 0;
}

def Plan_InitRule : I32EnumAttr<"InitRule", "a rule of torch.nn.init for the width of a distribution", [
    I32EnumAttrCase<"kaiming_uniform", 0>, I32EnumAttrCase<"kaiming_normal", 1>, I32EnumAttrCase<"xavier_uniform", 2>,
    I32EnumAttrCase<"xavier_normal", 3>]> {
  let cppNamespace = "::meshplan::plan";
  let genSpecializedAttr = 0;
}

def Plan_FanKind : I32EnumAttr<"FanKind", "which features of a weight a rule of initial values counts", [
    I32EnumAttrCase<"in", 0>, I32EnumAttrCase<"out", 1>]> {
  let cppNamespace = "::meshplan::plan";
  let genSpecializedAttr = 0;
}

#endif // MESHPLAN_DIALECT_PLAN_ENUMS_TD
