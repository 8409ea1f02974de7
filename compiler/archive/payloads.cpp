//===- payloads.cpp - tensors stored in an archive ---------------*- C++ -*-===//

#include "compiler/archive/payloads.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cstring>

namespace meshplan::archive {

namespace {

constexpr const char *bytesHelp = "export the model with real buffers (only parameters may be on the meta device), as "
                                  "tools/export_model.py --meta does";

std::vector<int64_t> readInts(JsonDocument &document, const Json &array) {
  std::vector<int64_t> integers;
  for (const Json &element : document.array(array))
    integers.push_back(document.integer(document.member(element, "as_int")));
  return integers;
}

void readTensorMetadata(JsonDocument &document, const Json &metadata, Payload &payload) {
  const Json &code = document.member(metadata, "dtype");
  std::optional<ScalarType> type = scalarTypeFromSchema(document.integer(code));
  if (!type)
    return document.fail(code, "unknown element type");
  payload.type = *type;
  payload.dims = readInts(document, document.member(metadata, "sizes"));
  payload.strides = readInts(document, document.member(metadata, "strides"));
  payload.offset = document.integer(document.member(document.member(metadata, "storage_offset"), "as_int"));
}

/// Number of elements, and the highest storage element read; nothing when the
/// numbers are negative, of different length or too large.
struct Footprint {
  int64_t elements = 1;
  int64_t last = 0;
};

std::optional<Footprint> footprint(const Payload &payload) {
  Footprint result{1, payload.offset};
  if (payload.dims.size() != payload.strides.size() || payload.offset < 0)
    return std::nullopt;
  for (auto [extent, stride] : llvm::zip(payload.dims, payload.strides)) {
    int64_t reach = 0;
    if (extent < 0 || stride < 0 || __builtin_mul_overflow(result.elements, extent, &result.elements) ||
        __builtin_mul_overflow(std::max<int64_t>(extent - 1, 0), stride, &reach) ||
        __builtin_add_overflow(result.last, reach, &result.last))
      return std::nullopt;
  }
  if (std::max(result.elements, result.last) > INT64_MAX / scalarTypeSize(payload.type) - 1)
    return std::nullopt;
  return result;
}

/// Copies the elements of a strided tensor from `storage` in row-major order.
std::vector<uint8_t> gather(const Payload &payload, const std::string &storage, int64_t elements) {
  int64_t size = scalarTypeSize(payload.type);
  std::vector<uint8_t> bytes(elements * size);
  std::vector<int64_t> index(payload.dims.size(), 0);
  for (int64_t element = 0; element < elements; ++element) {
    int64_t position = payload.offset;
    for (size_t dim = 0; dim < index.size(); ++dim)
      position += index[dim] * payload.strides[dim];
    std::memcpy(&bytes[element * size], &storage[position * size], size);
    for (size_t dim = index.size(); dim-- > 0;) {
      if (++index[dim] < payload.dims[dim])
        break;
      index[dim] = 0;
    }
  }
  return bytes;
}

} // namespace

PayloadTable readPayloadTable(JsonDocument &document, llvm::StringRef folder) {
  PayloadTable table;
  const Json &config = document.object(document.member(document.root(), "config"));
  for (auto it = config.begin(); it != config.end(); ++it) {
    Payload payload;
    payload.member = folder.str() + document.string(document.member(*it, "path_name"));
    payload.pickled = document.boolean(document.member(*it, "use_pickle"));
    if (const Json *metadata = document.optionalMember(*it, "tensor_meta"))
      readTensorMetadata(document, *metadata, payload);
    table[it.key()] = std::move(payload);
  }
  return table;
}

bool hasBytes(const Payload &payload, const ZipArchive &archive) {
  const ZipArchive::Member *member = archive.find(payload.member);
  bool empty = std::find(payload.dims.begin(), payload.dims.end(), 0) != payload.dims.end();
  return member && (member->size > 0 || empty);
}

std::optional<ConstantData> loadConstant(const Payload &payload, const std::string &what, const ZipArchive &archive,
                                         std::vector<Diagnostic> &errors) {
  auto fail = [&](const std::string &problem, const char *help) {
    errors.push_back({"'" + archive.path() + "': " + what + " " + problem, {}, help});
    return std::nullopt;
  };
  if (payload.pickled)
    return fail("is a pickled tensor subclass", "convert it to a plain tensor before torch.export.export");
  if (!hasBytes(payload, archive))
    return fail("has no value: its member '" + payload.member + "' is missing or empty", bytesHelp);
  std::optional<Footprint> print = footprint(payload);
  if (!print)
    return fail("has an impossible shape, stride or offset", "");
  std::optional<std::string> storage = archive.read(payload.member, errors);
  if (!storage)
    return std::nullopt;
  int64_t needed = print->elements == 0 ? 0 : (print->last + 1) * scalarTypeSize(payload.type);
  if (int64_t(storage->size()) < needed)
    return fail("needs " + std::to_string(needed) + " bytes of '" + payload.member + "', which has " +
                    std::to_string(storage->size()),
                "");
  // Strides may repeat elements, so the tensor can be larger than its storage, but not without bound.
  constexpr int64_t maxExpansion = int64_t(1) << 30;
  if (print->elements * scalarTypeSize(payload.type) > std::max<int64_t>(storage->size(), maxExpansion))
    return fail("is larger than 1 GiB when its repeated elements are written out", "");
  return ConstantData{payload.type, payload.dims, gather(payload, *storage, print->elements)};
}

} // namespace meshplan::archive
