//===- safetensors_header.cpp - the header of a safetensors file ----------===//

#include "runtime/data/safetensors_header.h"

#include "runtime/base/names.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

namespace meshplan {

namespace {

using Json = nlohmann::json;

struct Entry {
  StoredTensor tensor;
  int64_t begin, end; // bytes after the header
};

template <typename... Parts> Status corrupted(const Parts &...parts) {
  return Status::error(StatusCode::corrupted, parts...);
}

/// Reads non-negative 64-bit integers; nullopt if there is anything else.
std::optional<std::vector<int64_t>> readIntegers(const Json &json) {
  if (!json.is_array())
    return std::nullopt;
  std::vector<int64_t> numbers;
  for (const Json &number : json) {
    if (!number.is_number_unsigned() || number.get<uint64_t>() > uint64_t(INT64_MAX))
      return std::nullopt;
    numbers.push_back(number.get<int64_t>());
  }
  return numbers;
}

Expected<Entry> readEntry(const std::string &name, const Json &json) {
  if (!json.is_object() || !json.contains("dtype") || !json["dtype"].is_string() || !json.contains("shape") ||
      !json.contains("data_offsets"))
    return corrupted("no dtype, shape or data_offsets");
  const std::string &dtypeText = json["dtype"].get_ref<const std::string &>();
  // A schedule represents complex numbers as pairs of reals.
  bool isComplex = dtypeText == "C64";
  std::optional<DType> dtype = isComplex ? DType::f32 : dtypeOfSafetensorsName(dtypeText);
  std::optional<std::vector<int64_t>> shape = readIntegers(json["shape"]), offsets = readIntegers(json["data_offsets"]);
  if (!shape || !offsets || offsets->size() != 2 || (*offsets)[0] > (*offsets)[1])
    return corrupted("invalid shape or data_offsets");
  if (isComplex)
    shape->push_back(2);
  int64_t begin = (*offsets)[0], end = (*offsets)[1];
  // A tensor of an unknown dtype is an error only if it is read.
  std::optional<int64_t> size = byteCount(*shape, dtype.value_or(DType::u8));
  if (!size || (dtype && *size != end - begin))
    return corrupted("shape ", shapeText(*shape), " of ", dtype ? dtypeName(*dtype) : std::string_view(dtypeText),
                     " in ", end - begin, " bytes");
  std::vector<int64_t> strides = contiguousStrides(*shape);
  return Entry{{.name = name,
                .dtype = dtype.value_or(DType::u8),
                .shape = std::move(*shape),
                .strides = std::move(strides),
                .offset = 0,
                .payload = nullptr,
                .foreignType = dtype ? "" : "'" + dtypeText + "'"},
               begin,
               end};
}

Expected<std::vector<Entry>> readEntries(std::span<const std::byte> header) {
  const char *text = reinterpret_cast<const char *>(header.data());
  Json json = Json::parse(text, text + header.size(), nullptr, /*allow_exceptions=*/false);
  if (!json.is_object())
    return corrupted("the header is not a JSON object");
  std::vector<Entry> entries;
  for (const auto &[name, value] : json.items()) {
    // Free text of the program that saved the file.
    if (name == "__metadata__")
      continue;
    Expected<Entry> entry = readEntry(name, value);
    if (!entry)
      return entry.status().withContext("tensor '" + name + "'");
    entries.push_back(*std::move(entry));
  }
  // JSON objects have no order, and checkLayout needs that of the data. Empty tensors come before others at the same
  // offset.
  std::sort(entries.begin(), entries.end(),
            [](const Entry &a, const Entry &b) { return std::pair(a.begin, a.end) < std::pair(b.begin, b.end); });
  return entries;
}

/// The tensors must cover the data from its first to its last byte, each byte once.
Status checkLayout(std::span<const Entry> entries, int64_t dataSize) {
  int64_t position = 0;
  for (const Entry &entry : entries) {
    // The format forbids gaps, which could hide data, and overlaps, which could alias tensors.
    if (entry.begin != position)
      return corrupted("tensor '", entry.tensor.name, "' begins at byte ", entry.begin, " of the data, ", position,
                       " expected");
    position = entry.end;
    if (position > dataSize)
      return corrupted("truncated: tensor '", entry.tensor.name, "' ends at byte ", position,
                       " of the data, the file has ", dataSize);
  }
  return position == dataSize ? Status() : corrupted(dataSize - position, " bytes after the last tensor");
}

} // namespace

std::optional<int64_t> byteCount(std::span<const int64_t> shape, DType dtype) {
  // A dim of extent 0 must not hide an overflow of the others, because strides are products of some of them.
  int64_t bytes = dtypeSize(dtype);
  for (int64_t extent : shape)
    if (extent < 0 || __builtin_mul_overflow(bytes, std::max<int64_t>(extent, 1), &bytes))
      return std::nullopt;
  return std::ranges::find(shape, 0) == shape.end() ? bytes : 0;
}

std::span<const std::byte> headerOf(std::span<const std::byte> file) {
  uint64_t size = 0;
  if (file.size() < sizeof(size))
    return file;
  std::memcpy(&size, file.data(), sizeof(size));
  return file.first(sizeof(size) + std::min<uint64_t>(size, file.size() - sizeof(size)));
}

Expected<std::vector<StoredTensor>> readSafetensors(const std::string &path, std::span<const std::byte> bytes) {
  uint64_t headerSize = 0;
  if (bytes.size() < sizeof(headerSize))
    return corrupted(path, ": truncated: a file of ", bytes.size(), " bytes is not a safetensors file");
  std::memcpy(&headerSize, bytes.data(), sizeof(headerSize));
  // Subtracted and not added: a stated size near 2^64 would overflow a sum.
  if (headerSize > bytes.size() - sizeof(headerSize))
    return corrupted(path, ": truncated, or not a safetensors file: a header of ", headerSize, " bytes in a file of ",
                     bytes.size());
  Expected<std::vector<Entry>> entries = readEntries(bytes.subspan(sizeof(headerSize), headerSize));
  if (!entries)
    return entries.status().withContext(path);
  std::span<const std::byte> data = bytes.subspan(sizeof(headerSize) + headerSize);
  MESHPLAN_RETURN_IF_ERROR(checkLayout(*entries, static_cast<int64_t>(data.size())).withContext(path));
  std::vector<StoredTensor> tensors;
  for (Entry &entry : *entries) {
    entry.tensor.payload = plainPayload(data.subspan(entry.begin, entry.end - entry.begin));
    tensors.push_back(std::move(entry.tensor));
  }
  return tensors;
}

} // namespace meshplan
