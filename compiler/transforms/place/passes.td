//===- passes.td - phase place: statements become shardings ---------------===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_PLACE_PASSES_TD
#define MESHPLAN_COMPILER_TRANSFORMS_PLACE_PASSES_TD

include "mlir/Pass/PassBase.td"

def PlaceStyles : Pass<"plan-place-styles", "::mlir::ModuleOp"> {
  let summary = "turn the styles of modules into shardings of parameters and layouts at borders";
  let description = [{
    For each `plan.style`, the parameters that the module owns or that its calls read get their sharding: `colwise`
    divides output features, `rowwise` input features, `expert` the experts of weights that compute routed tokens;
    `sequence` and `replicate` keep parameters replicated. The
    feature dims do not depend on dim numbers: they follow from the factors of the operator that combines the parameter,
    or a value derived from it, with an activation. Where an activation enters or leaves the module and the style states
    its layout, a `plan.constrain` is inserted. Parameters and inputs that no style mentions are replicated. The
    location of a parameter becomes that of its style, and its `plan.style` the text, even if the style keeps it
    replicated. The style ops stay: propagation uses them to find the style that divides a shared parameter.

    Before:
    ```mlir
    plan.style "mlp.down_proj" rowwise [#plan.axis<"tp">] as "rowwise tp"
    func.func @forward(%x: tensor<4x8xf32>, %w: tensor<16x8xf32> {plan.kind = #plan.kind<parameter>}) -> tensor<4x16xf32> {
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

def PlaceRouting : Pass<"plan-place-routing", "::mlir::ModuleOp"> {
  let summary = "apply the statements about tokens of experts to the layers that they name";
  let description = [{
    A `plan.routing` is about each layer of experts (`meshplan.route`) in its module. `reserve` becomes the attribute
    `plan.reserve` of the route; a warning says if the plan divides none of these experts. For `capacity` the route gets only the choices that an expert takes, which
    `meshplan.drop_choices` finds. Both statements are removed. `bias` stays for `plan-balance-bias`; that the scores have a
    bias is checked here.

    ```mlir
    plan.routing capacity 1.5 of "layers.0.mlp" as "capacity 1.5"
    %table, %counts = plan.call "meshplan.route"(%indices) {experts = 8, ...}    // indices [4, 16, 2]
    // becomes
    %0 = plan.call "meshplan.drop_choices"(%indices) {experts = 8, most = 6}
    %table, %counts = plan.call "meshplan.route"(%0) {experts = 8, ...}
    ```
  }];
  let dependentDialects = ["::meshplan::plan::PlanDialect"];
}

def PlaceInit : Pass<"plan-place-init", "::mlir::ModuleOp"> {
  let summary = "compute the width of initial weights from the fans of parameters";
  let description = [{
    `plan.init` states how a parameter is drawn if there are no weights. The width of Kaiming's and Xavier's
    distributions follows from the fans of the parameter: the number of its input features and of its output features,
    both times the size of the window of a convolution. As for styles, the operator that reads the parameter tells which
    dims these are.

    It is an error if a parameter has no such dims, or if it is looked up instead of multiplied (`kaiming` only:
    `xavier` uses the sum of both fans, which is the same).

    ```mlir
    func.func @forward(%x: tensor<4x8xf32>, %w: tensor<16x8xf32> {plan.init = #plan.init_rule<rule = kaiming_uniform, gain = 1.0, fan = in, ...>}) {
      %y = plan.call "aten.linear.default"(%x, %w) ...
    // becomes
    func.func @forward(%x: tensor<4x8xf32>, %w: tensor<16x8xf32> {plan.init = #base.init<kind = uniform, low = -0.612, high = 0.612>}) {
    ```
  }];
  let dependentDialects = ["::meshplan::plan::PlanDialect"];
}

def PlaceData : Pass<"plan-place-data", "::mlir::ModuleOp"> {
  let summary = "divide the storage of parameters by the plan's data statements";
  let description = [{
    A parameter of a `plan.data` that shards `parameters` is stored flat: the shard that its style leaves to a rank is
    split evenly over the statement's axes. Readers that need its dims gather it; that follows from the layout like any
    other reshard. It is an error if the style already divides the parameter over one of these axes, even if only states
    or gradients are to be divided. Experts are an exception: of weights of which ranks hold different experts, what is
    divided is divided over the digits that the experts leave of the axes, if any.

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
    For each `plan.border` the value that it names gets a `plan.constrain`: an input where the calls of the module read
    it, an output where calls outside read it. A layout that a style states for the same value is closer to the
    producer, so that the border takes effect last. The border ops are removed.

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
  let summary = "store parameters in the types that the plan states";
  let description = [{
    A parameter is stored in the type `storage` of `plan.precision` and converted to the archive's compute type where it
    is read. The conversion comes before the gather, so that less is moved. If `gather` names another type, or `storage`
    is the narrower type, the parameter is converted to that type before the gather and to the compute type after it.
    This also applies if the axes of the data statement have one rank, so that results do not depend on the mesh. The
    conversions are marked `plan.precision`: they do not round gradients. Runs after `plan-place-data`, which decides
    what is gathered.

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
