//===- helpers.cpp - typed buffers and short forms ------------------------===//

#include "test/conformance/helpers.h"

#include <cstring>

namespace meshplan {

namespace {

template <typename T> void store(std::byte *target, double value) {
  T typed = static_cast<T>(value);
  std::memcpy(target, &typed, sizeof(T));
}

template <typename T> double load(const std::byte *source) {
  T typed;
  std::memcpy(&typed, source, sizeof(T));
  return static_cast<double>(typed);
}

void storeAs(std::byte *target, double value, DType dtype) {
  switch (dtype) {
  case DType::i64:
    return store<int64_t>(target, value);
  case DType::i32:
    return store<int32_t>(target, value);
  case DType::i16:
    return store<int16_t>(target, value);
  case DType::i8:
    return store<int8_t>(target, value);
  case DType::u8:
  case DType::boolean:
    return store<uint8_t>(target, value);
  default:
    return convertFloats(reinterpret_cast<const std::byte *>(&value), DType::f64, target, dtype, 1);
  }
}

double loadAs(const std::byte *source, DType dtype) {
  switch (dtype) {
  case DType::i64:
    return load<int64_t>(source);
  case DType::i32:
    return load<int32_t>(source);
  case DType::i16:
    return load<int16_t>(source);
  case DType::i8:
    return load<int8_t>(source);
  case DType::u8:
  case DType::boolean:
    return load<uint8_t>(source);
  default:
    double value;
    convertFloats(source, dtype, reinterpret_cast<std::byte *>(&value), DType::f64, 1);
    return value;
  }
}

} // namespace

std::vector<std::byte> encode(std::span<const double> values, DType dtype) {
  int64_t size = dtypeSize(dtype);
  std::vector<std::byte> bytes(values.size() * size);
  for (size_t i = 0; i < values.size(); ++i)
    storeAs(bytes.data() + i * size, values[i], dtype);
  return bytes;
}

std::vector<double> decode(std::span<const std::byte> bytes, DType dtype) {
  int64_t size = dtypeSize(dtype);
  std::vector<double> values(bytes.size() / size);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = loadAs(bytes.data() + i * size, dtype);
  return values;
}

std::vector<double> elementsOf(int64_t rank, int64_t count, int64_t first) {
  std::vector<double> values;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(elementOf(rank, first + i));
  return values;
}

std::string omittedReduction(DType dtype, Reduction reduction) {
  Omissions omitted = omissions();
  return omitted.reduction ? omitted.reduction(dtype, reduction) : "";
}

Expected<std::unique_ptr<Group>> worldGroup(World &world, std::string name) {
  return world.createWorldGroup(std::move(name));
}

Status finish(Expected<Pending> pending) { return waitFor(std::move(pending)); }

void expectOk(int64_t size, const RankBody &body) {
  std::vector<Status> statuses = runWorld(size, longTimeout, body);
  ASSERT_EQ(static_cast<int64_t>(statuses.size()), size);
  for (int64_t rank = 0; rank < size; ++rank)
    EXPECT_TRUE(statuses[rank].ok()) << "rank " << rank << ": " << statuses[rank].message();
}

} // namespace meshplan
