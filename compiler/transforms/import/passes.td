//===- passes.td - phase import: what an exported graph means -------------===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_IMPORT_PASSES_TD
#define MESHPLAN_COMPILER_TRANSFORMS_IMPORT_PASSES_TD

include "mlir/Pass/PassBase.td"

def KeepReference : Pass<"plan-keep-reference", "::mlir::ModuleOp"> {
  let summary = "keep the imported program as it is, for one rank";
  let description = [{
    Copies the forward program, before other passes change it, to a function of
    the role `reference`, which `meshplan-run verify` compares the ranks with.
    It stands in a module of its own, where passes on functions do not find it;
    `plan-schedule` takes it out. Layouts that the plan states go; `plan.loss`
    marks the result that training makes smaller. A view becomes a reshape,
    since kernels lay their results out as the precision and the device want.

    ```mlir
    func.func @forward(...)
    // becomes
    func.func @forward(...)
    module @reference {
      func.func @reference(...) attributes {plan.role = #base.role<reference>}
    }
    ```
  }];
  let dependentDialects = ["::meshplan::plan::PlanDialect"];
}

def Autocast : Pass<"plan-autocast", "::mlir::ModuleOp"> {
  let summary = "compute products in 16 bits, and what is delicate in f32";
  let description = [{
    `compute` of `plan.precision` is PyTorch's autocast of the exported graph,
    by PyTorch's lists for the device: products get operands in that type,
    losses (and, for CUDA, norms, softmax and sums) in f32, and all others run
    in the types that they are given, which PyTorch's promotion makes one type
    where a kernel takes only one. Results have the types that follow. Casts
    that the model has, and dtypes that its operators name, stay. So does what is
    made of integers and buffers alone, such as rotary angles: models switch
    autocast off there, of which an archive that was exported without autocast
    often says nothing. Calls with `plan.autocast_off` are of such regions: they
    run in the types of their operands. The attribute is dropped.

    A value is converted to a type once, behind what only moves it, so that a
    parameter is converted as it is stored, and gathered in 16 bits. Runs before
    `plan-keep-reference`: the reference has the same casts.

    ```mlir
    plan.precision {compute = bf16}
    %y = plan.call "aten.linear.default"(%x, %w) ... : (tensor<2x8xf32>, tensor<4x8xf32>) -> tensor<2x4xf32>
    %z = plan.call "aten.add.Tensor"(%y, %r) ... -> tensor<2x4xf32>
    // becomes
    %a = plan.call "aten.to.dtype"(%x) {dtype = bf16}
    %b = plan.call "aten.to.dtype"(%w) {dtype = bf16}
    %y = plan.call "aten.linear.default"(%a, %b) ... -> tensor<2x4xbf16>
    %z = plan.call "aten.add.Tensor"(%y, %r) ... : (tensor<2x4xbf16>, tensor<2x4xf32>) -> tensor<2x4xf32>
    ```

    Errors: operators that PyTorch's autocast refuses, and those in such a region
    that would read several types where their kernel takes one.
  }];
  let dependentDialects = ["::meshplan::plan::PlanDialect"];
  let options = [
    Option<"device", "device", "std::string", [{"cpu"}], "whose lists hold: cpu or cuda">
  ];
}

def DecomposeBatchNorm : Pass<"plan-decompose-batch-norm", "::mlir::func::FuncOp"> {
  let summary = "make the statistics of a batch norm in training calls of their own";
  let description = [{
    `aten._native_batch_norm_legit_functional`, as archives after
    `run_decompositions` have it, and batch norms in training without running
    statistics in either form of archive become means over all dims but the channels,
    products and sums, in f32 for 16-bit inputs. A batch that is divided has the
    statistics of all of it then, and gradients pass through them, as with
    PyTorch on the whole batch. The running statistics move by its `momentum`,
    the variance without bias. `plan.in_evaluation` of the means says which
    argument, a running statistic, stands in their place in evaluation, and so
    have the new running statistics it, which the module reads when it is called
    again. Without running statistics evaluation has those of the batch.

    ```mlir
    %0:5 = plan.call "aten._native_batch_norm_legit_functional.default"(%x, %w, %b, %mean, %var) {training = true, momentum = 0.1, ...}
    // becomes
    %1 = plan.call "aten.mean.dim"(%x) {dim = [0, 2, 3], keepdim = true} {plan.in_evaluation = 3}
    %2 = plan.call "aten.sub.Tensor"(%x, %1)
    ...
    ```
  }];
  let dependentDialects = ["::meshplan::plan::PlanDialect"];
}

def NormalizeLoss : Pass<"plan-normalize-loss", "::mlir::ModuleOp"> {
  let summary = "take the mean of losses that the plan states";
  let description = [{
    `plan.normalize_loss` redefines an output of `forward` that is the loss of
    class numbers, or sums and means of such: the call gives a loss for each
    target, and the statement says of what their mean is taken. Runs before
    `plan-keep-reference`, so that the reference has the same loss, and in
    ordinary calls, which are differentiated and divided as any other.

    ```mlir
    plan.normalize_loss 0 per token
    %loss = plan.call "aten.cross_entropy_loss.default"(%logits, %target) ...
    // becomes
    %losses = plan.call "aten.cross_entropy_loss.default"(%logits, %target) {reduction = 0, ...}
    %total = plan.call "aten.sum.default"(%losses)
    %counted = plan.call "aten.ne.Scalar"(%target) {other = -100}
    %count = plan.call "aten.sum.default"(%counted) {dtype = f32}
    %loss = plan.call "aten.div.Tensor"(%total, %count)
    ```

    `per sequence` takes both sums for each sample of the dim `batch`, divides
    them, a count of 0 being 1, and takes the mean of the quotients. Targets
    must be made of inputs with that dim by operators that could be divided by
    samples. Weights of classes and smoothed labels are in the losses; they do
    not change what counts. Of probabilities as targets each counts.

    An error: a loss that is made by anything else, and targets whose samples
    are not known.
  }];
  let dependentDialects = ["::meshplan::plan::PlanDialect"];
}

def RecognizeAttention : Pass<"plan-recognize-attention", "::mlir::func::FuncOp"> {
  let summary = "make attention that is written out one op";
  let description = [{
    A softmax of a product of query and key, scaled, capped by a tanh, with
    addends and hidden places, whose only reader is the product with the values,
    becomes `meshplan.attention`. All that comes after the scaling becomes its
    `mask`, which `plan-fold-attention` then takes apart. A dropout of the
    softmax's numbers becomes its `dropout`.

    A number in place of a score takes its gradient away. In a row of such
    numbers alone, all shares are alike; its query becomes zeros, unless every
    query provably sees a key.

    Steps of another kind and probabilities that are read elsewhere leave it as
    it is. So do finite numbers in place of scores beside an addend that may be
    a mask: the number may have a share beside scores that the addend hides.

    ```mlir
    %scores = plan.call "aten.matmul.default"(%query, %key) ...
    %scaled = plan.call "aten.mul.Tensor"(%scores) {other = 0.25, ...}
    %masked = plan.call "aten.add.Tensor"(%scaled, %mask) ...
    %shares = plan.call "aten.softmax.int"(%masked) ...
    %out = plan.call "aten.matmul.default"(%shares, %value) ...
    // becomes
    %out, %logsumexp = plan.call "meshplan.attention"(%query, %key, %value, %mask) {scale = 0.25, ...}
    ```
  }];
  let dependentDialects = ["::meshplan::plan::PlanDialect"];
}

def FoldAttention : Pass<"plan-fold-attention", "::mlir::func::FuncOp"> {
  let summary = "make attention one op that knows its mask and its groups of heads";
  let description = [{
    Every `aten.scaled_dot_product_attention` on [batch, heads, sequence,
    features] becomes `meshplan.attention`, on three dims with one head, and this or one that is there already
    reads as little as it can, whatever the model calls its steps:

    - Keys and values whose heads are provably repeated are replaced by the
      tensor that they are repeated from.
    - A mask is read as a function of batch, head, query and key. A conjunction
      of `key <= query`, `query - key < window` and conditions on batch and key
      becomes the properties `causal`, `window` and the operand `key_mask`. A
      mask that is 0 and minus infinity counts as a boolean one; so does one
      with the lowest finite number, if every query sees a key.
    - Of a sum, the addends that are such masks become properties, and one other
      stays. The lowest number hides beside another addend only if that is known
      to be moderate, as the positions times slopes of ALiBi are.
    - A mask with any other part stays an operand as it is.

    Calls that nothing reads any more are erased.

    ```mlir
    %mask = plan.call "aten.le.Tensor"(%k, %q) ...
    %out = plan.call "aten.scaled_dot_product_attention.default"(%query, %key, %value, %mask) ...
    // becomes
    %out, %logsumexp = plan.call "meshplan.attention"(%query, %key, %value) {causal = true, ...}
    ```
  }];
  let dependentDialects = ["::meshplan::plan::PlanDialect"];
}

def FoldLookups : Pass<"plan-fold-lookups", "::mlir::func::FuncOp"> {
  let summary = "leave dims where they are that a lookup only counts";
  let description = [{
    In `self[indices]` an index tensor that is provably 0, 1, 2, ... along a dim
    of the result chooses nothing, but the operator reads all of the dim: it
    could not be divided. With at most one tensor that chooses, the lookup
    becomes `aten.gather` along its dim, which passes the others; with none, the
    elements are only moved.

    ```mlir
    %last = plan.call "aten.index.Tensor"(%hidden, %counted, %chosen) ... : [B, S, E], [B], [B] -> [B, E]
    // becomes
    %wide = plan.call "aten.expand.default"(%chosen as [B, 1, 1]) {size = [B, 1, E]}
    %last = plan.call "aten.gather.default"(%hidden, %wide) {dim = 1}, reshaped to [B, E]
    ```

    An index tensor that is provably n, n + 1, n + 2, ... along the dim that it
    makes takes a run of elements: the lookup becomes `aten.slice`.

    What chooses may count from the end, and is made to count from the front. What
    counts provably stays within its dim.
  }];
  let dependentDialects = ["::meshplan::plan::PlanDialect"];
}

def DecomposeLoss : Pass<"plan-decompose-loss", "::mlir::func::FuncOp"> {
  let summary = "make losses of class numbers the sums that can be divided over the vocabulary";
  let description = [{
    `aten.cross_entropy_loss` of logits [N, C] and class numbers [N] becomes the
    row kernels of the runtime:

    ```mlir
    %max = plan.call "meshplan.row_max"(%logits)
    %sum = plan.call "meshplan.row_sum_exp"(%logits, %max)
    %picked = plan.call "meshplan.row_pick"(%logits, %target)
    %losses = plan.call "meshplan.token_loss"(%max, %sum, %picked, %target)
    ```

    The mean is the sum of the losses divided by `meshplan.count_tokens`; of
    16-bit logits both are 32-bit. `aten.nll_loss` reads logarithms of
    probabilities: its losses are the picked ones, without maximum and sum.

    Weights of classes give each target one (`meshplan.class_weight`), whose sum
    the mean is divided by. Label smoothing also reads
    `meshplan.row_sum_log_softmax`, a sum over the vocabulary like the others:

    ```mlir
    %weights = plan.call "meshplan.class_weight"(%weight, %target)
    %logs = plan.call "meshplan.row_sum_log_softmax"(%logits, %max, %sum, %weight)
    %losses = plan.call "meshplan.token_loss"(%max, %sum, %logs, %weights, %picked, %target) {label_smoothing = ...}
    ```

    Every other form, such as probabilities for targets, is left as it is.
  }];
  let dependentDialects = ["::meshplan::plan::PlanDialect"];
}

def SplitLossReductions : Pass<"plan-split-loss-reductions", "::mlir::func::FuncOp"> {
  let summary = "take the sum or mean of a loss out of the call that makes its elements";
  let description = [{
    A loss of a prediction and a target (`aten.mse_loss`, `aten.l1_loss`,
    `aten.binary_cross_entropy_with_logits`, ...) that ends in a mean or a sum
    becomes the same call without reduction and the reduction:

    ```mlir
    %losses = plan.call "aten.mse_loss.default"(%x, %y) {..., reduction = 0 : i64}
    %loss = plan.call "aten.mean.default"(%losses)
    ```

    PyTorch computes it in these two steps as well, so that the bits are the same.
    The mean or sum of 16-bit losses is taken in f32 and rounded once.
  }];
  let dependentDialects = ["::meshplan::plan::PlanDialect"];
}

def Simplify : Pass<"plan-simplify", "::mlir::func::FuncOp"> {
  let summary = "remove calls that do nothing, repeat another one or are not read";
  let description = [{
    Exact on values that never change: conversions to the type that a tensor
    has, alias, dropout that drops nothing. A clone becomes `aten.contiguous`,
    which views can read too and which copies only what is not contiguous. A
    detach goes only where no trainable parameter is behind it, as it stops a
    gradient. Operators that ATen computes by calling others (`aten.kron`,
    `aten.tensordot`, `aten.meshgrid`, `aten.broadcast_tensors`) become these,
    and an operator that has several names gets the one with a record
    (`aten.multiply`, `aten.swapaxes`, `aten.narrow`). The last
    states of an lstm get their shape, which PyTorch records with a dim too many,
    unless something reads them. Calls of random operators, or of two modules, are
    never merged.
  }];
  let dependentDialects = ["::meshplan::plan::PlanDialect"];
}

def UnmergeDims : Pass<"plan-unmerge-dims", "::mlir::func::FuncOp"> {
  let summary = "leave dims apart that a model merges only to split them again";
  let description = [{
    In a dim that merges two, only the first can be divided: of batch and heads
    in one dim the heads cannot be. Where views and permutations in a row merge
    dims on their way that lie apart before and behind, the last tensor is made
    of the first in one split, one permutation and one view.

    ```mlir
    %1 = plan.call "aten.view.default"(%0) {size = [S, B * H, D], ...}    // from [S, B, H * D]
    %2 = plan.call "aten.transpose.int"(%1) {dim0 = 0, dim1 = 1, ...}
    %3 = plan.call "aten.view.default"(%2) {size = [B, H, S, D], ...}
    // becomes
    %1 = plan.call "aten.reshape.default"(%0) {shape = [S, B, H, D], ...}
    %3 = plan.call "aten.permute.default"(%1) {dims = [1, 2, 0, 3], ...}
    ```

    A linear operator, `aten.mm` or `aten.addmm` on rows that merge dims in
    another order than they lie in, such as sequence before batch, becomes an
    `aten.linear` that keeps these dims, and its result is viewed as rows.

    Where views merge leading dims into rows, such as samples, positions and
    heads, operators compute on each row alone, and what they make is split again
    or moved, these operators get the dims in place of the rows: element by
    element, norms, sums and softmaxes of other dims, linear operators, and
    `aten.bmm`, which becomes `aten.matmul`.
  }];
  let dependentDialects = ["::meshplan::plan::PlanDialect"];
}

def LowerRandomOps : Pass<"plan-lower-random-ops", "::mlir::func::FuncOp"> {
  let summary = "draw random numbers by the place of an element in the whole tensor";
  let description = [{
    Dropouts (plain, of features, alpha), Bernoulli and uniform numbers, and
    attention with dropout become calls whose numbers follow from the settings
    `seed` and `step` of the program, the number of the operator, in program
    order, and the place of an element in the whole tensor: `meshplan.dropout`,
    `meshplan.uniform`, and `meshplan.attention` with these operands. They give
    the same for every plan and number of ranks, and when they are called again.
    Normal, exponential, log-normal, Cauchy, geometric and integer numbers, and
    uniform ones between bounds, are functions of a `meshplan.uniform`: inverses
    of distribution functions, in f64.

    `plan.in_evaluation` says what stands in place of a dropout in evaluation.
    Products with Bernoulli numbers over their mean are dropouts too, and so are
    the steps of an alpha dropout: decompositions write them so.

    ```mlir
    %0 = plan.call "aten.dropout.default"(%x) {input = #base.operand<0>, p = 0.1, train = true} ...
    // becomes
    %0 = plan.call "meshplan.dropout"(%x, %seed, %step) {..., number = 0, p = 0.1} ...
    ```

    Runs behind `plan-simplify`, which removes what is switched off or not read.
  }];
  let dependentDialects = ["::meshplan::plan::PlanDialect"];
}

def RefuseRandomOps : Pass<"plan-refuse-random-ops", "::mlir::func::FuncOp"> {
  let summary = "refuse calls that draw random numbers";
  let description = [{
    Ranks that each draw their own numbers for one value disagree about it, and a
    rank that draws for its part of a value draws other numbers than for the
    whole. What `plan-lower-random-ops`, which runs before, has not given a form
    that does not depend on the layout is an error: layers with dropout inside
    (lstm), permutations, draws by weight.
  }];
  let dependentDialects = ["::meshplan::plan::PlanDialect"];
}

def CombineSlices : Pass<"plan-combine-slices", "::mlir::func::FuncOp"> {
  let summary = "make slices that tile a dim of a tensor one split";
  let description = [{
    A fused projection is often taken apart by slices. One split says of the
    parts what each slice alone does not: that they follow each other, so that
    each may be divided. Slices with gaps, overlaps or steps stay.

    ```mlir
    %q = plan.call "aten.slice.Tensor"(%x) {self = #base.operand<0>, dim = 1, end = 8} ...
    %k = plan.call "aten.slice.Tensor"(%x) {self = #base.operand<0>, dim = 1, start = 8} ...
    // becomes
    %q, %k = plan.call "aten.split_with_sizes.default"(%x) {self = #base.operand<0>, split_sizes = [8, 4], dim = 1}
    ```
  }];
  let dependentDialects = ["::meshplan::plan::PlanDialect"];
}

#endif // MESHPLAN_COMPILER_TRANSFORMS_IMPORT_PASSES_TD
