//===- payloads.cpp - tensors stored in an archive ---------------*- C++ -*-===//
//
// A tensor of an archive is a view of a storage: shape, strides and an offset, in elements. The file may be damaged or
// made by anyone, so the numbers are checked before a byte is read: no product overflows, the last element is inside
// the storage, and a few bytes cannot be expanded to many gigabytes by strides of 0.
//
//===----------------------------------------------------------------------===//

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

/// Limit for the bytes by which all constants together may exceed their storages.
constexpr int64_t maxGrowth = int64_t(1) << 30;

/// Number of elements, and the highest storage element that is read; nothing if the numbers are negative, too large or
/// of different length.
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

/// Copies the elements of a strided tensor in row-major order. Repeated blocks (stride 0) are copied in large pieces.
class Gather {
public:
  /// `payload` has at least one element, and all lie in `storage`.
  Gather(const Payload &payload, const std::string &storage)
      : storage(storage), size(scalarTypeSize(payload.type)), first(payload.offset) {
    // At most as many dims are left as an element count has bits.
    for (auto [extent, stride] : llvm::zip(payload.dims, payload.strides))
      if (extent > 1)
        dims.push_back({extent, stride});
  }

  std::vector<uint8_t> run(int64_t elements) {
    bytes.reserve(elements * size);
    append(0, first);
    return std::move(bytes);
  }

private:
  struct Dim {
    int64_t extent, stride;
  };

  void append(size_t dim, int64_t position) {
    if (dim == dims.size() || (dim + 1 == dims.size() && dims[dim].stride == 1)) {
      const char *begin = storage.data() + position * size;
      bytes.insert(bytes.end(), begin, begin + (dim == dims.size() ? 1 : dims[dim].extent) * size);
    } else if (dims[dim].stride == 0) {
      size_t begin = bytes.size();
      append(dim + 1, position);
      repeat(begin, dims[dim].extent);
    } else {
      for (int64_t i = 0; i < dims[dim].extent; ++i)
        append(dim + 1, position + i * dims[dim].stride);
    }
  }

  /// Repeats the bytes from `begin` on, so that they occur `times` times; the copied length doubles each time.
  void repeat(size_t begin, int64_t times) {
    size_t piece = bytes.size() - begin, end = begin + piece * times;
    while (bytes.size() < end) {
      size_t old = bytes.size(), count = std::min(old - begin, end - old);
      bytes.resize(old + count);
      std::memcpy(&bytes[old], &bytes[begin], count);
    }
  }

  const std::string &storage;
  int64_t size;
  int64_t first;
  std::vector<Dim> dims;
  std::vector<uint8_t> bytes;
};

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

bool hasTypeOf(const Payload &payload, const Value &value) {
  bool same = payload.type == value.type && payload.dims.size() == value.dims.size();
  for (size_t dim = 0; same && dim < payload.dims.size(); ++dim)
    same = value.dims[dim] == SymbolicInt(payload.dims[dim]);
  return same;
}

Payload inParts(Payload payload) {
  if (!isComplex(payload.type))
    return payload;
  payload.type = partType(payload.type);
  payload.offset *= 2;
  for (int64_t &stride : payload.strides)
    stride *= 2;
  payload.dims.push_back(2);
  payload.strides.push_back(1);
  return payload;
}

bool hasBytes(const Payload &payload, const ZipArchive &archive) {
  const ZipArchive::Member *member = archive.find(payload.member);
  bool empty = std::find(payload.dims.begin(), payload.dims.end(), 0) != payload.dims.end();
  return member && (member->size > 0 || empty);
}

std::optional<ConstantData> loadConstant(const Payload &payload, const std::string &what, const ZipArchive &archive,
                                         int64_t &growth, std::vector<Diagnostic> &errors) {
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
  // All numbers come from the file: bytes are read and copied only after every element is known to be in the storage.
  int64_t needed = print->elements == 0 ? 0 : (print->last + 1) * scalarTypeSize(payload.type);
  std::optional<std::string> storage =
      archive.read(payload.member, errors, std::max<uint64_t>(ZipArchive::mostUnpacked, needed));
  if (!storage)
    return std::nullopt;
  if (int64_t(storage->size()) < needed)
    return fail("needs " + std::to_string(needed) + " bytes of '" + payload.member + "', which has " +
                    std::to_string(storage->size()),
                "");
  // Strides may repeat elements, so a tensor may be larger than its storage, but only up to a limit.
  int64_t more = std::max<int64_t>(print->elements * scalarTypeSize(payload.type) - int64_t(storage->size()), 0);
  if (more > maxGrowth - growth)
    return fail("makes the constants more than 1 GiB larger than they are stored, with repeated elements written out",
                "keep the tensor in its own size, and expand it in forward");
  growth += more;
  if (print->elements == 0)
    return ConstantData{payload.type, payload.dims, {}};
  return ConstantData{payload.type, payload.dims, Gather(payload, *storage).run(print->elements)};
}

} // namespace meshplan::archive
