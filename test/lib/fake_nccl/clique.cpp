//===- clique.cpp - the shared state of a communicator's ranks ------------===//

#include "test/lib/fake_nccl/clique.h"

#include "runtime/comm/reduce.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace meshplan;

namespace {

DType dtypeOf(ncclDataType_t type) {
  static const std::map<ncclDataType_t, DType> dtypes = {
      {ncclInt8, DType::i8},     {ncclUint8, DType::u8},    {ncclInt32, DType::i32},   {ncclInt64, DType::i64},
      {ncclFloat16, DType::f16}, {ncclFloat32, DType::f32}, {ncclFloat64, DType::f64}, {ncclBfloat16, DType::bf16}};
  return dtypes.at(type);
}

void copy(void *target, const void *source, size_t bytes) {
  if (bytes > 0 && target != source)
    std::memmove(target, source, bytes);
}

/// The calls that all ranks of a communicator have made together.
class Movement {
public:
  explicit Movement(std::vector<FakeCall> calls) : calls(std::move(calls)) {}

  void run() {
    const FakeCall &first = calls.front();
    size_t own = bytesOf(first);
    for (size_t rank = 0; rank < calls.size(); ++rank)
      switch (first.kind) {
      case FakeCall::Kind::allReduce:
        return reduce(0, allOutputs());
      case FakeCall::Kind::reduce:
        return reduce(0, {calls[first.peer].output});
      case FakeCall::Kind::reduceScatter:
        reduce(rank * own, {calls[rank].output});
        break;
      case FakeCall::Kind::broadcast:
        copy(calls[rank].output, calls[first.peer].input, own);
        break;
      default:
        for (size_t from = 0; from < calls.size(); ++from)
          copy(static_cast<std::byte *>(calls[rank].output) + from * own, calls[from].input, own);
      }
  }

private:
  std::vector<void *> allOutputs() const {
    std::vector<void *> outputs;
    for (const FakeCall &call : calls)
      outputs.push_back(call.output);
    return outputs;
  }

  void reduce(size_t offset, const std::vector<void *> &outputs) {
    const FakeCall &first = calls.front();
    std::vector<const void *> inputs;
    for (const FakeCall &call : calls)
      inputs.push_back(static_cast<const std::byte *>(call.input) + offset);
    Reduction reduction = first.operation == ncclMax   ? Reduction::max
                          : first.operation == ncclMin ? Reduction::min
                                                       : Reduction::sum;
    if (first.count > 0)
      reduceInOrder(inputs, outputs, static_cast<int64_t>(first.count), dtypeOf(first.type), reduction);
  }

  std::vector<FakeCall> calls;
};

bool isSame(const FakeCall &a, const FakeCall &b) {
  return a.kind == b.kind && a.count == b.count && a.type == b.type && a.operation == b.operation && a.peer == b.peer;
}

[[noreturn]] void endWith(const char *message) {
  std::fprintf(stderr, "stand-in for NCCL: %s\n", message);
  std::abort();
}

} // namespace

size_t meshplan::bytesOf(const FakeCall &call) {
  return call.count * static_cast<size_t>(dtypeSize(dtypeOf(call.type)));
}

void Clique::join() {
  std::lock_guard lock(mutex);
  ++joined;
}

bool Clique::isComplete() {
  std::lock_guard lock(mutex);
  return joined == size;
}

void Clique::connect(int rank) {
  std::lock_guard lock(mutex);
  connected.insert(rank);
  changed.notify_all();
}

bool Clique::awaitConnections(int rank, const std::vector<FakeCall> &calls) {
  std::unique_lock lock(mutex);
  for (const FakeCall &call : calls)
    if (call.isPair())
      connectedPairs.emplace(rank, call.peer);
    else
      connected.insert(rank);
  changed.notify_all();
  auto isConnected = [&](const FakeCall &call) {
    return call.isPair() ? connectedPairs.contains({call.peer, rank}) : static_cast<int>(connected.size()) == size;
  };
  changed.wait(lock, [&] { return aborted.contains(rank) || std::ranges::all_of(calls, isConnected); });
  return !aborted.contains(rank);
}

/// A rank that has aborted takes no part in anything.
bool Clique::canMove(const Entries &entries) const {
  return std::ranges::none_of(entries, [&](const auto &entry) { return aborted.contains(entry->rank); });
}

void Clique::postCollective(const std::shared_ptr<Entry> &entry) {
  Entries &entries = collectives[entry->call.number];
  entries.push_back(entry);
  if (static_cast<int>(entries.size()) < size || !canMove(entries))
    return;
  std::ranges::sort(entries, {}, [](const auto &each) { return each->rank; });
  std::vector<FakeCall> calls;
  for (const auto &each : entries)
    calls.push_back(each->call);
  if (std::ranges::any_of(calls, [&](const FakeCall &call) { return !isSame(call, calls.front()); }))
    endWith("the ranks call different collectives");
  Movement(std::move(calls)).run();
  for (const auto &each : entries)
    each->done = true;
  collectives.erase(entry->call.number);
}

void Clique::postPair(const std::shared_ptr<Entry> &entry) {
  bool sends = entry->call.kind == FakeCall::Kind::send;
  auto &[senders, receivers] =
      pairs[sends ? std::pair(entry->rank, entry->call.peer) : std::pair(entry->call.peer, entry->rank)];
  (sends ? senders : receivers).push_back(entry);
  if (senders.empty() || receivers.empty() || !canMove({senders.front(), receivers.front()}))
    return;
  const FakeCall &from = senders.front()->call, &to = receivers.front()->call;
  if (bytesOf(from) != bytesOf(to))
    endWith("a rank sends what the other does not expect");
  copy(to.output, from.input, bytesOf(to));
  senders.front()->done = receivers.front()->done = true;
  senders.pop_front();
  receivers.pop_front();
}

void Clique::run(int rank, const std::vector<FakeCall> &calls) {
  std::unique_lock lock(mutex);
  Entries entries;
  for (const FakeCall &call : calls) {
    entries.push_back(std::make_shared<Entry>(Entry{rank, call}));
    call.isPair() ? postPair(entries.back()) : postCollective(entries.back());
  }
  changed.notify_all();
  changed.wait(lock, [&] {
    return aborted.contains(rank) || std::ranges::all_of(entries, [](const auto &entry) { return entry->done; });
  });
}

void Clique::abort(int rank) {
  std::lock_guard lock(mutex);
  aborted.insert(rank);
  changed.notify_all();
}

bool Clique::isAborted(int rank) {
  std::lock_guard lock(mutex);
  return aborted.contains(rank);
}
