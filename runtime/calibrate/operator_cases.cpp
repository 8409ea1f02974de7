//===- operator_cases.cpp - operators to measure --------------------------===//

#include "runtime/calibrate/operator_cases.h"

#include "runtime/schema/cluster_keys.h"
#include "runtime/tensor/device.h"
#include "runtime/tensor/operator.h"

#include <cstring>
#include <numeric>

using namespace meshplan;

using Shape = std::vector<int64_t>;

namespace {

/// The sizes that are measured. Those of a CPU take milliseconds; a GPU reaches its rates only with more work, and
/// keeps 50 MB in its cache.
struct CaseSizes {
  Shape rows, columns, contracted; ///< m, n and k of products
  int64_t gradientRows = 0;        ///< that gradients of weights sum
  Shape gradientSides;             ///< of the weights
  Shape memoryRows;                ///< of rowSize elements, of memory-bound operators
  int64_t heads = 0;               ///< of attention, of headSize elements
  Shape attentionRows;

  int64_t leastPool = 0; ///< elements of a pool: several times what a cache holds

  int64_t poolElements() const;
};

/// A call with its tensors. Results are freed before the next execution, as in a step.
struct PreparedCall {
  std::unique_ptr<OperatorCall> call;
  std::vector<std::vector<Tensor>> operands; ///< of each execution in turn, so that they are not in a cache
  size_t next = 0;
  std::vector<Tensor> values;

  Status run() {
    const std::vector<Tensor> &inputs = operands[next];
    next = (next + 1) % operands.size();
    for (size_t index = 0; index < values.size(); ++index)
      values[index] = index < inputs.size() ? inputs[index] : Tensor();
    return call->run(values);
  }
};

/// Makes cases over views of a few large tensors, so that all cases together need little memory.
class CaseBuilder {
public:
  static Expected<CaseBuilder> create(DType dtype);

  /// A tensor of this shape; `slot` 0 to 3 are distinct memory, and so are several `parts` of a slot, as far as it has
  /// room for them.
  Expected<Tensor> tensor(const Shape &shape, int slot, int64_t part = 0) const {
    int64_t count = std::accumulate(shape.begin(), shape.end(), int64_t(1), std::multiplies<>());
    int64_t room = std::max<int64_t>(pools[slot].elementCount() / count, 1);
    MESHPLAN_ASSIGN_OR_RETURN(Tensor elements, narrow(pools[slot], 0, part % room * count, count));
    return reshape(elements, shape);
  }

  /// Parts of a slot that tensors of so many elements take in turn.
  int64_t partsOf(int64_t elements) const {
    return std::clamp<int64_t>(pools.front().elementCount() / elements, 1, mostParts);
  }

  /// A tensor of whole numbers below `limit`.
  static Expected<Tensor> indices(const Shape &shape, int64_t limit);
  static Expected<Tensor> scalar(double value);

  /// Adds a call whose tensor arguments are `tensors`, in order, by their names in `names`.
  Status add(CaseTable table, double size, const std::vector<std::string> &names, std::vector<Tensor> tensors,
             std::vector<Argument> literals, int results, std::array<int64_t, 3> shape = {});

  /// Tensors that the last case takes in turn with those that it has.
  void alternate(std::vector<Tensor> tensors) { last->operands.push_back(std::move(tensors)); }

  std::string dtypeText() const { return std::string(dtypeName(dtype)); }
  double bytes(int64_t elements) const { return static_cast<double>(elements * dtypeSize(dtype)); }

  std::vector<Case> cases;
  DType dtype;
  CaseSizes sizes;

  static Expected<Tensor> randomTensor(DType dtype, int64_t count);

private:
  CaseBuilder(DType dtype, CaseSizes sizes) : dtype(dtype), sizes(std::move(sizes)) {}

  /// Enough for a pool that is as large as a cache at the smallest size.
  static constexpr int64_t mostParts = 1024;

  std::array<Tensor, 4> pools;
  std::shared_ptr<PreparedCall> last;
};

} // namespace

static constexpr int64_t rowSize = 1024, headSize = 64;

static CaseSizes sizesFor(DType dtype) {
  if (!deviceOfThread().isHost())
    return {.rows = {1, 64, 512, 4096, 16384},
            .columns = {64, 512, 2048, 8192},
            .contracted = {64, 512, 2048, 8192},
            .gradientRows = 8192,
            .gradientSides = {256, 1024, 4096},
            .memoryRows = {16, 256, 4096, 65536},
            .heads = 64,
            .attentionRows = {128, 1024, 4096},
            .leastPool = int64_t(1) << 26};
  CaseSizes sizes{.rows = {1, 32, 256, 2048},
                  .columns = {32, 256, 2048},
                  .contracted = {32, 256, 2048},
                  .gradientRows = 512,
                  .gradientSides = {64, 512, 1024},
                  .memoryRows = {16, 256, 4096},
                  .heads = 4,
                  .attentionRows = {64, 256, 1024},
                  .leastPool = int64_t(1) << 24};
  // 16-bit products of a CPU without matrix units are slow, so few rows stand for many there.
  if (dtypeSize(dtype) < 4) {
    sizes.rows.pop_back();
    sizes.gradientSides.pop_back();
  }
  return sizes;
}

/// The elements of the largest tensor of a case.
int64_t CaseSizes::poolElements() const {
  return std::max({rows.back() * contracted.back(), columns.back() * contracted.back(),
                   gradientRows * gradientSides.back(), memoryRows.back() * rowSize,
                   heads * attentionRows.back() * headSize, leastPool});
}

Expected<CaseBuilder> CaseBuilder::create(DType dtype) {
  CaseBuilder builder(dtype, sizesFor(dtype));
  for (Tensor &pool : builder.pools) {
    MESHPLAN_ASSIGN_OR_RETURN(pool, randomTensor(dtype, builder.sizes.poolElements()));
  }
  return builder;
}

/// Numbers between -1 and 1: a device may compute faster, and with less power, on zeros.
Expected<Tensor> CaseBuilder::randomTensor(DType dtype, int64_t count) {
  std::vector<float> elements(count);
  uint32_t state = 1;
  for (float &element : elements) {
    state = state * 1664525 + 1013904223;
    element = static_cast<float>(static_cast<int32_t>(state)) / 2147483648.0F;
  }
  MESHPLAN_ASSIGN_OR_RETURN(Tensor host, allocateHostTensor(Shape{count}, dtype));
  convertFloats(reinterpret_cast<const std::byte *>(elements.data()), DType::f32, host.data(), dtype, count);
  return onDevice(host);
}

Expected<Tensor> CaseBuilder::indices(const Shape &shape, int64_t limit) {
  MESHPLAN_ASSIGN_OR_RETURN(Tensor host, allocateHostTensor(shape, DType::i64));
  auto *elements = reinterpret_cast<int64_t *>(host.data());
  for (int64_t index = 0; index < host.elementCount(); ++index)
    elements[index] = index * 7919 % limit;
  return onDevice(host);
}

Expected<Tensor> CaseBuilder::scalar(double value) {
  MESHPLAN_ASSIGN_OR_RETURN(Tensor host, allocateHostTensor({}, DType::f64));
  std::memcpy(host.data(), &value, sizeof(value));
  return onDevice(host);
}

Status CaseBuilder::add(CaseTable table, double size, const std::vector<std::string> &names,
                        std::vector<Tensor> tensors, std::vector<Argument> literals, int results,
                        std::array<int64_t, 3> shape) {
  auto prepared = std::make_shared<PreparedCall>();
  auto inputs = static_cast<int>(tensors.size());
  prepared->operands = {std::move(tensors)};
  std::vector<Argument> arguments = std::move(literals);
  for (int index = 0; index < inputs; ++index)
    arguments.push_back({names[index], ValueArgument{index}});
  std::vector<int> outputs(results);
  std::iota(outputs.begin(), outputs.end(), inputs);
  prepared->values.resize(inputs + results);
  MESHPLAN_ASSIGN_OR_RETURN(prepared->call, prepareCall(table.name, arguments, outputs));
  last = prepared;
  cases.push_back({std::move(table), size, shape, [prepared] { return prepared->run(); }});
  return Status();
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

static Status addProduct(CaseBuilder &builder, std::array<int64_t, 3> shape) {
  auto [m, n, k] = shape;
  MESHPLAN_ASSIGN_OR_RETURN(Tensor left, builder.tensor({m, k}, 0));
  MESHPLAN_ASSIGN_OR_RETURN(Tensor right, builder.tensor({n, k}, 1));
  CaseTable table{CaseTable::Kind::product, "aten.linear.default", builder.dtypeText(), true};
  double flops = 2.0 * static_cast<double>(m * n * k);
  return builder.add(table, flops, {"input", "weight"}, {left, right}, {}, 1, shape);
}

/// The grid of shapes.
static Status addProducts(CaseBuilder &builder) {
  for (int64_t m : builder.sizes.rows)
    for (int64_t n : builder.sizes.columns)
      for (int64_t k : builder.sizes.contracted)
        MESHPLAN_RETURN_IF_ERROR(addProduct(builder, {m, n, k}));
  return Status();
}

/// Gradients of weights: [n, k] from k rows of n and of m elements.
static Status addWeightGradients(CaseBuilder &builder) {
  for (int64_t side : builder.sizes.gradientSides) {
    int64_t rows = builder.sizes.gradientRows;
    MESHPLAN_ASSIGN_OR_RETURN(Tensor left, builder.tensor({rows, side}, 0));
    MESHPLAN_ASSIGN_OR_RETURN(Tensor right, builder.tensor({rows, side}, 1));
    CaseTable table{CaseTable::Kind::operators, "meshplan.weight_gradient", builder.dtypeText(), true};
    double flops = 2.0 * static_cast<double>(rows * side * side);
    MESHPLAN_RETURN_IF_ERROR(builder.add(table, flops, {"left", "right"}, {left, right}, {}, 1));
  }
  return Status();
}

//===----------------------------------------------------------------------===//
// Memory-bound operators
//===----------------------------------------------------------------------===//

/// An operator on `operands` tensors of [rows, 1024] with one result of that shape, unless `reduces`: then the result
/// has one element for each row.
struct RowOperator {
  const char *target;
  std::vector<std::string> operands;
  std::vector<Argument> literals = {};
  bool reduces = false;
};

static std::vector<RowOperator> rowOperators() {
  Argument lastDim{"dim", std::vector<int64_t>{-1}}, keeps{"keepdim", true};
  return {{"aten.add.Tensor", {"self", "other"}},
          {"aten.mul.Tensor", {"self", "other"}},
          {"aten.mul.Scalar", {"self"}, {{"other", 0.5}}},
          {"aten.pow.Tensor_Scalar", {"self"}, {{"exponent", int64_t(2)}}},
          {"aten.clone.default", {"self"}},
          {"aten.silu.default", {"self"}},
          {"aten.silu_backward.default", {"grad_output", "self"}},
          {"aten.gelu.default", {"self"}},
          {"aten.gelu_backward.default", {"grad_output", "self"}},
          {"aten.tanh.default", {"self"}},
          {"aten._softmax.default", {"self"}, {{"dim", int64_t(-1)}, {"half_to_float", false}}},
          {"aten.sum.dim_IntList", {"self"}, {lastDim, keeps}, true},
          {"aten.mean.dim", {"self"}, {lastDim, keeps}, true},
          {"meshplan.row_max", {"input"}, {}, true}};
}

/// Adds a case with `add`, whose operands of these shapes are other memory in each execution. The largest of them has
/// `elements`.
template <typename Add>
static Status addAlternating(CaseBuilder &builder, int64_t elements, const std::vector<Shape> &shapes, const Add &add) {
  for (int64_t part = 0; part < builder.partsOf(elements); ++part) {
    std::vector<Tensor> tensors;
    for (const Shape &shape : shapes) {
      MESHPLAN_ASSIGN_OR_RETURN(Tensor tensor, builder.tensor(shape, static_cast<int>(tensors.size()), part));
      tensors.push_back(std::move(tensor));
    }
    if (part == 0)
      MESHPLAN_RETURN_IF_ERROR(add(std::move(tensors)));
    else
      builder.alternate(std::move(tensors));
  }
  return Status();
}

static Status addRowOperators(CaseBuilder &builder) {
  for (const RowOperator &each : rowOperators())
    for (int64_t rows : builder.sizes.memoryRows) {
      auto count = static_cast<int64_t>(each.operands.size());
      int64_t moved = count * rows * rowSize + (each.reduces ? rows : rows * rowSize);
      CaseTable table{CaseTable::Kind::operators, each.target, builder.dtypeText()};
      MESHPLAN_RETURN_IF_ERROR(addAlternating(
          builder, rows * rowSize, std::vector<Shape>(count, {rows, rowSize}), [&](std::vector<Tensor> tensors) {
            return builder.add(table, builder.bytes(moved), each.operands, std::move(tensors), each.literals, 1);
          }));
    }
  return Status();
}

/// Losses over rows of classes: their forward and backward pass sweep over the logits.
static Status addLosses(CaseBuilder &builder) {
  for (int64_t rows : builder.sizes.memoryRows) {
    MESHPLAN_ASSIGN_OR_RETURN(Tensor logits, builder.tensor({rows, rowSize}, 0));
    MESHPLAN_ASSIGN_OR_RETURN(Tensor most, builder.tensor({rows}, 1));
    MESHPLAN_ASSIGN_OR_RETURN(Tensor sums, builder.tensor({rows}, 2));
    MESHPLAN_ASSIGN_OR_RETURN(Tensor gradient, builder.tensor({rows}, 3));
    MESHPLAN_ASSIGN_OR_RETURN(Tensor target, CaseBuilder::indices({rows}, rowSize));
    auto table = [&](const char *name) { return CaseTable{CaseTable::Kind::operators, name, builder.dtypeText()}; };
    double row = builder.bytes(rows), all = builder.bytes(rows * rowSize), targets = 8.0 * static_cast<double>(rows);
    MESHPLAN_RETURN_IF_ERROR(
        builder.add(table("meshplan.row_sum_exp"), all + 2 * row, {"input", "max"}, {logits, most}, {}, 1));
    MESHPLAN_RETURN_IF_ERROR(builder.add(table("meshplan.row_loss_gradient"), 2 * all + 3 * row + targets,
                                         {"gradient", "input", "target", "max", "sum_exp"},
                                         {gradient, logits, target, most, sums},
                                         {{"ignore_index", int64_t(-100)}, {"classes", rowSize}}, 1));
  }
  return Status();
}

/// The update of a parameter by Adam: reads four tensors and writes three of them.
static Status addOptimizer(CaseBuilder &builder) {
  MESHPLAN_ASSIGN_OR_RETURN(Tensor rate, CaseBuilder::scalar(1e-6));
  MESHPLAN_ASSIGN_OR_RETURN(Tensor step, CaseBuilder::scalar(10));
  for (int64_t rows : builder.sizes.memoryRows) {
    std::vector<Tensor> tensors;
    for (int slot = 0; slot < 4; ++slot) {
      // The square average may not be negative, so it is a copy of zeros.
      MESHPLAN_ASSIGN_OR_RETURN(Tensor tensor, slot < 3 ? builder.tensor({rows, rowSize}, slot)
                                                        : allocateTensor(Shape{rows, rowSize}, builder.dtype));
      if (slot == 3)
        MESHPLAN_RETURN_IF_ERROR(fillZeros(tensor));
      tensors.push_back(std::move(tensor));
    }
    tensors.push_back(rate);
    tensors.push_back(step);
    CaseTable table{CaseTable::Kind::operators, "meshplan.adam", builder.dtypeText()};
    MESHPLAN_RETURN_IF_ERROR(
        builder.add(table, builder.bytes(7 * rows * rowSize) + 16,
                    {"parameter", "gradient", "average", "square_average", "learning_rate", "step"}, std::move(tensors),
                    {{"beta1", 0.9}, {"beta2", 0.999}, {"eps", 1e-8}, {"weight_decay", 0.1}, {"decoupled", true}}, 3));
  }
  return Status();
}

/// Multiplications and additions whose operands are not alike.
static Status addAccesses(CaseBuilder &builder) {
  auto table = [&](const char *name, cluster_keys::Key access) {
    CaseTable made{CaseTable::Kind::operators, name, builder.dtypeText()};
    made.access = access;
    return made;
  };
  // Runs of elements between two jumps in memory, as short as a head of attention, and of a vector of a norm.
  constexpr int64_t heads = rowSize / headSize, vectorSize = 256, vectors = rowSize / vectorSize;
  DType other = builder.dtype == DType::f32 ? DType::bf16 : DType::f32;
  MESHPLAN_ASSIGN_OR_RETURN(Tensor converted,
                            CaseBuilder::randomTensor(other, builder.sizes.memoryRows.back() * rowSize));
  const std::vector<Argument> turn{{"self", ValueArgument{0}}, {"dim0", int64_t(0)}, {"dim1", int64_t(1)}};
  MESHPLAN_ASSIGN_OR_RETURN(auto transpose, prepareCall("aten.transpose.int", turn, std::vector<int>{1}));
  for (int64_t rows : builder.sizes.memoryRows) {
    int64_t elements = rows * rowSize;
    const std::vector<std::string> names{"self", "other"};
    auto add = [&](const char *name, cluster_keys::Key access, double bytes) {
      return [&builder, &names, bytes, table = table(name, access)](std::vector<Tensor> tensors) {
        return builder.add(table, bytes, names, std::move(tensors), {}, 1);
      };
    };
    double broadcast = builder.bytes(2 * elements + rows * vectors);
    MESHPLAN_RETURN_IF_ERROR(addAlternating(builder, elements, {{rows * vectors, vectorSize}, {rows * vectors, 1}},
                                            add("aten.mul.Tensor", cluster_keys::broadcast, broadcast)));
    auto addTurned = add("aten.add.Tensor", cluster_keys::strided, builder.bytes(3 * elements));
    for (int64_t part = 0; part < builder.partsOf(elements); ++part) {
      MESHPLAN_ASSIGN_OR_RETURN(Tensor first, builder.tensor({heads, rows, headSize}, 0, part));
      MESHPLAN_ASSIGN_OR_RETURN(Tensor second, builder.tensor({rows, heads, headSize}, 1, part));
      std::vector<Tensor> turned{second, Tensor()};
      MESHPLAN_RETURN_IF_ERROR(transpose->run(turned));
      if (part == 0)
        MESHPLAN_RETURN_IF_ERROR(addTurned({first, turned[1]}));
      else
        builder.alternate({first, turned[1]});
    }
    // The result is in f32.
    auto bytes = static_cast<double>(elements * (dtypeSize(builder.dtype) + dtypeSize(other) + dtypeSize(DType::f32)));
    auto addConverted = add("aten.mul.Tensor", cluster_keys::converted, bytes);
    auto both = static_cast<double>(elements * (dtypeSize(builder.dtype) + dtypeSize(other)));
    CaseTable conversion{CaseTable::Kind::operators, "aten.to.dtype", builder.dtypeText()};
    MESHPLAN_ASSIGN_OR_RETURN(Tensor unlike, narrow(converted, 0, 0, elements));
    MESHPLAN_RETURN_IF_ERROR(addAlternating(builder, elements, {{elements}}, [&](std::vector<Tensor> tensors) {
      return builder.add(conversion, both, {"self"}, std::move(tensors), {{"dtype", other}}, 1);
    }));
    MESHPLAN_ASSIGN_OR_RETURN(Tensor alike, builder.tensor({elements}, 0));
    MESHPLAN_RETURN_IF_ERROR(addConverted({alike, unlike}));
    for (int64_t part = 1; part < builder.partsOf(elements); ++part) {
      MESHPLAN_ASSIGN_OR_RETURN(Tensor next, builder.tensor({elements}, 0, part));
      builder.alternate({next, unlike});
    }
  }
  return Status();
}

/// Copies between tensors and the buffers of collectives, whose memory is allocated for each, as in a step.
static Status addCopies(CaseBuilder &builder) {
  // Parameters are larger than activations.
  Shape sizes = builder.sizes.memoryRows;
  sizes.push_back(builder.sizes.leastPool / rowSize);
  for (int64_t rows : sizes) {
    int64_t elements = rows * rowSize;
    std::vector<Tensor> sources;
    for (int64_t part = 0; part < builder.partsOf(elements); ++part) {
      MESHPLAN_ASSIGN_OR_RETURN(Tensor source, builder.tensor({elements}, 0, part));
      sources.push_back(std::move(source));
    }
    auto copy = [sources, elements, next = size_t(0), held = Tensor()]() mutable -> Status {
      const Tensor &source = sources[next];
      next = (next + 1) % sources.size();
      held = Tensor();
      MESHPLAN_ASSIGN_OR_RETURN(held, allocateTensor(Shape{elements}, source.dtype()));
      return copyElements(source, held);
    };
    CaseTable table{CaseTable::Kind::operators, std::string(cluster_keys::copyTarget), builder.dtypeText()};
    builder.cases.push_back({std::move(table), builder.bytes(2 * elements), {}, std::move(copy)});
  }
  return Status();
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// Causal attention and its gradients. Flops are half of those of all pairs of rows.
static Status addAttention(CaseBuilder &builder) {
  int64_t heads = builder.sizes.heads;
  for (int64_t rows : builder.sizes.attentionRows) {
    const Shape shape{1, heads, rows, headSize};
    std::vector<Tensor> tensors;
    for (int slot = 0; slot < 4; ++slot) {
      MESHPLAN_ASSIGN_OR_RETURN(Tensor tensor, builder.tensor(shape, slot));
      tensors.push_back(std::move(tensor));
    }
    std::vector<Argument> literals{{"causal", true}, {"scale", 0.125}};
    auto pairs = static_cast<double>(heads * rows * rows * headSize);
    CaseTable forward{CaseTable::Kind::operators, "meshplan.attention", builder.dtypeText(), true};
    std::vector<Tensor> inputs(tensors.begin(), tensors.begin() + 3);
    MESHPLAN_RETURN_IF_ERROR(builder.add(forward, 2 * pairs, {"query", "key", "value"}, inputs, literals, 2));
    builder.cases.back().equalParts = heads;
    CaseTable backward{CaseTable::Kind::operators, "meshplan.attention_backward", builder.dtypeText(), true};
    std::vector<std::string> names{"query", "key", "value", "gradient"};
    // Kernels of a GPU take the results of the forward pass; those of a CPU recompute them.
    if (!deviceOfThread().isHost()) {
      inputs.resize(5);
      std::vector<Argument> arguments = literals;
      for (int index = 0; index < 3; ++index)
        arguments.push_back({names[index], ValueArgument{index}});
      MESHPLAN_ASSIGN_OR_RETURN(auto call, prepareCall(forward.name, arguments, {3, 4}));
      MESHPLAN_RETURN_IF_ERROR(call->run(inputs));
      names.insert(names.end(), {"out", "logsumexp"});
      tensors.insert(tensors.end(), inputs.begin() + 3, inputs.end());
    }
    MESHPLAN_RETURN_IF_ERROR(builder.add(backward, 5 * pairs, names, std::move(tensors), literals, 3));
    builder.cases.back().equalParts = heads;
  }
  return Status();
}

Expected<std::vector<Case>> meshplan::operatorCases(DType dtype) {
  MESHPLAN_ASSIGN_OR_RETURN(CaseBuilder builder, CaseBuilder::create(dtype));
  MESHPLAN_RETURN_IF_ERROR(addProducts(builder));
  MESHPLAN_RETURN_IF_ERROR(addWeightGradients(builder));
  MESHPLAN_RETURN_IF_ERROR(addRowOperators(builder));
  MESHPLAN_RETURN_IF_ERROR(addAccesses(builder));
  MESHPLAN_RETURN_IF_ERROR(addLosses(builder));
  MESHPLAN_RETURN_IF_ERROR(addAttention(builder));
  // On a CPU, optimizer states are in float32.
  if (dtype == DType::f32 || !deviceOfThread().isHost())
    MESHPLAN_RETURN_IF_ERROR(addOptimizer(builder));
  if (dtype == DType::f32)
    MESHPLAN_RETURN_IF_ERROR(addCopies(builder));
  return std::move(builder.cases);
}

Expected<Case> meshplan::productCase(DType dtype, std::array<int64_t, 3> shape) {
  MESHPLAN_ASSIGN_OR_RETURN(CaseBuilder builder, CaseBuilder::create(dtype));
  MESHPLAN_RETURN_IF_ERROR(addProduct(builder, shape));
  return std::move(builder.cases.front());
}

Expected<std::vector<Case>> meshplan::copyCases() {
  std::vector<Case> cases;
  if (deviceOfThread().isHost())
    return cases;
  for (int64_t bytes : {int64_t(1) << 16, int64_t(1) << 20, int64_t(1) << 26}) {
    const Shape shape{bytes};
    MESHPLAN_ASSIGN_OR_RETURN(Tensor host, allocateHostTensor(shape, DType::u8));
    MESHPLAN_ASSIGN_OR_RETURN(Tensor device, allocateTensor(shape, DType::u8));
    CaseTable table{CaseTable::Kind::copy, "host"};
    cases.push_back({table, static_cast<double>(bytes), {}, [host, device] { return copyElements(host, device); }});
  }
  const Shape large{int64_t(1) << 25};
  MESHPLAN_ASSIGN_OR_RETURN(Tensor from, allocateHostTensor(large, DType::u8));
  MESHPLAN_ASSIGN_OR_RETURN(Tensor to, allocateHostTensor(large, DType::u8));
  // Each byte is read and written, by all threads of the rank, as by an optimizer on the host.
  cases.push_back({{CaseTable::Kind::hostMemory, "host"}, 2.0 * static_cast<double>(large[0]), {}, [from, to] {
                     return copyElements(from, to);
                   }});
  return cases;
}
