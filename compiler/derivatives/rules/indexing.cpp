//===- indexing.cpp - derivatives of reading and writing by index ---------===//

#include "compiler/derivatives/arithmetic.h"
#include "compiler/derivatives/derivative_rules.h"
#include "compiler/sharding/record_support/rule_builder.h"

using namespace mlir;
using namespace meshplan;

static void embeddingRule(Derivation &derivation) {
  const CallView &view = derivation.getView();
  Value weight = derivation.operand("weight");
  CallBuilder call = derivation.make("meshplan.embedding_gradient");
  call.tensor("gradient", derivation.gradient()).tensor("indices", derivation.operand("indices"));
  call.tensor("weight", weight);
  int64_t padding = view.getInt("padding_idx", -1);
  // -1 is the default of the schema: no padding row. Lower numbers count rows from the end.
  if (padding < -1)
    padding += shapeOf(weight)[0];
  call.integer("padding_idx", padding).literal("scale_grad_by_freq", view.get("scale_grad_by_freq"));
  derivation.give("weight", call.build(shapeOf(weight), elementOf(weight)));
}

static Value gathered(const Derivation &derivation, Value self, Value index) {
  return derivation.make("aten.gather.default")
      .tensor("self", self)
      .integer("dim", derivation.getView().getInt("dim", 0))
      .tensor("index", index)
      .build(shapeOf(index), elementOf(self));
}

static Value zeroed(const Derivation &derivation, Value self, Value index) {
  return derivation.make("aten.scatter.value")
      .tensor("self", self)
      .integer("dim", derivation.getView().getInt("dim", 0))
      .tensor("index", index)
      .number("value", 0)
      .build(shapeOf(self), elementOf(self));
}

/// Gives `self` the gradient `source`, added at the indices `index` along `dim`. `shape` is the shape of `self` after
/// broadcasting; the operand `like` of the call tells how the result is to be split.
static void giveScattered(Derivation &derivation, Value source, Value index, int64_t dim, ArrayRef<int64_t> shape) {
  derivation.give("self", derivation.make("meshplan.scatter_sum")
                              .tensor("source", source)
                              .tensor("index", index)
                              .tensor("like", derivation.operand("self"))
                              .integer("dim", dim)
                              .integers("size", shape)
                              .build(shape, elementOf(source)));
}

/// An element may be read several times, so gradients are added.
static void gatherRule(Derivation &derivation) {
  giveScattered(derivation, derivation.gradient(), derivation.operand("index"), derivation.getView().getInt("dim", 0),
                shapeOf(derivation.operand("self")));
}

/// Like gather, but other dims broadcast and indices may be negative. Without a dim the tensor is flattened, which is
/// left to the runtime.
static void takeAlongRule(Derivation &derivation) {
  Value self = derivation.operand("self"), indices = derivation.operand("indices"), gradient = derivation.gradient();
  int64_t rank = rankOf(self), dim = normalizeDim(derivation.getView().getInt("dim", 0), rank);
  if (!isa_and_present<IntegerAttr>(derivation.getView().get("dim")) || rank == 0 || dim < 0)
    return differentiateAtRunTime(derivation);
  SmallVector<int64_t> shape(shapeOf(gradient));
  Arithmetic math(derivation);
  Value index = math.expand(math.fromFront(indices, shapeOf(self)[dim]), shape);
  shape[dim] = shapeOf(self)[dim];
  giveScattered(derivation, gradient, index, dim, shape);
}

/// Gives `self` the gradient of self[indices]: each element is added where it was read.
static void giveIndexed(Derivation &derivation, ArrayRef<Value> indices) {
  Value self = derivation.operand("self");
  ArrayRef<int64_t> shape = shapeOf(self);
  derivation.give("self", derivation.make("meshplan.index_sum")
                              .tensor("source", derivation.gradient())
                              .tensors("indices", indices)
                              .tensor("like", self)
                              .integers("size", shape)
                              .build(shape, elementOf(derivation.gradient())));
}

static void indexSelectRule(Derivation &derivation) {
  int64_t rank = rankOf(derivation.operand("self"));
  int64_t dim = normalizeDim(derivation.getView().getInt("dim", 0), rank);
  if (rank == 0 || dim < 0)
    return differentiateAtRunTime(derivation);
  SmallVector<Value> indices(dim);
  indices.push_back(derivation.operand("index"));
  giveIndexed(derivation, indices);
}

/// The gradient of `src`: elements beyond the index were not read and get zeros.
static void giveSource(Derivation &derivation) {
  Value gradient = gathered(derivation, derivation.gradient(), derivation.operand("index"));
  ArrayRef<int64_t> shape = shapeOf(derivation.operand("src"));
  SmallVector<int64_t> pads;
  // aten lists the padding of the last dim first.
  for (auto [size, own] : llvm::reverse(llvm::zip_equal(shape, shapeOf(gradient))))
    pads.append({0, size - own});
  if (shapeOf(gradient) != shape)
    gradient = derivation.make("aten.constant_pad_nd.default")
                   .tensor("self", gradient)
                   .integers("pad", pads)
                   .number("value", 0)
                   .build(shape, elementOf(gradient));
  derivation.give("src", gradient);
}

static void scatterRule(Derivation &derivation) {
  if (derivation.wants("self"))
    derivation.give("self", zeroed(derivation, derivation.gradient(), derivation.operand("index")));
  if (derivation.wants("src"))
    giveSource(derivation);
}

static void scatterAddRule(Derivation &derivation) {
  derivation.give("self", derivation.gradient());
  if (derivation.wants("src"))
    giveSource(derivation);
}

static void indexAddRule(Derivation &derivation) {
  Arithmetic math(derivation);
  Value source = derivation.operand("source");
  derivation.give("self", derivation.gradient());
  if (!derivation.wants("source"))
    return;
  Value taken = derivation.make("aten.index_select.default")
                    .tensor("self", derivation.gradient())
                    .integer("dim", derivation.getView().getInt("dim", 0))
                    .tensor("index", derivation.operand("index"))
                    .build(shapeOf(source), elementOf(derivation.gradient()));
  derivation.give("source", math.mul(taken, derivation.getView().getFloat("alpha", 1)));
}

/// self[rows] is an embedding lookup, except that rows may be negative and may have several dims.
static bool indexRows(Derivation &derivation, ArrayRef<Value> indices) {
  Arithmetic math(derivation);
  ArrayRef<int64_t> shape = shapeOf(derivation.operand("self"));
  if (indices.size() != 1 || !indices[0] || shape.size() < 2 || elementOf(indices[0]).isInteger(1))
    return false;
  SmallVector<int64_t> read(shapeOf(indices[0])), table{shape[0], 1};
  for (int64_t size : shape.drop_front())
    table[1] *= size;
  // The remainder of a negative number is not negative: -1 becomes the last row.
  Value rows = derivation.make("aten.remainder.Scalar")
                   .tensor("self", indices[0])
                   .integer("other", shape[0])
                   .build(read, elementOf(indices[0]));
  read.push_back(table[1]);
  Value gradient = derivation.make("meshplan.embedding_gradient")
                       .tensor("gradient", math.reshape(derivation.gradient(), read))
                       .tensor("indices", rows)
                       .integer("rows", shape[0])
                       .build(table, elementOf(derivation.gradient()));
  derivation.give("self", math.reshape(gradient, shape));
  return true;
}

static void indexRule(Derivation &derivation) {
  SmallVector<Value> indices;
  for (std::optional<unsigned> operand : derivation.getView().getOperands("indices"))
    indices.push_back(operand ? derivation.getCall().getOperand(*operand) : Value());
  // Preferred where it fits: the kernel of embeddings adds whole rows, and its record divides rows and features.
  if (!indexRows(derivation, indices))
    giveIndexed(derivation, indices);
}

/// Operators that return values and their indices along a dim (max, topk, sort): each element is read at most once.
static void orderedRule(Derivation &derivation) {
  Arithmetic math(derivation);
  const CallView &view = derivation.getView();
  Value self = derivation.operand("self"), gradient = derivation.gradient(0), indices = derivation.result(1);
  int64_t rank = rankOf(self), dim = normalizeDim(view.getInt("dim", -1), rank);
  if (!gradient || rank == 0 || dim < 0)
    return differentiateAtRunTime(derivation);
  if (rankOf(indices) != rank) { // an extreme along a dim that is not kept
    SmallVector<int64_t> kept(shapeOf(self));
    kept[dim] = 1;
    gradient = math.reshape(gradient, kept);
    indices = math.reshape(indices, kept);
  }
  giveScattered(derivation, gradient, indices, dim, shapeOf(self));
}

void meshplan::addIndexingDerivatives(DerivativeTable &table) {
  table["aten.embedding.default"] = embeddingRule;
  table["aten.gather.default"] = gatherRule;
  table["aten.take_along_dim.default"] = takeAlongRule;
  table["aten.index_select.default"] = indexSelectRule;
  table["aten.scatter.src"] = table["aten.scatter.value"] = scatterRule;
  table["aten.scatter_add.default"] = scatterAddRule;
  table["aten.index_add.default"] = indexAddRule;
  table["aten.index.Tensor"] = indexRule;
  for (StringRef target : {"topk.default", "sort.default", "sort.stable", "max.dim", "min.dim", "kthvalue.default",
                           "median.dim", "mode.default"})
    table[("aten." + target).str()] = orderedRule;
  for (StringRef target :
       {"one_hot.default", "argsort.default", "argsort.stable", "bucketize.Tensor", "searchsorted.Tensor"})
    table[("aten." + target).str()] = noGradient;
}
