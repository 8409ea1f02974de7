//===- megatron_index.cpp - the index of a Megatron data set --------------===//

#include "runtime/dataset/megatron_index.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

namespace meshplan {

namespace {

constexpr std::string_view magic("MMIDIDX\0\0", 9);
constexpr size_t headerSize = 9 + 8 + 1 + 8 + 8;

template <typename T> T readAt(std::span<const std::byte> bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

template <typename... Parts> Status corrupted(const std::string &path, const Parts &...parts) {
  return Status::error(StatusCode::corrupted, path, ": ", parts...);
}

/// The codes of Megatron-Core's indexed_dataset.DType. 6 and 7 are f64 and f32, which are not integers.
std::optional<IntegerType> typeOfCode(uint8_t code) {
  constexpr std::array<IntegerType, 5> types = {IntegerType::u8, IntegerType::i8, IntegerType::i16, IntegerType::i32,
                                                IntegerType::i64};
  if (code >= 1 && code <= types.size())
    return types[code - 1];
  return code == 8 ? std::optional(IntegerType::u16) : std::nullopt;
}

Status checkHeader(const std::string &path, std::span<const std::byte> bytes) {
  if (bytes.size() < headerSize)
    return corrupted(path, "truncated: a file of ", bytes.size(), " bytes is not an index of a Megatron data set");
  if (std::memcmp(bytes.data(), magic.data(), magic.size()) != 0)
    return corrupted(path, "not an index of a Megatron data set, which begins with 'MMIDIDX'");
  if (uint64_t version = readAt<uint64_t>(bytes, 9); version != 1)
    return Status::error(StatusCode::unsupported, path, ": version ", version, " of the index, 1 required");
  uint8_t code = readAt<uint8_t>(bytes, 17);
  if (!typeOfCode(code))
    return Status::error(StatusCode::unsupported, path, ": tokens of the type with the code ", int(code),
                         ", one of 1, 2, 3, 4, 5 and 8 (integers) required");
  return Status();
}

/// An entry of a sequence has 12 bytes, of a document 8. Modes add one byte per sequence.
Status checkSize(const std::string &path, std::span<const std::byte> bytes) {
  uint64_t sequences = readAt<uint64_t>(bytes, 18), documents = readAt<uint64_t>(bytes, 26);
  uint64_t rest = bytes.size() - headerSize;
  // Each bound alone keeps the sum from overflowing.
  bool isPossible = sequences <= rest / 12 && documents <= rest / 8;
  uint64_t required = isPossible ? 12 * sequences + 8 * documents : 0;
  if (isPossible && sequences > 0 && rest == required + sequences)
    return Status::error(StatusCode::unsupported, path,
                         ": sequences have modes, as those with images; help: give a data set of text alone");
  if (!isPossible || rest != required)
    return corrupted(path, sequences, " sequences and ", documents, " documents do not fit ", bytes.size(), " bytes");
  return Status();
}

} // namespace

Expected<MegatronIndex> readMegatronIndex(const std::string &path, std::span<const std::byte> bytes) {
  MESHPLAN_RETURN_IF_ERROR(checkHeader(path, bytes));
  MESHPLAN_RETURN_IF_ERROR(checkSize(path, bytes));
  MegatronIndex index{.type = *typeOfCode(readAt<uint8_t>(bytes, 17)),
                      .sequences = readAt<int64_t>(bytes, 18),
                      .documents = readAt<int64_t>(bytes, 26)};
  int64_t size = integerSize(index.type);
  size_t lengths = headerSize, pointers = lengths + 4 * index.sequences;
  // Each sequence must begin where the previous one ends, so that all tokens form one stream.
  for (int64_t i = 0; i < index.sequences; ++i) {
    // Read by copies: the 34 bytes of the header leave what follows unaligned.
    int32_t length = readAt<int32_t>(bytes, lengths + 4 * i);
    int64_t begin = readAt<int64_t>(bytes, pointers + 8 * i);
    if (length < 0)
      return corrupted(path, "sequence ", i, " has ", length, " tokens");
    if (begin != index.tokens * size)
      return corrupted(path, "sequence ", i, " begins at byte ", begin, ", ", index.tokens * size,
                       " required: the sequences before it have ", index.tokens, " tokens of ",
                       integerName(index.type));
    index.tokens += length;
  }
  return index;
}

} // namespace meshplan
