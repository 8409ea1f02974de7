//===- passes.td - phase import: a program that can be divided ------------===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_IMPORT_PASSES_TD
#define MESHPLAN_COMPILER_TRANSFORMS_IMPORT_PASSES_TD

include "mlir/Pass/PassBase.td"

def KeepReference : Pass<"plan-keep-reference", "::mlir::ModuleOp"> {
  let summary = "keep a copy of the imported program for one rank";
  let description = [{
    Copies the forward program, before other passes change it, to a function of the role `reference`, with which
    `meshplan-run verify` compares the ranks. The copy is in a module of its own, where function passes do not find it;
    `plan-schedule` moves it out. Layouts that the plan states are removed; `plan.loss` marks the loss. Views become
    reshapes, because kernels choose the strides of their results by precision and device.

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

def SpreadChosenRows : Pass<"plan-spread-chosen-rows", "::mlir::func::FuncOp"> {
  let summary = "compute rows that are chosen by data for all tokens";
  let description = [{
    A loop over experts takes the tokens that have chosen an expert, whose number is known only when the step runs, and
    adds its results, times their gates, where they came from. Types have no such extents. Here the operators of the loop
    get all tokens, and the gates of tokens that have not chosen the expert are 0: the sum is the same. The form is that
    of experts that compute all tokens, which `plan-recognize-experts` replaces by calls on routed tensors. Runs first,
    so that no other pass sees such an extent; dims that `archive::isDataExtent` are those of rows.

    Understood are positions in a mask `ids == e`, or `gates[:, e] > 0` of gates that are positive where they are chosen
    (`where` of one argument, `nonzero` as a tuple or by columns, boolean indices), rows of tokens and values of pairs at
    these positions, operators that compute each row alone, and rows times gates that are
    added (`index_add`, `index_put`) at the positions of their tokens. Tokens of several dims, as in `x[sample, position]`,
    are merged for these operators. All else is an error.

    ```mlir
    %slot, %token = plan.call "aten.where.default"(%mask) ... : [2, 64] -> [u0], [u0]
    %rows = plan.call "aten.index.Tensor"(%x, %token) ... : [u0, 32]
    %made = plan.call "aten.linear.default"(%rows, %w) ... : [u0, 32]
    %gates = plan.call "aten.index.Tensor"(%values as [64, 2, 1], %token, %slot) ... : [u0, 1]
    %weighted = plan.call "aten.mul.Tensor"(%made, %gates) ... : [u0, 32]
    %out = plan.call "aten.index_add.default"(%zeros, %token, %weighted) {dim = 0, ...} : [64, 32]
    // becomes
    %made = plan.call "aten.linear.default"(%x, %w) ... : [64, 32]
    %mask = plan.call "aten.eq.Scalar"(%ids) {other = 0, ...} : [64, 2]
    %masked = plan.call "aten.mul.Tensor"(%values, %mask) ... : [64, 2]
    %gates = plan.call "aten.sum.dim_IntList"(%masked) {dim = [-1], keepdim = true, ...} : [64, 1]
    %weighted = plan.call "aten.mul.Tensor"(%made, %gates) ... : [64, 32]
    %out = plan.call "aten.add.Tensor"(%zeros, %weighted) ... : [64, 32]
    ```
  }];
  let dependentDialects = ["::meshplan::plan::PlanDialect"];
}

def Autocast : Pass<"plan-autocast", "::mlir::ModuleOp"> {
  let summary = "compute products in 16 bits and sensitive operators in f32";
  let description = [{
    `compute` of `plan.precision` applies PyTorch's autocast to the exported graph, with PyTorch's lists for the device.
    Products get operands in that type, and losses (for CUDA also norms, softmax and sums) in f32. All other operators
    run in the types of their operands, which PyTorch's promotion makes equal where a kernel accepts one type only.
    Result types follow. Casts of the model, and explicit dtypes, stay. Values that derive only from integers and
    buffers, such as rotary angles, stay as well: models disable autocast around them, but an archive that was exported
    without autocast often does not record this. Calls with `plan.autocast_off` are in such regions and run in the types
    of their operands. The attribute is removed.

    A value is converted to a type once, before operators that only move it, so that a parameter is converted in the
    form in which it is stored and gathered in 16 bits. Runs before `plan-keep-reference`: the reference has the same
    casts.

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

    Errors: operators that PyTorch's autocast refuses, and operators in a region without autocast that would read
    several types although their kernel accepts only one.
  }];
  let dependentDialects = ["::meshplan::plan::PlanDialect"];
  let options = [
    Option<"device", "device", "std::string", [{"cpu"}], "whose lists apply: cpu or cuda">
  ];
}

def DecomposeBatchNorm : Pass<"plan-decompose-batch-norm", "::mlir::func::FuncOp"> {
  let summary = "decompose batch norms in training";
  let description = [{
    Decomposes `aten._native_batch_norm_legit_functional`, which archives after `run_decompositions` contain, and batch
    norms in training without running statistics, in both forms of archive, into means over all dims but the channels,
    products and sums, in f32 for 16-bit inputs. A divided batch then has the statistics of the whole batch, and
    gradients pass through them, as with PyTorch on the whole batch. Running statistics are updated by `momentum`, with
    the unbiased variance. `plan.in_evaluation` of the means gives the argument, a running statistic, that replaces them
    in evaluation. The new running statistics have the attribute as well, because the module reads them when it is
    called again. Without running statistics evaluation uses those of the batch.

    ```mlir
    %0:5 = plan.call "aten._native_batch_norm_legit_functional.default"(%x, %w, %b, %mean, %var) {training = true, momentum = 0.1, ...}
    // becomes
    %1 = plan.call "aten.mean.dim"(%x) {dim = [0, 2, 3], keepdim = true} {plan.in_evaluation = #plan.argument<buffer "norm.running_mean">}
    %2 = plan.call "aten.sub.Tensor"(%x, %1)
    ...
    ```
  }];
  let dependentDialects = ["::meshplan::plan::PlanDialect"];
}

def NormalizeLoss : Pass<"plan-normalize-loss", "::mlir::ModuleOp"> {
  let summary = "apply the mean of losses that the plan states";
  let description = [{
    `plan.normalize_loss` redefines an output of `forward` that is a loss of class indices, or sums and means of such
    losses: the call returns a loss for each target, and the statement defines the mean. Runs before
    `plan-keep-reference`, so that the reference has the same loss. It uses ordinary calls, which are differentiated and
    divided like all others.

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

    `per sequence` computes both sums for each sample of the dim `batch`, divides them (a count of 0 is taken as 1), and
    takes the mean of the quotients. Targets must derive from inputs with that dim, through operators that can be
    divided by samples. Class weights and label smoothing are part of the losses and do not change the count. If targets
    are probabilities, each of them counts.

    Errors: a loss that is computed in another way, and targets whose samples are unknown.
  }];
  let dependentDialects = ["::meshplan::plan::PlanDialect"];
}

def RecognizeAttention : Pass<"plan-recognize-attention", "::mlir::func::FuncOp"> {
  let summary = "replace attention written as separate operators by one op";
  let description = [{
    A softmax over a product of query and key, possibly scaled, capped by a tanh, with addends and hidden positions,
    whose only reader is the product with the values, becomes `meshplan.attention`. Everything after the scaling becomes
    its `mask`, which `plan-fold-attention` then folds. A dropout of the weights becomes its `dropout`.

    Replacing a score by a number removes its gradient. In a row of such numbers alone all weights are equal; the query
    of such a row becomes zeros, unless every query provably sees a key.

    Attention with steps of another kind, or with probabilities that are read elsewhere, is not changed. Nor is
    attention with finite numbers in place of scores and an addend that may be a mask: such a number may have a weight
    beside scores that the addend hides.

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
  let summary = "fold masks and repeated heads into the attention op";
  let description = [{
    Every `aten.scaled_dot_product_attention` on [batch, heads, sequence, features] (on three dims: with one head)
    becomes `meshplan.attention`. This op, or one that exists already, then reads as little as possible, however the
    model writes its steps:

    - Keys and values whose heads are provably repeated are replaced by the tensor whose heads are repeated.
    - A mask is read as a function of batch, head, query and key. A conjunction of `key <= query`, `query - key <
      window` and conditions on batch and key becomes the properties `causal` and `window` and the operand `key_mask`. A
      mask of 0 and minus infinity counts as a boolean mask; so does one with the lowest finite number, if every query
      sees a key.
    - In a sum, addends that are such masks become properties, and one other addend stays. The lowest finite number
      hides a key beside another addend only if this addend is known to be moderate, as ALiBi's positions times slopes
      are.
    - A mask with any other part stays an operand unchanged.

    Calls that are no longer read are erased.

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
  let summary = "keep dims in place that a lookup only counts";
  let description = [{
    In `self[indices]` an index tensor that is provably 0, 1, 2, ... along a dim of the result chooses nothing, but the
    operator reads the whole dim, which could then not be divided. If at most one index tensor chooses, the lookup
    becomes `aten.gather` along its dim, in which the other dims can be divided; if none chooses, the elements are only
    moved.

    ```mlir
    %last = plan.call "aten.index.Tensor"(%hidden, %counted, %chosen) ... : [B, S, E], [B], [B] -> [B, E]
    // becomes
    %wide = plan.call "aten.expand.default"(%chosen as [B, 1, 1]) {size = [B, 1, E]}
    %last = plan.call "aten.gather.default"(%hidden, %wide) {dim = 1}, reshaped to [B, E]
    ```

    An index tensor that is provably n, n + 1, n + 2, ... along its own dim takes a contiguous range of elements: the
    lookup becomes `aten.slice`.

    Choosing indices may be negative and are then made to count from the front. Counting indices are provably within
    their dim.
  }];
  let dependentDialects = ["::meshplan::plan::PlanDialect"];
}

def DecomposeLoss : Pass<"plan-decompose-loss", "::mlir::func::FuncOp"> {
  let summary = "decompose losses of class indices into sums that can be divided";
  let description = [{
    `aten.cross_entropy_loss` of logits [N, C] and class indices [N] becomes row kernels of the runtime:

    ```mlir
    %max = plan.call "meshplan.row_max"(%logits)
    %sum = plan.call "meshplan.row_sum_exp"(%logits, %max)
    %picked = plan.call "meshplan.row_pick"(%logits, %target)
    %losses = plan.call "meshplan.token_loss"(%max, %sum, %picked, %target)
    ```

    The mean is the sum of the losses divided by `meshplan.count_tokens`; for 16-bit logits both are 32-bit.
    `aten.nll_loss` reads log probabilities: its losses are the picked ones, without maximum and sum.

    Class weights give each target a weight (`meshplan.class_weight`); the mean is divided by their sum. Label smoothing
    also reads `meshplan.row_sum_log_softmax`, a sum over the vocabulary like the others:

    ```mlir
    %weights = plan.call "meshplan.class_weight"(%weight, %target)
    %logs = plan.call "meshplan.row_sum_log_softmax"(%logits, %max, %sum, %weight)
    %losses = plan.call "meshplan.token_loss"(%max, %sum, %logs, %weights, %picked, %target) {label_smoothing = ...}
    ```

    All other forms, such as probabilities as targets, are not changed.
  }];
  let dependentDialects = ["::meshplan::plan::PlanDialect"];
}

def SplitLossReductions : Pass<"plan-split-loss-reductions", "::mlir::func::FuncOp"> {
  let summary = "split the sum or mean off a loss of elements";
  let description = [{
    A loss of a prediction and a target (`aten.mse_loss`, `aten.l1_loss`, `aten.binary_cross_entropy_with_logits`, ...)
    that ends in a mean or a sum becomes the same call without reduction, followed by the reduction:

    ```mlir
    %losses = plan.call "aten.mse_loss.default"(%x, %y) {..., reduction = 0 : i64}
    %loss = plan.call "aten.mean.default"(%losses)
    ```

    PyTorch computes the loss in the same two steps, so that the bits are the same. The mean or sum of 16-bit losses is
    computed in f32 and rounded once.
  }];
  let dependentDialects = ["::meshplan::plan::PlanDialect"];
}

def Simplify : Pass<"plan-simplify", "::mlir::func::FuncOp"> {
  let summary = "remove calls that change nothing, repeat another call or are not read";
  let description = [{
    Removes calls that change nothing: conversions to the type that a tensor already has, alias, inactive dropout. This
    is exact because values are immutable. A clone becomes `aten.contiguous`, which views can read as well and which
    copies only tensors that are not contiguous. A detach stops a gradient, so it is removed only if its operand
    depends on no trainable parameter. Operators that ATen computes by calling others (`aten.kron`, `aten.tensordot`,
    `aten.meshgrid`, `aten.broadcast_tensors`) are replaced by these, and an operator with several names gets the name
    that has a record (`aten.multiply`, `aten.swapaxes`, `aten.narrow`). The last states of an lstm, which PyTorch
    records with an extra dim, get their correct shape unless they are read. Calls of random operators, or of two
    modules, are never merged.
  }];
  let dependentDialects = ["::meshplan::plan::PlanDialect"];
}

def UnmergeDims : Pass<"plan-unmerge-dims", "::mlir::func::FuncOp"> {
  let summary = "keep dims apart that a model merges only to split them again";
  let description = [{
    In a dim that merges two others only the major one can be divided: if batch and heads are merged, the heads cannot
    be. If a chain of views and permutations merges dims that are separate before and after it, the last tensor is
    computed from the first with one split, one permutation and one view.

    ```mlir
    %1 = plan.call "aten.view.default"(%0) {size = [S, B * H, D], ...}    // from [S, B, H * D]
    %2 = plan.call "aten.transpose.int"(%1) {dim0 = 0, dim1 = 1, ...}
    %3 = plan.call "aten.view.default"(%2) {size = [B, H, S, D], ...}
    // becomes
    %1 = plan.call "aten.reshape.default"(%0) {shape = [S, B, H, D], ...}
    %3 = plan.call "aten.permute.default"(%1) {dims = [1, 2, 0, 3], ...}
    ```

    A linear operator, `aten.mm` or `aten.addmm` on rows that merge dims in another order than that of the tensor, such
    as sequence before batch, becomes an `aten.linear` that keeps these dims, and its result is viewed as rows.

    If views merge leading dims, such as samples, positions and heads, into rows, and operators compute on each row alone,
    these operators get the dims instead of the rows: elementwise operators, norms, linear operators, sums, softmaxes,
    sorts, choices and lookups along other dims, views of other dims, and `aten.bmm`, which becomes `aten.matmul`. Views
    that split their results are removed. Where another operator needs rows, they are merged again before it, such as
    the numbers and gates of the experts that a router chooses for each token:

    ```mlir
    %r = plan.call "aten.view.default"(%x) {size = [B * S, H], ...}    // from [B, S, H]
    %l = plan.call "aten.linear.default"(%r, %w) ...                   // [B * S, E]
    %t:2 = plan.call "aten.topk.default"(%l) {k = K, ...}              // [B * S, K]
    %n = plan.call "aten.view.default"(%t#1) {size = [B * S * K], ...} // the numbers of all tokens, which are sorted
    // becomes
    %l = plan.call "aten.linear.default"(%x, %w) ...                   // [B, S, E]
    %t:2 = plan.call "aten.topk.default"(%l) {k = K, ...}              // [B, S, K]
    %n = plan.call "aten.view.default"(%t#1) {size = [B * S * K], ...}
    ```

    This is done only if fewer elements are merged again than the operators read merged before: not for an MLP between
    two operators that need rows.
  }];
  let dependentDialects = ["::meshplan::plan::PlanDialect"];
}

def RecognizeExperts : Pass<"plan-recognize-experts", "::mlir::func::FuncOp"> {
  let summary = "replace the experts' part of a mixture by calls on routed tensors";
  let description = [{
    A mixture computes a row for each pair of a token and an expert that it has chosen. Models keep all rows in one dim,
    sorted by expert or by token, which no plan can divide. Here they become routed tensors [experts, *tokens, features],
    of which only chosen elements are stored; experts and tokens are dims that a plan can divide.

    The starting point is a flat list of experts, one for each token and slot, which sorts the rows (the grouped form) or
    copies the weights of each row's expert (the batched form, also with dims for tokens and slots). Each value from there to the sum over the slots is
    understood, or the operators stay as they are, with a remark that names the operator. Numbers of experts must derive
    from an operator that gives each token different ones, such as `aten.topk`. Tokens have the dims into which the merge
    of the rows can be undone.

    Another form is a list of equal modules that compute all tokens, each times a gate that is 0 for tokens that have not
    chosen the expert: a sum of masked values, or one of the gates of all experts by scatter, one-hot vectors, or functions
    of these (`experts/sparse_gates.h`). The parameters of the modules are stacked, and only rows of chosen experts are
    computed. So are those of experts with stacked weights whose results are multiplied by such gates, or that read a copy of
    the tokens times the gates, if all that is computed from zeros is zero. Experts weighted by a softmax over all of them
    stay as they are. Gates that depend on a choice, but are not provably 0 elsewhere, get a remark.

    Sums in which each slot of a choice has the results of all experts are first made those of one mixture, with the sum
    of the gates of all slots.

    In one-hot products with a capacity, tokens have positions by a running sum. If no two tokens of an expert can have
    the same one, the rows are those of a routed tensor, and the gates of tokens without a position are 0.

    A dropout of rows becomes `meshplan.dropout_rows`, which reads the position of each row among those of all tokens and
    experts: what it drops depends neither on the form of the model nor on where a row is.

    ```mlir
    %flat = plan.call "aten.view.default"(%chosen) ... : [4, 16, 2] -> [128]
    %sorted, %order = plan.call "aten.sort.default"(%flat) ...
    %tokens = plan.call "aten.floor_divide.default"(%order) {other = 2, ...}
    %rows = plan.call "aten.index.Tensor"(%x as [64, 32], %tokens) ... : [128, 32]
    %ends = plan.call "aten.cumsum.default"(histc of %sorted) ...
    %up = plan.call "meshplan.grouped_mm"(%rows, %weight, %ends) ... : [128, 96]
    %act = plan.call "aten.silu.default"(%up) ...
    ...
    // becomes
    %table, %counts = plan.call "meshplan.route"(%chosen) {first = 0, experts = 8, ...} : [4, 16, 2] -> [8, 4, 16], [8, 4, 16]
    %rows = plan.call "meshplan.dispatch"(%x, %table) {slots = 2, ...} : [8, 4, 16, 32]
    %up = plan.call "meshplan.grouped_linear"(%rows, %weight, %counts) {transposed = false, ...} : [8, 4, 16, 96]
    %act = plan.call "aten.silu.default"(%up) ...
    ...
    %out = plan.call "meshplan.combine"(%weighted, %table) {slots = 2, size = [4, 16, 32], ...}
    ```
  }];
  let dependentDialects = ["::meshplan::plan::PlanDialect"];
}

def LowerRandomOps : Pass<"plan-lower-random-ops", "::mlir::func::FuncOp"> {
  let summary = "make random numbers a function of the element position in the whole tensor";
  let description = [{
    Dropouts (plain, of features, alpha), Bernoulli and uniform numbers, and attention with dropout become calls whose
    random numbers are a function of the settings `seed` and `step` of the program, the number of the operator in
    program order, and the position of an element in the whole tensor: `meshplan.dropout`, `meshplan.uniform`, and
    `meshplan.attention` with these operands. They give the same numbers for every plan and every number of ranks, and
    when they are recomputed. Normal, exponential, log-normal, Cauchy, geometric and integer numbers, and uniform
    numbers between bounds, are computed from `meshplan.uniform` by the inverse of the distribution function, in f64.
    `meshplan.dropout_rows`, the dropout of rows of experts, gets the same operands.

    `plan.in_evaluation` gives the replacement of a dropout in evaluation. Products with Bernoulli numbers divided by
    their mean are dropouts as well, and so are the steps of an alpha dropout: decompositions write them in this form.

    ```mlir
    %0 = plan.call "aten.dropout.default"(%x) {input = #base.operand<0>, p = 0.1, train = true} ...
    // becomes
    %0 = plan.call "meshplan.dropout"(%x, %seed, %step) {..., number = 0, p = 0.1} ...
    ```

    Runs after `plan-simplify`, which removes random operators that are inactive or not read.
  }];
  let dependentDialects = ["::meshplan::plan::PlanDialect"];
}

def RefuseRandomOps : Pass<"plan-refuse-random-ops", "::mlir::func::FuncOp"> {
  let summary = "refuse calls that draw random numbers";
  let description = [{
    If ranks draw their own numbers for one value they disagree about it, and a rank that draws for its shard draws
    other numbers than for the whole tensor. So every random operator that `plan-lower-random-ops`, which runs before,
    could not make independent of the layout is an error: layers with internal dropout (lstm), permutations, weighted
    draws.
  }];
  let dependentDialects = ["::meshplan::plan::PlanDialect"];
}

def CombineSlices : Pass<"plan-combine-slices", "::mlir::func::FuncOp"> {
  let summary = "combine slices that tile a dim into one split";
  let description = [{
    A fused projection is often separated by slices. A single split tells what separate slices do not: that the parts
    are adjacent, so that each can be divided. Slices with gaps, overlaps or steps stay.

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
