//===- archive_source.cpp - weights inside of a torch.export archive ------===//

#include "runtime/base/names.h"
#include "runtime/data/safetensors_header.h"
#include "runtime/data/tensor_source_builder.h"
#include "runtime/data/zip_file.h"

#include <algorithm>
#include <mutex>
#include <nlohmann/json.hpp>

namespace meshplan {

namespace {

using Json = nlohmann::json;

constexpr std::string_view configSuffix = "_weights_config.json", weightsFolder = "data/weights/";

/// A packed entry may unpack to this size unconditionally. Texts are far smaller. A larger tensor entry must be mostly
/// used.
constexpr uint64_t mostUnpacked = uint64_t(1) << 30;

Status tooLarge(const ZipEntry &entry, uint64_t most) {
  return Status::error(StatusCode::corrupted, "entry '", entry.name, "' unpacks to ", entry.size, " bytes, at most ",
                       most, " expected; help: save the archive again");
}

/// The text of an entry. Refuses to unpack one that would fill the memory.
Expected<std::vector<std::byte>> readText(const ZipEntry &entry) {
  if (entry.size > mostUnpacked)
    return tooLarge(entry, mostUnpacked);
  return unpack(entry);
}

/// A deflated entry, unpacked once, by its first reader.
class PackedPayload final : public Payload {
public:
  explicit PackedPayload(ZipEntry entry) : entry(std::move(entry)) {}

  Expected<std::span<const std::byte>> bytes() override {
    // Held while unpacking: the ranks of a process share the payload, and all but the first wait instead of unpacking
    // it too.
    std::lock_guard lock(mutex);
    if (content.empty() && entry.size > 0) {
      MESHPLAN_ASSIGN_OR_RETURN(content, unpack(entry));
    }
    return std::span<const std::byte>(content);
  }

private:
  std::mutex mutex;
  ZipEntry entry;
  std::vector<std::byte> content;
};

/// Maps the number of a complex type to the type of its parts; other numbers stay. Their order in torch is ComplexHalf,
/// ComplexFloat, ComplexDouble (9 to 11), as Half, Float, Double (6 to 8).
int64_t partsOfScalarType(int64_t number) { return number >= 9 && number <= 11 ? number - 3 : number; }

/// torch's ScalarType, numbered as in the archive's schema.
std::optional<DType> dtypeOfScalarType(int64_t number) {
  switch (number) {
  case 1:
    return DType::u8;
  case 2:
    return DType::i8;
  case 3:
    return DType::i16;
  case 4:
    return DType::i32;
  case 5:
    return DType::i64;
  case 6:
    return DType::f16;
  case 7:
    return DType::f32;
  case 8:
    return DType::f64;
  case 12:
    return DType::boolean;
  case 13:
    return DType::bf16;
  default:
    return std::nullopt;
  }
}

/// The member of an object, or JSON null. Returns a reference, because copying a value recurses as deep as the file
/// nests.
const Json &memberOf(const Json &json, const char *key) {
  static const Json null;
  auto member = json.is_object() ? json.find(key) : json.end();
  return member == json.end() ? null : *member;
}

/// {"as_int": 3}
std::optional<int64_t> readSymInt(const Json &json) {
  const Json &number = memberOf(json, "as_int");
  if (!number.is_number_unsigned() || number.get<uint64_t>() > uint64_t(INT64_MAX))
    return std::nullopt;
  return number.get<int64_t>();
}

std::optional<std::vector<int64_t>> readSymInts(const Json &json) {
  if (!json.is_array())
    return std::nullopt;
  std::vector<int64_t> numbers;
  for (const Json &each : json) {
    std::optional<int64_t> number = readSymInt(each);
    if (!number)
      return std::nullopt;
    numbers.push_back(*number);
  }
  return numbers;
}

/// The number of payload elements up to the last one that a strided tensor uses; nullopt on overflow.
std::optional<int64_t> reachOf(const StoredTensor &tensor) {
  // An empty tensor uses no element, and `extent - 1` would be negative below.
  if (std::ranges::find(tensor.shape, 0) != tensor.shape.end())
    return tensor.offset;
  // Example: shape [2, 3], strides [4, 1] and offset 5 reach 5 + 1 + 1 * 4 + 2 * 1 = 12 elements.
  int64_t reach = tensor.offset + 1;
  for (size_t i = 0; i < tensor.shape.size(); ++i) {
    int64_t step;
    if (__builtin_mul_overflow(tensor.shape[i] - 1, tensor.strides[i], &step) ||
        __builtin_add_overflow(reach, step, &reach))
      return std::nullopt;
  }
  return reach;
}

/// Views complex elements as pairs of reals in a new last dim. False on overflow.
bool splitIntoParts(std::vector<int64_t> &shape, std::vector<int64_t> &strides, int64_t &offset, DType dtype) {
  shape.push_back(2);
  for (int64_t &stride : strides)
    if (__builtin_mul_overflow(stride, 2, &stride))
      return false;
  strides.push_back(1);
  return !__builtin_mul_overflow(offset, 2, &offset) && offset != INT64_MAX && byteCount(shape, dtype);
}

Expected<StoredTensor> readMeta(const std::string &name, const Json &meta) {
  const Json &dtypeNumber = memberOf(meta, "dtype");
  if (!dtypeNumber.is_number_integer())
    return Status(StatusCode::corrupted, "no tensor_meta");
  int64_t scalarType = dtypeNumber.get<int64_t>();
  bool isComplex = partsOfScalarType(scalarType) != scalarType;
  std::optional<DType> dtype = dtypeOfScalarType(partsOfScalarType(scalarType));
  if (!dtype)
    return Status::error(StatusCode::unsupported, "dtype ", scalarType, " of torch");
  auto shape = readSymInts(memberOf(meta, "sizes")), strides = readSymInts(memberOf(meta, "strides"));
  std::optional<int64_t> offset = readSymInt(memberOf(meta, "storage_offset"));
  if (!shape || !strides || !offset || *offset == INT64_MAX || shape->size() != strides->size() ||
      !byteCount(*shape, *dtype))
    return Status(StatusCode::corrupted, "invalid sizes, strides or storage_offset");
  // A schedule represents complex numbers as pairs of reals.
  if (isComplex && !splitIntoParts(*shape, *strides, *offset, *dtype))
    return Status(StatusCode::corrupted, "invalid sizes, strides or storage_offset");
  return StoredTensor{.name = name,
                      .dtype = *dtype,
                      .shape = std::move(*shape),
                      .strides = std::move(*strides),
                      .offset = *offset,
                      .payload = nullptr};
}

/// The entries of an archive, by their path below its root folder, whose name is arbitrary.
class Archive {
public:
  explicit Archive(std::vector<ZipEntry> list) {
    for (ZipEntry &entry : list)
      // PyTorch names the root after the file that was saved, which may have been renamed since.
      if (size_t slash = entry.name.find('/'); slash != std::string::npos)
        entries.emplace(entry.name.substr(slash + 1), std::move(entry));
  }

  const ZipEntry *find(const std::string &name) const {
    auto found = entries.find(name);
    return found == entries.end() ? nullptr : &found->second;
  }

  std::vector<std::string> configNames() const {
    std::vector<std::string> names;
    for (const auto &[name, entry] : entries)
      if (name.starts_with(weightsFolder) && name.ends_with(configSuffix))
        names.push_back(name);
    return names;
  }

  /// One payload per entry, so that tied weights are unpacked only once.
  std::shared_ptr<Payload> payloadOf(const ZipEntry &entry) {
    std::shared_ptr<Payload> &payload = payloads[entry.name];
    if (!payload)
      payload = entry.deflated ? std::make_shared<PackedPayload>(entry) : plainPayload(entry.data);
    return payload;
  }

private:
  std::map<std::string, ZipEntry> entries;
  std::map<std::string, std::shared_ptr<Payload>> payloads;
};

Expected<StoredTensor> readWeight(Archive &archive, const std::string &name, const Json &json) {
  const Json &pathName = memberOf(json, "path_name");
  if (!pathName.is_string())
    return Status(StatusCode::corrupted, "no path_name");
  if (memberOf(json, "use_pickle") == true)
    return Status(StatusCode::unsupported, "the tensor is pickled; help: give the weights as safetensors");
  MESHPLAN_ASSIGN_OR_RETURN(StoredTensor tensor, readMeta(name, memberOf(json, "tensor_meta")));
  std::string path = std::string(weightsFolder) + pathName.get_ref<const std::string &>();
  const ZipEntry *entry = archive.find(path);
  if (!entry)
    return Status::error(StatusCode::notFound, "the archive has no ", path);
  std::optional<int64_t> reach = reachOf(tensor);
  // Checked once here, so that later reads of any slice stay inside of the payload.
  if (!reach || *reach > static_cast<int64_t>(entry->size) / dtypeSize(tensor.dtype))
    return Status::error(StatusCode::corrupted, "shape ", shapeText(tensor.shape), " of ", dtypeName(tensor.dtype),
                         " in ", entry->size, " bytes (exported on the meta device?)");
  uint64_t used = *reach * dtypeSize(tensor.dtype);
  // A tiny tensor in a huge packed entry is an attack or an error. Unpacking at most four times what is used is
  // harmless.
  if (entry->deflated && entry->size > mostUnpacked && entry->size / 4 > used)
    return tooLarge(*entry, std::max(mostUnpacked, 4 * used));
  tensor.payload = archive.payloadOf(*entry);
  // A packed entry is compared with its checksum when it is unpacked.
  if (!entry->deflated && entry->size > 0)
    tensor.checksums =
        std::make_shared<const BlockChecksums>(BlockChecksums{static_cast<int64_t>(entry->size), {entry->checksum}});
  return tensor;
}

Status checkByteOrder(const Archive &archive) {
  const ZipEntry *entry = archive.find("byteorder");
  if (!entry)
    return Status();
  MESHPLAN_ASSIGN_OR_RETURN(std::vector<std::byte> content, readText(*entry));
  std::string_view order(reinterpret_cast<const char *>(content.data()), content.size());
  return order == "little" ? Status() : Status::error(StatusCode::unsupported, "byte order ", order);
}

Status addWeights(TensorSourceBuilder &builder, Archive &archive) {
  MESHPLAN_RETURN_IF_ERROR(checkByteOrder(archive));
  std::vector<std::string> configs = archive.configNames();
  if (configs.empty())
    return Status::error(StatusCode::corrupted, "no ", weightsFolder, "*", configSuffix,
                         " in the archive; help: save the weights as safetensors, or give the .pt2");
  for (const std::string &configName : configs) {
    MESHPLAN_ASSIGN_OR_RETURN(std::vector<std::byte> text, readText(*archive.find(configName)));
    const char *begin = reinterpret_cast<const char *>(text.data());
    Json json = Json::parse(begin, begin + text.size(), nullptr, /*allow_exceptions=*/false);
    const Json &config = memberOf(json, "config");
    if (!config.is_object())
      return Status::error(StatusCode::corrupted, configName, " has no config");
    for (const auto &[name, weight] : config.items()) {
      Expected<StoredTensor> tensor = readWeight(archive, name, weight);
      if (!tensor)
        return tensor.status().withContext("tensor '" + name + "'");
      builder.add(*std::move(tensor));
    }
  }
  return Status();
}

} // namespace

Status addArchive(TensorSourceBuilder &builder, const std::string &path, std::span<const std::byte> bytes) {
  Expected<std::vector<ZipEntry>> entries = readZipDirectory(bytes);
  if (!entries)
    return entries.status().withContext(path);
  Archive archive(*std::move(entries));
  return addWeights(builder, archive).withContext(path);
}

} // namespace meshplan
