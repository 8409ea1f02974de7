//===- tensor_source.cpp - tensors by name from files ---------------------===//

#include "runtime/data/tensor_source.h"

#include "runtime/base/names.h"
#include "runtime/data/checked_copy.h"
#include "runtime/data/safetensors_header.h"
#include "runtime/data/slice.h"
#include "runtime/data/tensor_pieces.h"
#include "runtime/data/tensor_source_builder.h"
#include "runtime/data/zip_file.h"
#include "runtime/schema/stacked_modules.h"

#include <algorithm>
#include <cstring>
#include <filesystem>

namespace meshplan {

namespace {

/// A gap of this size is read as fast as it is skipped.
constexpr int64_t readAheadGap = 256 << 10;

/// The maximal number of ranges of a slice that are announced separately.
constexpr size_t mostReadAhead = 1024;

class PlainPayload final : public Payload {
public:
  explicit PlainPayload(std::span<const std::byte> bytes) : content(bytes) {}
  Expected<std::span<const std::byte>> bytes() override { return content; }
  std::span<const std::byte> mapped() const override { return content; }

private:
  std::span<const std::byte> content;
};

Status addFile(TensorSourceBuilder &builder, const std::string &path) {
  MESHPLAN_ASSIGN_OR_RETURN(std::span<const std::byte> bytes, builder.map(path));
  // By content, not by extension: files of torch.save have many extensions.
  if (isZipFile(bytes))
    return addArchive(builder, path, bytes);
  MESHPLAN_ASSIGN_OR_RETURN(std::vector<StoredTensor> tensors, readSafetensors(path, bytes));
  for (StoredTensor &tensor : tensors)
    builder.add(std::move(tensor));
  return Status();
}

std::string quoted(std::span<const std::string> names, const char *separator) {
  std::string text;
  for (const std::string &name : names)
    text += (text.empty() ? "'" : separator + std::string("'")) + name + "'";
  return text;
}

/// The prefix that a wrapper (DataParallel, torch.compile) has put before all names: one that ends with a dot, occurs
/// in all `known` names, and is followed by one of `wanted` in one of them. Empty if there is none.
std::string addedPrefix(const std::vector<std::string> &known, std::span<const std::string> wanted) {
  for (const std::string &name : wanted)
    for (const std::string &longer : known) {
      if (!longer.ends_with("." + name))
        continue;
      std::string prefix = longer.substr(0, longer.size() - name.size());
      if (std::ranges::all_of(known, [&](const std::string &each) { return each.starts_with(prefix); }))
        return prefix;
    }
  return "";
}

/// A tensor of an unknown dtype cannot be read.
Status checkType(const StoredTensor &tensor, const std::string &path) {
  if (tensor.foreignType.empty())
    return Status();
  return Status::error(StatusCode::unsupported, path, ": tensor '", tensor.name, "' has dtype ", tensor.foreignType,
                       ", which cannot be read; help: convert the tensor, or read another file");
}

} // namespace

std::shared_ptr<Payload> plainPayload(std::span<const std::byte> bytes) {
  return std::make_shared<PlainPayload>(bytes);
}

Expected<std::span<const std::byte>> TensorSourceBuilder::map(const std::string &path) {
  MESHPLAN_ASSIGN_OR_RETURN(MappedFile file, MappedFile::open(path));
  // The list may move its elements when it grows, but the maps stay where they are, and with them the spans.
  source.files.push_back(std::move(file));
  return source.files.back().bytes();
}

Expected<TensorSource> TensorSource::open(const std::string &path) {
  TensorSourceBuilder builder(path);
  std::error_code ignored;
  bool isDirectory = std::filesystem::is_directory(path, ignored);
  bool isIndex = !isDirectory && path.ends_with(".safetensors.index.json");
  Status added = isDirectory ? addDirectory(builder, path) : isIndex ? addIndex(builder, path) : addFile(builder, path);
  MESHPLAN_RETURN_IF_ERROR(added);
  return std::move(builder).finish();
}

std::vector<std::string> TensorSource::filePaths() const {
  std::vector<std::string> paths;
  if (!indexPath.empty())
    paths.push_back(indexPath);
  for (const MappedFile &file : files)
    paths.push_back(file.path());
  return paths;
}

const StoredTensor *TensorSource::find(std::string_view name) const {
  auto found = tensors.find(name);
  return found == tensors.end() ? nullptr : &found->second;
}

std::vector<std::string> TensorSource::names() const {
  std::vector<std::string> result;
  for (const auto &[name, tensor] : tensors)
    result.push_back(name);
  return result;
}

Expected<const StoredTensor *> TensorSource::require(std::span<const std::string> wanted,
                                                     std::span<const int64_t> shape) const {
  for (const std::string &name : wanted) {
    const StoredTensor *tensor = find(name);
    if (!tensor)
      continue;
    if (!std::equal(shape.begin(), shape.end(), tensor->shape.begin(), tensor->shape.end()))
      return Status::error(StatusCode::invalid, sourcePath, ": tensor '", name, "' has shape ",
                           shapeText(tensor->shape), ", ", shapeText(shape),
                           " required; help: compile for the shape in the file, or read another file");
    MESHPLAN_RETURN_IF_ERROR(checkType(*tensor, sourcePath));
    return tensor;
  }
  for (const std::string &name : wanted)
    if (auto found = unassembled.find(name); found != unassembled.end())
      return found->second;
  return notFound(wanted, "");
}

Status TensorSource::notFound(std::span<const std::string> wanted, const std::string &purpose) const {
  std::vector<std::string> known = names(), nearest = nearestNames(wanted.front(), known);
  std::string hint = "; nearest names: " + quoted(nearest, ", ");
  if (nearest.empty())
    hint = known.empty() ? "; the file has no tensor" : "; the file has " + nameList(known);
  // The common cause deserves a better hint than names that differ by the prefix.
  if (std::string prefix = addedPrefix(known, wanted); !prefix.empty())
    hint = "; help: every name in the file starts with '" + prefix + "'";
  return Status::error(StatusCode::notFound, sourcePath, ": no tensor ", quoted(wanted, " or "), purpose, hint);
}

Status TensorSource::partsNotFound(const std::string &name, std::span<const WeightPiece> pieces,
                                   bool areModules) const {
  std::vector<std::string> missing;
  for (const WeightPiece &piece : pieces)
    if (!find(piece.name))
      missing.push_back(piece.name);
  std::string purpose = areModules ? ", which is a part of '" + name + "', since 'expert' divides the modules of a list"
                                   : ", which the plan names as a part of '" + name + "'";
  if (missing.size() > 1)
    purpose += " (" + std::to_string(missing.size()) + " of its " + std::to_string(pieces.size()) +
               " parts are missing, to '" + missing.back() + "')";
  Status status = notFound({missing.data(), 1}, purpose);
  return areModules && status.message().find("; help: ") == std::string::npos
             ? Status::error(
                   status.code(), status.message(),
                   "; help: read a file with the tensors of the modules, or say in 'weight_names' of the plan "
                   "what it calls them")
             : status;
}

Expected<StoredTensor> TensorSource::assembled(const std::string &name, std::span<const WeightPiece> pieces,
                                               std::span<const int64_t> shape, bool areModules) const {
  std::vector<StoredPiece> found;
  for (const WeightPiece &piece : pieces) {
    const StoredTensor *tensor = find(piece.name);
    if (!tensor)
      return partsNotFound(name, pieces, areModules);
    if (tensor->shape != piece.stored)
      return Status::error(StatusCode::invalid, sourcePath, ": tensor '", piece.name, "' has shape ",
                           shapeText(tensor->shape), ", ", shapeText(piece.stored), " required as a part of '", name,
                           areModules ? "'; help: compile for the shape in the file, or read another file"
                                      : "'; help: change 'weight_names' of the plan, or read another file");
    MESHPLAN_RETURN_IF_ERROR(checkType(*tensor, sourcePath));
    found.push_back({*tensor, piece.begin, piece.shape});
  }
  return StoredTensor{.name = name,
                      .dtype = found.front().tensor.dtype,
                      .shape = {shape.begin(), shape.end()},
                      .strides = contiguousStrides(shape),
                      .payload = plainPayload({}),
                      .pieces = std::make_shared<const std::vector<StoredPiece>>(std::move(found))};
}

void TensorSource::assemble(std::span<const std::string> wanted, const WeightPieces &pieces,
                            std::span<const int64_t> shape) {
  if (std::ranges::any_of(wanted, [&](const std::string &name) { return find(name); }))
    return;
  std::vector<WeightPiece> all = piecesOf(pieces, shape);
  makeOf(wanted, all, assembled(wanted.front(), all, shape, areStackedModules(pieces, wanted.front())));
}

void TensorSource::assemble(const std::string &name, std::span<const WeightPiece> pieces,
                            std::span<const int64_t> shape) {
  makeOf({&name, 1}, pieces, assembled(name, pieces, shape, /*areModules=*/false));
}

void TensorSource::makeOf(std::span<const std::string> wanted, std::span<const WeightPiece> pieces,
                          Expected<StoredTensor> made) {
  if (!made) {
    for (const std::string &name : wanted)
      unassembled.emplace(name, made.status());
    return;
  }
  for (const WeightPiece &piece : pieces)
    tensors.erase(piece.name);
  tensors.emplace(wanted.front(), *std::move(made));
}

void TensorSource::divide(const std::string &name, std::span<const WeightPiece> pieces) {
  auto found = tensors.find(name);
  if (found == tensors.end())
    return;
  auto whole = std::make_shared<const StoredTensor>(std::move(found->second));
  tensors.erase(found);
  for (const WeightPiece &piece : pieces)
    tensors.emplace(piece.name, StoredTensor{.name = piece.name,
                                             .dtype = whole->dtype,
                                             .shape = piece.stored,
                                             .strides = contiguousStrides(piece.stored),
                                             .payload = plainPayload({}),
                                             .foreignType = whole->foreignType,
                                             .whole = whole,
                                             .begin = piece.begin});
}

Status TensorSource::check(const StoredTensor &tensor) const {
  std::string what = sourcePath + ": tensor '" + tensor.name + "'";
  Expected<std::span<const std::byte>> payload = tensor.payload->bytes();
  if (!payload)
    return payload.status().withContext(what);
  return checkBlocks(tensor, *payload).withContext(what);
}

Status TensorSource::setChecksums(std::string_view name, BlockChecksums checksums) {
  auto found = tensors.find(name);
  if (found == tensors.end())
    return Status::error(StatusCode::corrupted, sourcePath, ": no tensor '", name, "', which has checksums");
  // A wrong number of checksums is damage too: a missing one would leave its block unchecked.
  size_t bytes = found->second.payload->mapped().size(), blocks = 0;
  if (checksums.blockBytes > 0)
    blocks = (bytes + checksums.blockBytes - 1) / checksums.blockBytes;
  if (checksums.values.size() != blocks)
    return Status::error(StatusCode::corrupted, sourcePath, ": tensor '", name, "' has ", checksums.values.size(),
                         " checksums, ", blocks, " required");
  found->second.checksums = std::make_shared<const BlockChecksums>(std::move(checksums));
  return Status();
}

Status TensorSource::read(const StoredTensor &tensor, const SliceRanges &ranges, DType dtype, std::span<std::byte> out,
                          ReaderShare share) const {
  MESHPLAN_RETURN_IF_ERROR(checkType(tensor, sourcePath));
  std::string what = sourcePath + ": tensor '" + tensor.name + "'";
  if (tensor.pieces) {
    MESHPLAN_RETURN_IF_ERROR(checkSlice(ranges, tensor.shape).withContext(what));
    return readPieces(tensor, ranges, dtype, out, share);
  }
  // As ranges of the whole tensor, to which its checksums belong.
  if (tensor.whole) {
    MESHPLAN_RETURN_IF_ERROR(checkSlice(ranges, tensor.shape).withContext(what));
    return read(*tensor.whole, rangesOfWhole(tensor, ranges), dtype, out, share);
  }
  // Floats are converted, as PyTorch's load_state_dict does. An integer of another width may not represent the value.
  if (tensor.dtype != dtype && !(isFloat(tensor.dtype) && isFloat(dtype)))
    return Status::error(StatusCode::invalid, what, " has dtype ", dtypeName(tensor.dtype), ", ", dtypeName(dtype),
                         " required; help: convert the tensor, or read another file");
  MESHPLAN_RETURN_IF_ERROR(checkSlice(ranges, tensor.shape).withContext(what));
  int64_t required = elementCount(sliceShape(ranges)) * dtypeSize(dtype);
  if (static_cast<int64_t>(out.size()) != required)
    return Status::error(StatusCode::invalid, what, ": a buffer of ", out.size(), " bytes, ", required, " required");
  Expected<std::span<const std::byte>> payload = tensor.payload->bytes();
  if (!payload)
    return payload.status().withContext(what);
  // Comparison reads whole blocks, so it is combined with the copy while the bytes are in the cache.
  if (tensor.checksums)
    return copyChecked(tensor, *payload, ranges, share, out.data(), dtype).withContext(what);
  // The payload may be shared: tied weights and views of one storage have offsets into the same bytes.
  const std::byte *base = payload->data() + tensor.offset * dtypeSize(tensor.dtype);
  return copySlice(base, tensor.dtype, ranges, tensor.shape, tensor.strides, out.data(), dtype);
}

Status TensorSource::readPieces(const StoredTensor &tensor, const SliceRanges &ranges, DType dtype,
                                std::span<std::byte> out, ReaderShare share) const {
  int64_t size = dtypeSize(dtype), required = elementCount(sliceShape(ranges)) * size;
  if (static_cast<int64_t>(out.size()) != required)
    return Status::error(StatusCode::invalid, sourcePath, ": tensor '", tensor.name, "': a buffer of ", out.size(),
                         " bytes, ", required, " required");
  std::vector<int64_t> shape = sliceShape(ranges);
  for (const StoredPiece &piece : *tensor.pieces) {
    PieceSlice slice = sliceOfPiece(piece, ranges);
    if (slice.isEmpty())
      continue;
    int64_t bytes = elementCount(sliceShape(slice.ofPiece)) * size;
    if (std::optional<int64_t> begin = slice.onlyRun(shape)) {
      MESHPLAN_RETURN_IF_ERROR(read(piece.tensor, slice.ofPiece, dtype, out.subspan(*begin * size, bytes), share));
      continue;
    }
    std::vector<std::byte> own(bytes);
    MESHPLAN_RETURN_IF_ERROR(read(piece.tensor, slice.ofPiece, dtype, own, share));
    MESHPLAN_RETURN_IF_ERROR(
        forEachRun(slice.ofResult, shape, contiguousStrides(shape), [&](int64_t whole, int64_t part, int64_t count) {
          std::memcpy(&out[whole * size], &own[part * size], count * size);
          return Status();
        }));
  }
  return Status();
}

void TensorSource::announce(const StoredTensor &tensor, const SliceRanges &ranges) const {
  if (tensor.pieces && checkSlice(ranges, tensor.shape).ok())
    for (const StoredPiece &piece : *tensor.pieces)
      if (PieceSlice slice = sliceOfPiece(piece, ranges); !slice.isEmpty())
        announce(piece.tensor, slice.ofPiece);
  if (tensor.whole && checkSlice(ranges, tensor.shape).ok())
    announce(*tensor.whole, rangesOfWhole(tensor, ranges));
  std::span<const std::byte> bytes = tensor.payload->mapped();
  if (bytes.empty() || !tensor.foreignType.empty() || !checkSlice(ranges, tensor.shape).ok())
    return;
  int64_t size = dtypeSize(tensor.dtype);
  for (const Range &span : storageSpans(ranges, tensor.shape, tensor.strides, readAheadGap / size, mostReadAhead))
    willRead(bytes.subspan((tensor.offset + span.offset) * size, span.size * size));
}

} // namespace meshplan
