//===- wire.cpp - serialized messages between ranks -----------------------===//
//
// The bytes come from another process, which may run another version or be damaged. So nothing read is trusted: lengths
// are bounded by the bytes that are left, numbers are checked before they become enumerators, and after the first fault
// the reader gives zeros until its caller asks whether it has failed.
//
// Numbers are in the byte order of the machine.
//
//===----------------------------------------------------------------------===//

#include "runtime/comm/wire.h"

using namespace meshplan;

// The enumerators that a message may have. The switches have no default, so that an enumerator that is missing here
// does not compile.

static bool isKnown(CollectiveKind kind) {
  switch (kind) {
  case CollectiveKind::allReduce:
  case CollectiveKind::allGather:
  case CollectiveKind::reduceScatter:
  case CollectiveKind::allToAll:
  case CollectiveKind::permute:
  case CollectiveKind::broadcast:
  case CollectiveKind::barrier:
  case CollectiveKind::send:
  case CollectiveKind::receive:
    return true;
  }
  return false;
}

static bool isKnown(DType dtype) {
  switch (dtype) {
  case DType::f32:
  case DType::f64:
  case DType::f16:
  case DType::bf16:
  case DType::i64:
  case DType::i32:
  case DType::i16:
  case DType::i8:
  case DType::u8:
  case DType::boolean:
    return true;
  }
  return false;
}

static bool isKnown(Reduction reduction) {
  switch (reduction) {
  case Reduction::sum:
  case Reduction::max:
  case Reduction::min:
    return true;
  }
  return false;
}

static bool isFailure(StatusCode code) {
  switch (code) {
  case StatusCode::invalid:
  case StatusCode::notFound:
  case StatusCode::corrupted:
  case StatusCode::unsupported:
  case StatusCode::io:
  case StatusCode::timeout:
  case StatusCode::peerLost:
  case StatusCode::aborted:
  case StatusCode::numericFault:
  case StatusCode::outOfMemory:
  case StatusCode::internal:
    return true;
  case StatusCode::ok:
    return false;
  }
  return false;
}

void WireWriter::append(const void *data, size_t size) {
  const std::byte *begin = static_cast<const std::byte *>(data);
  bytes.insert(bytes.end(), begin, begin + size);
}

void WireWriter::putText(std::string_view text) {
  put(static_cast<int64_t>(text.size()));
  append(text.data(), text.size());
}

void WireWriter::putCounts(std::span<const int64_t> counts) {
  put(static_cast<int64_t>(counts.size()));
  append(counts.data(), counts.size_bytes());
}

void WireWriter::putCollective(const Collective &collective) {
  // Buffers are not sent: they are addresses in this process.
  put(collective.kind);
  put(collective.dtype);
  put(collective.reduction);
  put(collective.count);
  putCounts(collective.sendCounts);
  putCounts(collective.receiveCounts);
  put(collective.peer);
  put(collective.label.sequence);
  putText(collective.label.origin);
}

void WireWriter::putStatus(const Status &status) {
  put(status.code());
  putText(status.message());
}

std::string WireReader::takeText() {
  std::string text(takeLength(1), '\0');
  copy(text.data(), text.size());
  return text;
}

std::vector<int64_t> WireReader::takeCounts() {
  std::vector<int64_t> counts(takeLength(sizeof(int64_t)));
  copy(counts.data(), counts.size() * sizeof(int64_t));
  return counts;
}

template <typename T> T WireReader::takeEnumerator() {
  auto value = take<T>();
  failed |= !isKnown(value);
  return failed ? T() : value;
}

Collective WireReader::takeCollective() {
  Collective collective;
  collective.kind = takeEnumerator<CollectiveKind>();
  collective.dtype = takeEnumerator<DType>();
  collective.reduction = takeEnumerator<Reduction>();
  collective.count = take<int64_t>();
  collective.sendCounts = takeCounts();
  collective.receiveCounts = takeCounts();
  collective.peer = take<int64_t>();
  collective.label.sequence = take<int64_t>();
  collective.label.origin = takeText();
  return collective;
}

Status WireReader::takeStatus() {
  auto code = take<StatusCode>();
  std::string text = takeText();
  // An unknown code of another version must not become success.
  return {isFailure(code) ? code : StatusCode::aborted, std::move(text)};
}

/// A corrupt length must not cause a huge allocation, so it is bounded by the bytes that are left.
size_t WireReader::takeLength(size_t elementSize) {
  int64_t length = take<int64_t>();
  if (length >= 0 && static_cast<uint64_t>(length) <= rest.size() / elementSize)
    return static_cast<size_t>(length);
  failed = true;
  return 0;
}

void WireReader::copy(void *target, size_t size) {
  // Once it has failed, every later value is zero, also one that would fit: a message is never understood in part.
  failed |= size > rest.size();
  if (failed || size == 0)
    return;
  std::memcpy(target, rest.data(), size);
  rest = rest.subspan(size);
}

Hash GroupNames::next(const std::string &name, const std::vector<int64_t> &ranks) {
  // All ranks create groups in the same order, so the count of equal groups gives each the same identity everywhere.
  std::string identity = name + '\0' + std::to_string(made[{name, ranks}]++);
  for (int64_t rank : ranks)
    identity += ' ' + std::to_string(rank);
  return hashBytes(std::as_bytes(std::span(identity)));
}
