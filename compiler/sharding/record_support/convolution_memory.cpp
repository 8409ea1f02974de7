//===- convolution_memory.cpp - memory of convolutions --------------------===//
//
// Workspace of convolutions on a CPU. There is no formula for it: ATen picks a backend by type, size and layout, and
// oneDNN picks one of several kernels, which differ by more than the tensors themselves (a matrix of all 3x3 windows is
// nine times the source). So the choices are mirrored, one function for each kernel, and the constants, such as the
// size of a buffer, are measured (see the header). A wrong guess makes an estimate of the peak inexact; no result
// depends on it.
//
// The kernels compute with the result allocated. Therefore each function returns a maximum over the phases of a kernel
// minus the bytes of the result, which the caller counts.

#include "compiler/sharding/record_support/convolution_memory.h"
#include "compiler/sharding/record_support/cost.h"
#include "compiler/sharding/record_support/memory.h"

using namespace mlir;

namespace meshplan {

namespace {
/// Kernels store features in blocks of this size and pad the last one.
constexpr int64_t Block = 16;

int64_t aligned(int64_t features, int64_t block = Block) {
  return static_cast<int64_t>(llvm::alignTo(features, block));
}

/// Bytes of a tensor with this many features when its features are padded to blocks.
int64_t inBlocks(int64_t bytes, int64_t features, int64_t block = Block) {
  return bytes / features * aligned(features, block);
}

/// Source or result. Bytes are those of the tensor without padding.
struct Images {
  Images(RankedTensorType type, int64_t groups)
      : bytes(tensorBytes(type)), features(type.getDimSize(1)), ofGroup(features / groups),
        positions(ShapedType::getNumElements(type.getShape().drop_front(2))),
        slice(ShapedType::getNumElements(type.getShape().drop_front(type.getRank() > 4 ? 3 : 2))) {}

  int64_t bytes, features, ofGroup;
  int64_t positions; ///< spatial positions of an image
  int64_t slice;     ///< spatial positions of an image, or of one slice of a volume
};

/// Sizes of a convolution without empty tensors.
struct Sizes {
  explicit Sizes(const Convolution &call);

  /// True if each position of the result depends on one position of the source.
  bool isPlain() const { return isOne && source.positions == result.positions; }
  /// True if the features of a group, or the groups, fill whole blocks.
  bool fillsBlocks(int64_t block) const {
    return groups == 1 || isDepthwise || (source.ofGroup % block == 0 && result.ofGroup % block == 0);
  }
  /// Features that fill blocks are copied into blocks; groups that fill blocks are used as they are.
  int64_t blockOf() const { return groups == 1 || isDepthwise ? Block : 1; }
  /// Bytes of the matrix of all windows of all images.
  int64_t allWindows() const {
    int64_t elements = isReversed ? source.positions * result.ofGroup : result.positions * source.ofGroup;
    return batch * elements * window * elementBytes;
  }
  /// The same for an image of one group, or for one slice of a volume.
  int64_t windowsOfGroup(int64_t ofElement) const {
    int64_t elements = isReversed ? source.slice * result.ofGroup : result.slice * source.ofGroup;
    return elements * window * ofElement;
  }

  ConvolutionKind kind;
  Images source, result;
  int64_t batch, groups, elementBytes;
  int64_t weight;        ///< bytes
  int64_t outer, inner;  ///< features in the first two dims of the weight
  int64_t window, width; ///< elements of a window, and its last extent
  bool isReversed, isDense, overlaps, isDepthwise, isHalf, isVolume, isOne; ///< isOne: a window is a single element
};
} // namespace

/// From local shapes, which may have only some of the groups.
static int64_t groupsOf(const Convolution &call) {
  RankedTensorType grouped = call.kind == ConvolutionKind::direct ? call.source : call.result;
  return std::max<int64_t>(grouped.getDimSize(1) / call.weight.getDimSize(1), 1);
}

Sizes::Sizes(const Convolution &call)
    : kind(call.kind), source(call.source, groupsOf(call)), result(call.result, groupsOf(call)),
      batch(call.source.getDimSize(0)), groups(groupsOf(call)),
      elementBytes(plan::elementBytes(call.weight.getElementType())), weight(tensorBytes(call.weight)),
      outer(call.weight.getDimSize(0)), inner(call.weight.getDimSize(1)),
      window(ShapedType::getNumElements(call.weight.getShape().drop_front(2))), width(call.weight.getShape().back()),
      isReversed(call.kind != ConvolutionKind::direct), isDense(call.isDense), overlaps(call.overlaps),
      isDepthwise(groups > 1 && groups == source.features && groups == result.features), isHalf(elementBytes == 2),
      isVolume(call.weight.getRank() == 5), isOne(window == 1) {}

/// Empty tensors need no memory, and their sizes cannot be divided by.
static bool isEmpty(const Convolution &call) {
  return call.source.getNumElements() == 0 || call.weight.getNumElements() == 0 || call.result.getNumElements() == 0;
}

static bool isBlocked(const Convolution &call) {
  RankedTensorType images = call.kind == ConvolutionKind::gradient ? call.result : call.source;
  return isBlockedConvolution(images, call.weight, images.getDimSize(0), groupsOf(call));
}

//===----------------------------------------------------------------------===//
// The result
//===----------------------------------------------------------------------===//

/// ATen's own kernels: a product with the matrix of all windows.
static int64_t unblockedBytes(const Sizes &sizes) {
  bool hasWindows = sizes.kind == ConvolutionKind::direct     ? !sizes.isPlain()
                    : sizes.kind == ConvolutionKind::gradient ? sizes.isVolume
                                                              : true;
  return hasWindows ? sizes.allWindows() : 0;
}

/// The same for each of several groups, whose results are concatenated afterwards.
static int64_t groupsBytes(const Sizes &sizes) {
  if (sizes.groups == 1)
    return unblockedBytes(sizes);
  int64_t made = sizes.kind == ConvolutionKind::direct ? 0 : sizes.result.bytes / sizes.groups;
  return std::max(sizes.source.bytes / sizes.groups + made, sizes.result.bytes);
}

/// Products with the windows of one image of one group. Windows of transposed convolutions, and sums of half types, are
/// f32.
static int64_t productsBytes(const Sizes &sizes) {
  constexpr int64_t wide = 4;
  int64_t windows =
      sizes.isPlain() && !sizes.isReversed ? 0 : sizes.windowsOfGroup(sizes.isReversed ? wide : sizes.elementBytes);
  int64_t sums = sizes.isHalf ? wide * sizes.result.positions * sizes.result.ofGroup : 0;
  return std::max(sizes.result.bytes, windows + sums);
}

/// With a stride: products with one row of an image at a time, which is padded where windows overlap. Addends have a
/// buffer, with room for a small image. Copies and result are channels-last; another copy makes the result row-major.
static int64_t stridedBytes(const Sizes &sizes) {
  constexpr int64_t addends = 9 * 4096, ofTransposed = 5 * 4096, smallImage = 2 * 4096;
  int64_t image = sizes.source.bytes / sizes.batch, result = sizes.result.bytes;
  int64_t weight = inBlocks(sizes.weight, sizes.inner);
  int64_t buffer = addends;
  if (sizes.overlaps)
    buffer += (sizes.kind == ConvolutionKind::transposed ? ofTransposed : 0) + (image < smallImage ? 0 : image);
  return std::max(sizes.source.bytes + weight + result + buffer, (sizes.result.features > 1 ? 3 : 2) * result) - result;
}

static bool isStrided(const Sizes &sizes) {
  if (!sizes.isReversed || sizes.isDense)
    return false;
  // Groups whose features fill two blocks; for half types, all that do not fit blocks.
  if (sizes.isDepthwise || !sizes.fillsBlocks(Block / 2))
    return sizes.isHalf;
  return sizes.groups == 1 || sizes.source.ofGroup >= 2 * Block;
}

/// Buffers for a window of one element: the positions that it reads, packed together, and sums of half types.
static int64_t bufferOfOne(const Sizes &sizes) {
  if (!sizes.isOne || sizes.groups > 1)
    return 0;
  int64_t drawn = sizes.isPlain() || sizes.isReversed
                      ? 0
                      : sizes.elementBytes * sizes.result.positions * aligned(sizes.source.features);
  constexpr int64_t sumBytes = 4;
  return drawn + (sizes.isHalf ? sumBytes * sizes.result.positions * aligned(sizes.result.features) : 0);
}

/// Source and weight are copied into blocks, and the result is computed in blocks. Images of few features are not
/// copied.
static int64_t blockedBytes(const Sizes &sizes) {
  int64_t block = sizes.blockOf();
  bool stays = !sizes.isReversed && sizes.groups == 1 && sizes.source.features < Block && !sizes.isOne;
  int64_t source = stays ? 0 : inBlocks(sizes.source.bytes, sizes.source.features, block);
  int64_t weight = inBlocks(sizes.weight, sizes.outer, block);
  // Half types are read in pairs of features.
  if (!sizes.isDepthwise)
    weight = inBlocks(weight, sizes.inner, !stays ? block : sizes.isHalf ? 2 : 1);
  int64_t result = inBlocks(sizes.result.bytes, sizes.result.features, block);
  return std::max(source + weight + result + bufferOfOne(sizes), result + sizes.result.bytes) - sizes.result.bytes;
}

/// Where the source is channels-last, only the weight is repacked, twice.
static int64_t channelsLastBytes(const Sizes &sizes) {
  constexpr int64_t buffer = 2 * 4096;
  if (sizes.isOne)
    return sizes.isReversed ? unblockedBytes(sizes) : 0;
  return sizes.weight + inBlocks(sizes.weight, sizes.isReversed ? sizes.inner : sizes.outer) + buffer;
}

int64_t convolutionBytes(const Convolution &call) {
  if (isEmpty(call))
    return 0;
  Sizes sizes(call);
  if (!isBlocked(call))
    return unblockedBytes(sizes);
  // The order of these tests is that of the backend: layout first, then the shape of the window, then strides.
  if (call.isSourceChannelsLast && sizes.groups == 1)
    return channelsLastBytes(sizes);
  if (sizes.isPlain() && !sizes.isHalf)
    return groupsBytes(sizes);
  if (isStrided(sizes))
    return stridedBytes(sizes);
  return sizes.fillsBlocks(Block / 2) ? blockedBytes(sizes) : productsBytes(sizes);
}

//===----------------------------------------------------------------------===//
// The gradient of the weight
//===----------------------------------------------------------------------===//

/// Images of few features are read without a copy.
static bool isOfPixels(const Sizes &sizes) {
  constexpr int64_t pixels = 3;
  return sizes.groups == 1 && sizes.source.features <= pixels && !sizes.isOne;
}

/// Blocked kernels support windows up to a width, and need features that fill a block: for half types those of the
/// images, or those of the gradient where the images have few features.
static bool isWeightInBlocks(const Sizes &sizes) {
  constexpr int64_t widestDepthwise = 3, widest = 14, widestHalfOfPixels = 16;
  if (sizes.isDepthwise)
    return sizes.width <= widestDepthwise;
  bool ofPixels = isOfPixels(sizes);
  if (sizes.width > (ofPixels && sizes.isHalf ? widestHalfOfPixels : widest))
    return false;
  if (sizes.groups > 1)
    return sizes.fillsBlocks(sizes.isHalf ? Block : Block / 2);
  bool isFilled = (ofPixels ? sizes.result : sizes.source).features >= Block;
  return sizes.isOne || isFilled || !(sizes.isHalf || (sizes.isVolume && !ofPixels));
}

/// Bytes of the blocks into which images and gradient are copied, and of the weight in blocks.
static int64_t blockedWeightBytes(const Sizes &sizes) {
  bool stays = isOfPixels(sizes);
  bool isNarrow = sizes.groups == 1 && !sizes.isHalf && !sizes.isOne && !stays && sizes.source.features < Block;
  int64_t block = isNarrow ? Block / 2 : sizes.blockOf();
  int64_t images = stays ? 0 : inBlocks(sizes.source.bytes, sizes.source.features, block);
  int64_t gradient = inBlocks(sizes.result.bytes, sizes.result.features, block);
  int64_t weight = inBlocks(sizes.weight, sizes.outer, block);
  if (!stays && !sizes.isDepthwise)
    weight = inBlocks(weight, sizes.inner, block);
  // With a stride, windows of one element pack together the positions of an image that they read.
  int64_t drawn =
      sizes.isOne && !sizes.isDense ? sizes.elementBytes * sizes.result.positions * aligned(sizes.source.features) : 0;
  int64_t buffer = drawn;
  if (sizes.isHalf && !sizes.isDepthwise) {
    // Sums are f32. An image that was copied, and its gradient, are transposed.
    constexpr int64_t rest = 10240, restOfOne = 4608;
    int64_t image = sizes.isPlain() ? images / sizes.batch
                    : sizes.isOne   ? drawn + restOfOne
                                    : images / sizes.batch + rest;
    // Windows of one element whose positions fill blocks are read without a copy.
    bool isTransposed = !sizes.isPlain() || sizes.result.positions % Block != 0;
    buffer = 2 * weight + (isTransposed ? sizes.result.bytes / sizes.batch + image : 0);
  }
  return std::max(images + gradient + weight + buffer, weight + sizes.weight) - sizes.weight;
}

int64_t weightGradientBytes(const Convolution &call) {
  if (isEmpty(call))
    return 0;
  Sizes sizes(call);
  if (!isBlocked(call))
    return sizes.isPlain() ? 0 : sizes.allWindows();
  if (sizes.isPlain() && !sizes.isHalf)
    return sizes.groups == 1 ? 0 : std::max((sizes.result.bytes + sizes.source.bytes) / sizes.groups, sizes.weight);
  if (isWeightInBlocks(sizes))
    return blockedWeightBytes(sizes);
  // Products with the windows of one image and group at a time, whose sums have a buffer.
  constexpr int64_t sumBytes = 16;
  int64_t windows = sizes.isPlain() ? 0 : sizes.windowsOfGroup(sizes.elementBytes);
  return std::max(sizes.weight, windows + sumBytes * call.weight.getNumElements());
}

} // namespace meshplan
