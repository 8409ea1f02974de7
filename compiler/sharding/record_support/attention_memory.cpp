//===- attention_memory.cpp - memory of the attention kernel --------------===//
//
// Mirrors runtime/tensor/torch/kernels/attention.cpp: query rows are processed
// in blocks, each with the keys that some row of the block may reach. Gradients
// mirror kernels/gradients/attention_gradient.cpp, which works in tiles of
// scores.
//
//===----------------------------------------------------------------------===//

#include "compiler/sharding/record_support/attention_memory.h"
#include "compiler/sharding/record_support/cost.h"
#include "runtime/schema/kernel_blocks.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <algorithm>

using namespace mlir;

namespace meshplan {

using kernel_blocks::leastTileRows;
using kernel_blocks::tileScores;

static constexpr int64_t blockRows = kernel_blocks::attentionRows;

std::optional<AttentionSizes> AttentionSizes::of(const CallView &call) {
  std::optional<unsigned> query = call.getOperand("query"), key = call.getOperand("key"),
                          value = call.getOperand("value");
  if (!query || !key || !value)
    return std::nullopt;
  RankedTensorType queryType = call.operands[*query];
  ArrayRef<int64_t> q = queryType.getShape(), k = call.operands[*key].getShape(), v = call.operands[*value].getShape();
  if (q.size() != 4 || k.size() != 4 || v.size() != 4 || k[1] == 0)
    return std::nullopt;
  return AttentionSizes{q[0], q[1], k[1], q[2], k[2], q[3], v[3], plan::elementBytes(queryType.getElementType())};
}

static bool hasFlashKernel(const CallView &call, const AttentionSizes &sizes) {
  return sizes.size == sizes.valueSize && call.getFloat("softcap", 0) == 0 && call.getFloat("dropout", 0) == 0;
}

bool isOneFlashCall(const CallView &call, const AttentionSizes &sizes) {
  bool masked = call.getOperand("mask") || call.getOperand("key_mask") || call.getInt("window", 0) != 0;
  return hasFlashKernel(call, sizes) && (!masked || sizes.rows <= blockRows);
}

/// ATen's flash kernel, with one thread for each rank: a tile of scores with maxima, sums and products in float, and a
/// second copy of the scores for half types. Heads that share a key head do not copy it.
static int64_t flashTileBytes(const AttentionSizes &sizes, int64_t rows, int64_t keys) {
  int64_t tile = rows >= 768 ? 256 : rows >= 192 ? 64 : 32;
  int64_t tileRows = std::min(tile, rows), tileKeys = std::min<int64_t>(512, keys);
  int64_t scores = tileRows * tileKeys;
  return 4 * (scores + tileRows * (2 + sizes.valueSize)) + (sizes.elementBytes < 4 ? 2 * scores : 0);
}

namespace {

/// Bytes of the additive mask of a block of rows.
struct MaskBytes {
  int64_t most = 0;  ///< while it is computed
  int64_t final = 0; ///< while it is used
};

class AttentionMemory {
public:
  AttentionMemory(const CallView &call, const AttentionSizes &sizes)
      : call(call), sizes(sizes), flash(hasFlashKernel(call, sizes)), window(call.getInt("window", 0)),
        causal(call.getBool("causal", false)), floatBytes(sizes.elementBytes == 8 ? 8 : 4) {}

  int64_t workspace() const;
  int64_t gradientWorkspace() const;

private:
  /// The maximum of `bytes` over all blocks of rows and keys.
  int64_t largestBlock(llvm::function_ref<int64_t(int64_t rows, int64_t keys)> bytes) const;
  int64_t reachableKeys(int64_t begin, int64_t end) const;
  /// For mask elements of `elementBytes` bytes.
  MaskBytes mask(int64_t rows, int64_t keys, int64_t elementBytes) const;
  MaskBytes mask(int64_t rows, int64_t keys) const;
  bool isCausalOnly() const { return !call.getOperand("mask") && !call.getOperand("key_mask") && window == 0; }
  MaskBytes tileMask(int64_t rows, int64_t keys) const;
  int64_t tileBytes(int64_t rows, int64_t keys) const;
  int64_t matrixBytes(StringRef name, int64_t samples, int64_t heads, int64_t length, int64_t perMatrix) const;
  int64_t flashBytes(int64_t rows, int64_t keys) const;
  int64_t definitionBytes(int64_t rows, int64_t keys, int64_t maskBytes) const;
  int64_t blockBytes(int64_t rows, int64_t keys, bool isPart) const;
  int64_t listBytes(StringRef name, int64_t heads, int64_t length, bool transposed) const;

  const CallView &call;
  AttentionSizes sizes;
  bool flash;
  int64_t window;
  bool causal;
  int64_t floatBytes; ///< of the type in which the reference definition computes
};

} // namespace

int64_t AttentionMemory::reachableKeys(int64_t begin, int64_t end) const {
  int64_t last = causal ? std::min(sizes.keys, end) : sizes.keys;
  // At least one key remains, as in the kernel: a block in which the window hides all keys still has rows of scores.
  int64_t first = window > 0 ? std::clamp<int64_t>(begin - window + 1, 0, std::max<int64_t>(last - 1, 0)) : 0;
  return last - first;
}

MaskBytes AttentionMemory::mask(int64_t rows, int64_t keys) const {
  std::optional<unsigned> given = call.getOperand("mask");
  Type givenType = given ? call.operands[*given].getElementType() : Type();
  // The mask is computed in double for the definition, and in the wider of the two types for the flash kernel.
  int64_t elementBytes = flash ? sizes.elementBytes : 8;
  if (isa_and_present<FloatType>(givenType))
    elementBytes = std::max(elementBytes, plan::elementBytes(givenType));
  return mask(rows, keys, elementBytes);
}

MaskBytes AttentionMemory::mask(int64_t rows, int64_t keys, int64_t elementBytes) const {
  std::optional<unsigned> given = call.getOperand("mask");
  Type givenType = given ? call.operands[*given].getElementType() : Type();
  int64_t positions = rows * keys, bytes = positions * elementBytes, most = bytes;
  if (causal || window > 0)
    most += positions * (8 + 1); // distances, and where they exceed the window
  bool ofKeys = call.getOperand("key_mask").has_value();
  if (ofKeys) {
    most = std::max(most, bytes + bytes * sizes.batch);
    bytes *= sizes.batch;
  }
  if (given) {
    ArrayRef<int64_t> shape = call.operands[*given].getShape();
    int64_t copies = shape.size() == 4 ? std::max(ofKeys ? sizes.batch : 1, shape[0]) * shape[1] : 1;
    int64_t made = copies * positions * elementBytes;
    // A boolean mask is converted to its hidden positions, any other mask to the kernel's type.
    int64_t part = shape.size() == 4 ? shape[0] * shape[1] * std::min(shape[2], rows) * std::min(shape[3], keys) : 0;
    int64_t ownBytes = plan::elementBytes(givenType);
    bool hides = givenType.isInteger(1);
    int64_t converted = hides ? part : ownBytes == elementBytes ? 0 : part * elementBytes;
    most = std::max(most, bytes + made + converted);
    bytes = made;
  }
  return {most, bytes};
}

/// The kernel, and copies of tensors whose last dim has a stride other than 1.
int64_t AttentionMemory::flashBytes(int64_t rows, int64_t keys) const {
  int64_t bytes = flashTileBytes(sizes, rows, keys);
  for (StringRef name : {"query", "key", "value"}) {
    unsigned operand = *call.getOperand(name);
    ArrayRef<int64_t> shape = call.operands[operand].getShape();
    if (call.getStrides(operand)[3] != 1)
      bytes += shape[0] * shape[1] * (name == "query" ? rows : keys) * shape[3] * sizes.elementBytes;
  }
  return bytes;
}

/// Bytes of a copy of rows of an argument for a batched matrix product.
int64_t AttentionMemory::listBytes(StringRef name, int64_t heads, int64_t length, bool transposed) const {
  unsigned operand = *call.getOperand(name);
  int64_t size = call.operands[operand].getShape()[3];
  SmallVector<int64_t> shape{sizes.batch, heads, length, size};
  Strides strides = call.getStrides(operand);
  if (name == "query" || floatBytes != sizes.elementBytes)
    strides = copyStrides({shape, strides}); // scaled or converted
  if (transposed) {
    std::swap(shape[2], shape[3]);
    std::swap(strides[2], strides[3]);
  }
  bool isView = viewStrides({shape, strides}, {shape[0] * shape[1], shape[2], shape[3]}).has_value();
  return isView ? 0 : sizes.batch * heads * length * size * floatBytes;
}

/// The definition in float: two products and the intermediate values, with the result of the second product.
int64_t AttentionMemory::definitionBytes(int64_t rows, int64_t keys, int64_t maskBytes) const {
  bool converts = floatBytes != sizes.elementBytes, repeats = sizes.heads != sizes.groups;
  int64_t lists = sizes.batch * sizes.heads * floatBytes;
  int64_t query = lists * rows * sizes.size, scores = lists * rows * keys, out = lists * rows * sizes.valueSize;
  int64_t key = lists * keys * sizes.size, value = lists * keys * sizes.valueSize;
  auto shared = [&](StringRef name, int64_t bytes, bool transposed) {
    if (repeats)
      return bytes;
    return (converts ? bytes : 0) + listBytes(name, sizes.heads, keys, transposed);
  };
  int64_t first = (converts ? 2 : 1) * query + listBytes("query", sizes.heads, rows, false) +
                  shared("key", key, /*transposed=*/true) + scores;
  int64_t second = scores + shared("value", value, /*transposed=*/false) + out +
                   (converts ? out / floatBytes * sizes.elementBytes : 0);
  int64_t masked = scores + (floatBytes == 8 ? 0 : maskBytes / 2); // the mask is computed in double
  return std::max({first, masked, second});
}

/// `isPart`: the whole results are allocated already, in addition to those of the block.
int64_t AttentionMemory::blockBytes(int64_t rows, int64_t keys, bool isPart) const {
  MaskBytes made = mask(rows, keys);
  int64_t result = sizes.batch * sizes.heads * rows * (sizes.valueSize * sizes.elementBytes + 4);
  int64_t computed = flash ? result + flashBytes(rows, keys) : definitionBytes(rows, keys, made.final);
  return std::max(made.most, made.final + computed) - (isPart ? 0 : result);
}

int64_t AttentionMemory::workspace() const {
  if (flash && isCausalOnly())
    return flashBytes(sizes.rows, sizes.keys);
  return largestBlock(
      [&](int64_t rows, int64_t keys) { return blockBytes(rows, keys, /*isPart=*/sizes.rows > blockRows); });
}

/// For a causal mask, keys before the rows of the tile are visible to all rows: only the keys beside the rows have a
/// mask.
MaskBytes AttentionMemory::tileMask(int64_t rows, int64_t keys) const {
  if (!isCausalOnly())
    return mask(rows, keys, floatBytes);
  return causal ? mask(rows, std::min(rows, keys), floatBytes) : MaskBytes();
}

/// Bytes of a copy of the part of an argument that a tile reads: a matrix for each key head, with the rows of
/// `perMatrix` heads. 0 if a view suffices.
int64_t AttentionMemory::matrixBytes(StringRef name, int64_t samples, int64_t heads, int64_t length,
                                     int64_t perMatrix) const {
  std::optional<unsigned> operand = call.getOperand(name);
  if (!operand || call.operands[*operand].getRank() != 4)
    return 0; // an archive may contain anything
  int64_t size = call.operands[*operand].getShape()[3], bytes = samples * heads * length * size * floatBytes;
  // A conversion copies the part anyway, and makes it row-major.
  if (floatBytes != sizes.elementBytes)
    return bytes;
  int64_t shape[] = {samples, heads, length, size};
  bool isView = viewStrides({shape, call.getStrides(*operand)}, {samples * heads / perMatrix, perMatrix * length, size})
                    .has_value();
  return isView ? 0 : bytes;
}

/// Scores of a tile twice, as weights and as gradients, with a softcap also its slope; the operands as matrices, and
/// the gradient of the queries.
int64_t AttentionMemory::tileBytes(int64_t rows, int64_t keys) const {
  int64_t repeats = sizes.heads / sizes.groups, scores = repeats * rows * keys;
  // A tile has several samples only if all heads of one fit. Tiles of several samples copy operands, which the kernel
  // does only for small ones: hence an eighth of the scores.
  int64_t heads = std::clamp<int64_t>(tileScores / std::max<int64_t>(scores, 1), 1, sizes.groups);
  int64_t samples = heads < sizes.groups
                        ? 1
                        : std::clamp<int64_t>(tileScores / 8 / std::max<int64_t>(scores * heads, 1), 1, sizes.batch);
  int64_t lists = samples * heads, held = (call.getFloat("softcap", 0) != 0 ? 3 : 2) * lists * scores * floatBytes;
  held += matrixBytes("query", samples, heads * repeats, rows, repeats) +
          matrixBytes("gradient", samples, heads * repeats, rows, repeats) +
          matrixBytes("key", samples, heads, keys, 1) + matrixBytes("value", samples, heads, keys, 1);
  // In addition, one at a time: products that are accumulated, and the gradient of the queries.
  int64_t product = samples > 1 ? lists * keys * std::max(sizes.size, sizes.valueSize) : 0;
  held += std::max(product, lists * repeats * rows * sizes.size) * floatBytes;
  MaskBytes made = tileMask(rows, keys);
  return std::max(made.most, made.final + held);
}

/// The sums of keys and values are in float32 and are live until all are rounded.
int64_t AttentionMemory::gradientWorkspace() const {
  if (sizes.batch * sizes.rows * sizes.keys == 0 || sizes.heads < sizes.groups)
    return 0;
  int64_t sums = sizes.batch * sizes.groups * sizes.keys * (sizes.size + sizes.valueSize);
  int64_t reach = window > 0 ? std::min(sizes.keys, window + blockRows) : sizes.keys;
  int64_t step = std::clamp(tileScores / (sizes.heads / sizes.groups * reach), leastTileRows, blockRows), most = 0;
  // The last tiles reach the most keys. The last few hundred are compared, because heads and samples are grouped
  // differently.
  int64_t last = (sizes.rows - 1) / step;
  for (int64_t tile = std::max<int64_t>(0, last - 255); tile <= last; ++tile) {
    int64_t row = tile * step, end = std::min(row + step, sizes.rows);
    most = std::max(most, tileBytes(end - row, reachableKeys(row, end)));
  }
  if (floatBytes == sizes.elementBytes)
    return most;
  return std::max(most - sums * sizes.elementBytes, int64_t(0)) + sums * floatBytes;
}

int64_t AttentionMemory::largestBlock(llvm::function_ref<int64_t(int64_t rows, int64_t keys)> bytes) const {
  // The number of keys that a block reaches grows until the keys end and shrinks after that. The last block may have
  // fewer rows.
  int64_t last = std::max<int64_t>(sizes.rows - 1, 0) / blockRows, keysEnd = std::min(last, sizes.keys / blockRows);
  int64_t most = 0;
  for (int64_t block : {int64_t(0), keysEnd - 1, keysEnd}) {
    int64_t row = std::max<int64_t>(block, 0) * blockRows, end = std::min(row + blockRows, sizes.rows);
    most = std::max(most, bytes(end - row, reachableKeys(row, end)));
  }
  return most;
}

/// `ofMemory` of a call whose heads read their keys in groups of one size. In other calls, and where each head has its
/// own gradients of keys, shared key heads are copied for each head that reads them.
static int64_t withOwnKeys(const CallView &call, const AttentionSizes &sizes,
                           int64_t (AttentionMemory::*ofMemory)() const) {
  if (!call.get("heads_per_key") && !call.getBool("per_head", false))
    return (AttentionMemory(call, sizes).*ofMemory)();
  CallView read = call;
  read.strides.clear();
  for (unsigned index = 0; index < call.operands.size(); ++index)
    read.strides.push_back(call.getStrides(index));
  int64_t copied = 0;
  for (StringRef name : {"key", "value"}) {
    unsigned operand = *call.getOperand(name);
    SmallVector<int64_t> shape(call.operands[operand].getShape());
    shape[1] = sizes.heads;
    read.operands[operand] = call.operands[operand].clone(shape);
    read.strides[operand] = contiguousStrides(shape);
    copied += tensorBytes(read.operands[operand]);
  }
  AttentionSizes own = sizes;
  own.groups = std::max<int64_t>(sizes.heads, 1); // an archive may have no heads
  return (AttentionMemory(read, own).*ofMemory)() + copied;
}

int64_t attentionWorkspace(const CallView &call, const AttentionSizes &sizes) {
  return withOwnKeys(call, sizes, &AttentionMemory::workspace);
}

int64_t attentionGradientWorkspace(const CallView &call, const AttentionSizes &sizes) {
  return withOwnKeys(call, sizes, &AttentionMemory::gradientWorkspace);
}

} // namespace meshplan
