//===- passes.td - phase place: statements become shardings ---------------===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_PLACE_PASSES_TD
#define MESHPLAN_COMPILER_TRANSFORMS_PLACE_PASSES_TD

include "mlir/Pass/PassBase.td"

def PlaceStyles : Pass<"plan-place-styles", "::mlir::ModuleOp"> {
  let summary = "turn the styles of modules into shardings of parameters and layouts at borders";
  let description = [{
    For each `plan.style` the parameters that the module holds, or that its calls
    use, get their sharding: `colwise` divides output features, `rowwise` input
    features, both found from the factors of the operator that combines the
    parameter, or what is made of it, with an activation, and not from the number
    of a dim; `sequence` and `replicate` keep parameters whole. Where
    an activation enters or leaves the module and the style says how, a
    `plan.constrain` is placed. Parameters and inputs that no style mentions are
    replicated. A parameter gets the place of its style as its location and the
    text as `plan.style`, also where the style leaves it whole. The style ops
    stay: propagation reads which of them divides a shared parameter.

    Before:
    ```mlir
    plan.style "mlp.down_proj" rowwise [#plan.axis<"tp">] as "rowwise tp"
    func.func @forward(%x: tensor<4x8xf32>, %w: tensor<16x8xf32> {plan.kind = "parameter"}) -> tensor<4x16xf32> {
      %y = plan.call "aten.linear.default"(%x, %w) {...} in "mlp.down_proj" : ...
    ```
    After:
    ```mlir
    func.func @forward(%x: tensor<4x8xf32, R>, %w: tensor<16x8xf32, #plan.sharding<[{}, {"tp"} ]>>) -> ... {
      %0 = plan.constrain %x <[{}, {"tp"} ]> along [#plan.axis<"tp">] as "rowwise tp" : ...
      %y = plan.call "aten.linear.default"(%0, %w) {...} in "mlp.down_proj" : ...
    ```
  }];
  let dependentDialects = ["::meshplan::plan::PlanDialect"];
}

def PlaceInit : Pass<"plan-place-init", "::mlir::ModuleOp"> {
  let summary = "work out the width of initial weights from their features";
  let description = [{
    `plan.init` of a parameter says how it is drawn without weights. Of Kaiming's
    and Xavier's distributions the width follows from its fans: the elements of
    its input features and of its output features, both times those of the window
    of a convolution. Which dims these are the operator says that reads the
    parameter, as for styles.

    An error: a parameter without such dims, or one that is looked up and not
    multiplied (`kaiming`; the sum of both fans, which `xavier` takes, is the same).

    ```mlir
    func.func @forward(%x: tensor<4x8xf32>, %w: tensor<16x8xf32> {plan.init = {kind = "kaiming_uniform", fan = "in", gain = 1.0, ...}}) {
      %y = plan.call "aten.linear.default"(%x, %w) ...
    // becomes
    func.func @forward(%x: tensor<4x8xf32>, %w: tensor<16x8xf32> {plan.init = {kind = "uniform", low = -0.612, high = 0.612}}) {
    ```
  }];
  let dependentDialects = ["::meshplan::plan::PlanDialect"];
}

def PlaceData : Pass<"plan-place-data", "::mlir::ModuleOp"> {
  let summary = "divide the storage of parameters as the plan's data statements say";
  let description = [{
    A parameter that is in a `plan.data` with the stage `parameters` is stored
    flat: what its style leaves to a rank is cut evenly over the statement's
    axes. Whoever needs its dims gathers it; that follows from the layout as any
    other reshard. An axis that the style divides the parameter over already is
    an error, also where only states or gradients are to be divided.

    ```mlir
    plan.data parameters over [#plan.axis<"dp">] prefetch 0 as "data dp"
    func.func @forward(%w: tensor<16x8xf32, #plan.sharding<[{"tp"}, {} ]>> {plan.data = 0}) ...
    // becomes
    func.func @forward(%w: tensor<16x8xf32, #plan.sharding<[{"tp"}, {} ], flat = {"dp"}>> {plan.data = 0}) ...
    ```
  }];
  let dependentDialects = ["::meshplan::plan::PlanDialect"];
}

def PlaceBorders : Pass<"plan-place-borders", "::mlir::ModuleOp"> {
  let summary = "turn layouts stated at borders of modules into constraints on values";
  let description = [{
    For each `plan.border` the value that it names gets a `plan.constrain`: an
    input where the calls of the module read it, an output where calls outside
    do. What a style says of the same value is nearer to the producer, so that
    the border has the last word. The border ops are removed.

    ```mlir
    plan.border "head" is_input false index 0 #plan.sharding<[]> exact false along [#plan.axis<"tp">] as "output replicate"
    %y = plan.call "aten.linear.default"(%x, %w) {...} in "head" : ...
    return %y
    // becomes
    %y = plan.call "aten.linear.default"(%x, %w) {...} in "head" : ...
    %0 = plan.constrain %y <[{}, {} ]> along [#plan.axis<"tp">] as "output replicate" : ...
    return %0
    ```
  }];
  let dependentDialects = ["::meshplan::plan::PlanDialect"];
}

def PlacePrecision : Pass<"plan-place-precision", "::mlir::ModuleOp"> {
  let summary = "keep parameters in the types that the plan says";
  let description = [{
    A parameter is stored in the type `storage` of `plan.precision`, and
    converted to what the archive computes in where it is read: before it is
    gathered, so that what moves is small, or, where `gather` names another type
    or `storage` is the narrower one, to that before and to the archive's behind;
    also where the axes of the data statement have one rank, so that a result
    does not depend on the mesh. The conversions are marked `plan.precision`: no
    gradient is rounded by them. Runs behind `plan-place-data`, which says what
    is gathered.

    ```mlir
    plan.precision {storage = f32}
    func.func @forward(%w: tensor<16x8xbf16, S>) { plan.call "aten.linear.default"(%x, %w) ...
    // becomes
    func.func @forward(%w: tensor<16x8xf32, S>) {
      %0 = plan.call "aten._to_copy.default"(%w) {dtype = bf16, ...} {plan.precision}
      plan.call "aten.linear.default"(%x, %0) ...
    ```
  }];
  let dependentDialects = ["::meshplan::plan::PlanDialect"];
}

#endif // MESHPLAN_COMPILER_TRANSFORMS_PLACE_PASSES_TD
