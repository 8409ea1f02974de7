//===- safetensors_writer.cpp - one file written by many ranks ------------===//

#include "runtime/data/safetensors_writer.h"

#include "runtime/data/safetensors_header.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

namespace meshplan {

namespace {

/// A chunk of this size stays in the cache between its checksum and its copy. Writing it at a multiple of its size lets
/// the system keep it in one huge page, so readers take fewer page faults.
constexpr int64_t writtenBytes = 2 << 20;

/// The length of the header, and the header padded so that the data is aligned to 8 bytes.
std::string headerBytes(const nlohmann::json &header) {
  // dump would throw on names that are not UTF-8.
  std::string text = header.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  text.resize((text.size() + 7) / 8 * 8, ' ');
  uint64_t size = text.size();
  std::string bytes(sizeof(size), '\0');
  std::memcpy(bytes.data(), &size, sizeof(size));
  return bytes + text;
}

} // namespace

Expected<SafetensorsWriter::Layout> SafetensorsWriter::layoutOf(const std::string &path,
                                                                std::span<const TensorSpec> tensors) {
  std::vector<TensorSpec> sorted(tensors.begin(), tensors.end());
  // Wide elements first, so that every tensor is aligned for its dtype.
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const TensorSpec &a, const TensorSpec &b) { return dtypeSize(a.dtype) > dtypeSize(b.dtype); });
  nlohmann::json header = {{"__metadata__", {{"format", "pt"}}}};
  Layout layout;
  int64_t position = 0;
  for (TensorSpec &spec : sorted) {
    std::optional<int64_t> size = byteCount(spec.shape, spec.dtype);
    int64_t end;
    if (!size || __builtin_add_overflow(position, *size, &end))
      return Status::error(StatusCode::invalid, path, ": tensor '", spec.name, "' is too large");
    header[spec.name] = {
        {"dtype", safetensorsName(spec.dtype)}, {"shape", spec.shape}, {"data_offsets", {position, end}}};
    std::string name = spec.name;
    if (!layout.slots.emplace(name, Slot{std::move(spec), position}).second)
      return Status::error(StatusCode::invalid, path, ": tensor '", name, "' twice");
    position = end;
  }
  layout.header = headerBytes(header);
  // The header has the offsets of tensors in the data, so its own size may follow from them.
  int64_t start = static_cast<int64_t>(layout.header.size());
  for (auto &[name, slot] : layout.slots)
    slot.offset += start;
  layout.size = start + position;
  return layout;
}

Expected<SafetensorsWriter> SafetensorsWriter::create(const std::string &path, std::span<const TensorSpec> tensors) {
  MESHPLAN_ASSIGN_OR_RETURN(AtomicFile::Names names, AtomicFile::chooseNames(path));
  return create(names, tensors);
}

Expected<SafetensorsWriter> SafetensorsWriter::create(const AtomicFile::Names &names,
                                                      std::span<const TensorSpec> tensors) {
  MESHPLAN_ASSIGN_OR_RETURN(Layout layout, layoutOf(names.path, tensors));
  MESHPLAN_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::create(names));
  return begin(std::move(file), std::move(layout));
}

Expected<SafetensorsWriter> SafetensorsWriter::join(const std::string &path, std::span<const TensorSpec> tensors,
                                                    FileSums *sums) {
  MESHPLAN_ASSIGN_OR_RETURN(Layout layout, layoutOf(path, tensors));
  MESHPLAN_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::join(path));
  if (sums)
    sums->header = crc32Of(std::as_bytes(std::span(layout.header)));
  MESHPLAN_ASSIGN_OR_RETURN(SafetensorsWriter writer, begin(std::move(file), std::move(layout)));
  writer.sums = sums;
  return writer;
}

Expected<SafetensorsWriter> SafetensorsWriter::begin(AtomicFile file, Layout layout) {
  // Each rank that joins does both; they all write the same header and the same size.
  MESHPLAN_RETURN_IF_ERROR(file.write(0, std::as_bytes(std::span(layout.header))));
  // The file gets its final size at once, because ranks write their runs in any order. A region that is never written
  // is zero.
  MESHPLAN_RETURN_IF_ERROR(file.resize(layout.size));
  return SafetensorsWriter(std::move(file), std::move(layout.slots));
}

Expected<SafetensorsWriter> SafetensorsWriter::attach(const std::string &path, const std::string &temporary,
                                                      std::span<const TensorSpec> tensors) {
  MESHPLAN_ASSIGN_OR_RETURN(Layout layout, layoutOf(path, tensors));
  MESHPLAN_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::attach(path, temporary));
  return SafetensorsWriter(std::move(file), std::move(layout.slots));
}

/// Calls `run`, in order, for the part of each run that lies in a slice of the global tensor.
static RunFunction within(const SliceRanges &slice, std::span<const int64_t> shape, const RunFunction &run) {
  // Collected once: slice and shard are cut into different runs, and each run of the shard is cut at these by
  // bisection.
  std::vector<Range> runs;
  (void)forEachRun(slice, shape, contiguousStrides(shape), [&](int64_t global, int64_t, int64_t count) {
    runs.push_back({global, count});
    return Status();
  });
  return [runs = std::move(runs), &run](int64_t global, int64_t local, int64_t count) {
    auto endOf = [](const Range &range) { return range.offset + range.size; };
    // The runs are sorted, so the first one that ends after `global` is found by bisection.
    auto first = std::ranges::upper_bound(runs, global, {}, endOf);
    for (; first != runs.end() && first->offset < global + count; ++first) {
      int64_t begin = std::max(global, first->offset), end = std::min(global + count, endOf(*first));
      MESHPLAN_RETURN_IF_ERROR(run(begin, local + begin - global, end - begin));
    }
    return Status();
  };
}

/// Writes bytes at `offset` of the tensor.
Status SafetensorsWriter::writeRun(const Slot &slot, int64_t offset, std::span<const std::byte> bytes) const {
  if (!sums)
    return file.write(slot.offset + offset, bytes);
  int64_t size = *byteCount(slot.spec.shape, slot.spec.dtype);
  BlockSums &own = sums->tensors.try_emplace(slot.spec.name, size, sums->blockBytes).first->second;
  while (!bytes.empty()) {
    int64_t position = slot.offset + offset;
    std::span<const std::byte> piece =
        bytes.first(std::min<size_t>(bytes.size(), writtenBytes - position % writtenBytes));
    // Checksum and write of one chunk together: the bytes are read from memory only once.
    own.add(offset, piece);
    MESHPLAN_RETURN_IF_ERROR(file.write(position, piece));
    offset += static_cast<int64_t>(piece.size());
    bytes = bytes.subspan(piece.size());
  }
  return Status();
}

Status SafetensorsWriter::write(const std::string &name, const SliceRanges &ranges, std::span<const std::byte> local,
                                const SliceRanges *only) const {
  auto found = slots.find(name);
  if (found == slots.end())
    return Status::error(StatusCode::invalid, "tensor '", name, "' is not in the list of this file");
  const TensorSpec &spec = found->second.spec;
  MESHPLAN_RETURN_IF_ERROR(checkSlice(ranges, spec.shape).withContext("tensor '" + name + "'"));
  int64_t size = dtypeSize(spec.dtype), required = elementCount(sliceShape(ranges)) * size;
  if (static_cast<int64_t>(local.size()) != required)
    return Status::error(StatusCode::invalid, "tensor '", name, "': ", local.size(), " bytes, ", required, " required");
  RunFunction run = [&](int64_t global, int64_t begin, int64_t count) {
    return writeRun(found->second, global * size, local.subspan(begin * size, count * size));
  };
  return forEachRun(ranges, spec.shape, contiguousStrides(spec.shape), only ? within(*only, spec.shape, run) : run);
}

} // namespace meshplan
