//===- plan.td - the plan dialect -----------------------------------------===//
//
// The program as the user wrote it, and what follows from it: global shapes,
// with a sharding for every value.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_DIALECT_PLAN_PLAN_TD
#define MESHPLAN_DIALECT_PLAN_PLAN_TD

include "mlir/IR/OpBase.td"

def Plan_Dialect : Dialect {
  let name = "plan";
  let cppNamespace = "::meshplan::plan";
  let summary = "programs with global shapes and explicit shardings";
  let description = [{
    A module holds one `plan.mesh` and functions of the `func` dialect. A value is a ranked tensor with its *global*
    shape; its sharding is the encoding of the type, an attribute `#plan.sharding`. A tensor without encoding is
    undecided. Operators are `plan.call`; data moves between ranks only in the collective ops, each of which changes the
    sharding and nothing else.

    Arguments, results, functions and calls carry the attributes of
    `discardableAttrs` below. `attributes.cpp` says which may stand where, and
    verifies them; `attributes.h` reads them. An attribute that is about an argument refers to it by name:
    `#plan.argument`.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let extraClassDeclaration = "void registerAttributes();";
  let discardableAttrs = (ins
      // Arguments.
      "::meshplan::plan::ArgumentKindAttr":$kind, // what the argument is
      "::mlir::ArrayAttr":$names,                 // strings: the names that the model gives to one tied tensor
      "::mlir::ArrayAttr":$dims,                  // strings: the plan's names of the dims of an input
      "::meshplan::plan::ShardingAttr":$sharding, // the layout that the plan states
      "::mlir::DenseI64ArrayAttr":$parts,         // relative sizes of the parts of the dim that `sharding` divides
      "::mlir::StringAttr":$style,                // the statement that decided the layout
      "::mlir::BoolAttr":$trainable,              // of a parameter: its gradient is wanted
      "::mlir::LocationAttr":$unused,             // of a parameter: the statement that says the loss does not reach it
      "::mlir::IntegerAttr":$group,               // of a parameter: its group of the optimizer
      "::mlir::IntegerAttr":$data,                // of a parameter: position of its plan.data among these ops
      "::mlir::IntegerAttr":$unit,                // of a parameter: its FSDP unit
      "::mlir::UnitAttr":$keep,                   // of a parameter: what is gathered of it stays until the backward pass
      "::mlir::Attribute":$init,                  // of a parameter or buffer: #base.init or #plan.init_rule
      "::meshplan::base::PiecesAttr":$pieces,     // of a parameter or buffer: its names in weight files
      "::meshplan::plan::ArgumentRefAttr":$of,    // of a state: its parameter
      "::mlir::UnitAttr":$copies,                 // of a state: begins as the parameter, not as zeros
      "::mlir::UnitAttr":$scratch,                // of an accumulator: begins with any content
      "::mlir::FloatAttr":$value,                 // of a setting: its number
      "::meshplan::base::RateScheduleAttr":$schedule, // of a setting: the factor of its number in each step
      "::meshplan::plan::StorageAttr":$storage,   // of a parameter or accumulator: its position in a buffer
      // Arguments and calls.
      "::mlir::UnitAttr":$host,                   // the tensors are in the memory of the host
      // Results.
      "::mlir::StringAttr":$name,                 // the name of an output
      "::mlir::UnitAttr":$loss,                   // the output is the loss
      "::mlir::ArrayAttr":$experts,               // strings: the output counts the tokens of each expert of these modules
      "::mlir::DenseI64ArrayAttr":$pairs,         // of such an output: pairs of a token and a slot of each module
      "::meshplan::plan::ArgumentRefAttr":$gradient_of, // the parameter that this is the gradient of
      "::meshplan::plan::ArgumentRefAttr":$updates, // the argument whose content this is from the next step on
      // Functions.
      "::meshplan::base::ProgramRoleAttr":$role,  // what a run uses the program for; without it `forward`
      "::meshplan::base::GuardAttr":$guard,       // of a step: what follows from its output `nonfinite`
      "::mlir::ArrayAttr":$timeline,              // of #base.instance: what a run of it consists of; without it the
                                                  // function once
      // Calls.
      "::mlir::ArrayAttr":$module_runs,           // of #plan.module_run: the runs of the modules around the call; a module
                                                  // that is not in it has run 0
      "::mlir::UnitAttr":$loss_gradient,          // the call that begins the backward pass
      "::mlir::UnitAttr":$kept,                   // the result is kept for the backward pass, however cheap it is
      "::mlir::UnitAttr":$precision,              // a conversion that `precision` asks for
      "::mlir::UnitAttr":$keeps_addends,          // the result is partial where the operand is
      "::mlir::UnitAttr":$zero_gradient,          // a conversion through which no gradient flows
      "::mlir::Attribute":$in_evaluation,         // what stands for the call in `eval`: #plan.stand_in or #plan.argument
      "::mlir::FloatAttr":$reserve,               // of a route: the factor of `reserve` (#base.routed)
      "::mlir::StringAttr":$autocast_off,         // the model switches autocast off here, for this device
      // Statements and collectives.
      "::mlir::StringAttr":$input_of,             // of a plan.constrain: the module whose input it is about
      "::mlir::StringAttr":$output_of,            // of a plan.constrain: the module whose output it is about
      "::mlir::TypeAttr":$activation_sum,         // of a collective that sums activations: their type
      "::meshplan::plan::MergeableAttr":$mergeable, // of a collective: what it may be coalesced with
      "::meshplan::plan::PrefetchAttr":$prefetch, // of a gather of a parameter: its unit
      "::mlir::UnitAttr":$once,                   // of a gather of a parameter: the first microbatch does it for all
      // Modules.
      "::mlir::UnitAttr":$wide_activations,       // sums of activations are float32
      "::mlir::UnitAttr":$is_decomposed,          // the graph was decomposed with run_decompositions({})
      "::mlir::UnitAttr":$is_evaluated            // the model was exported after model.eval(): its dropouts are inactive
  );
  let dependentDialects = ["::mlir::func::FuncDialect", "::meshplan::base::BaseDialect"];
}

#endif // MESHPLAN_DIALECT_PLAN_PLAN_TD
