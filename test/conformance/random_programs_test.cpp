//===- random_programs_test.cpp - collectives over several groups ---------===//
//
// Random programs of collectives over the groups of several communicators, whose inputs are results of earlier ones.
// All ranks start them in the order of the program; each waits when it likes, but before it reads. The results are
// compared with those of a loop over all ranks.
//
//===----------------------------------------------------------------------===//

#include "test/conformance/helpers.h"

#include <algorithm>
#include <deque>
#include <numeric>
#include <random>

namespace meshplan {
namespace {

constexpr int64_t ranks = 6;

using Buffer = std::vector<int32_t>;
/// Groups that hold each rank once, of one size.
using Communicator = std::vector<std::vector<int64_t>>;

const std::vector<std::pair<std::string, Communicator>> communicators = {{"all", {{0, 1, 2, 3, 4, 5}}},
                                                                         {"tp", {{0, 1, 2}, {3, 4, 5}}},
                                                                         {"dp", {{0, 3}, {1, 4}, {2, 5}}},
                                                                         {"turned", {{4, 0, 2}, {5, 3, 1}}},
                                                                         {"again", {{5, 4, 3, 2, 1, 0}}}};

struct Call {
  size_t communicator;
  CollectiveKind kind;
  Reduction reduction;
  size_t source;               ///< index of the buffer that it reads; it writes the next new one
  std::vector<int64_t> counts; ///< by index in the group; all-to-all: by sender and receiver
  int64_t root, peer;          ///< indices in the group; root also shifts a permute
};

struct Program {
  int64_t elements; ///< of each buffer
  std::vector<Call> calls;
};

int64_t sizeOf(const Call &call) { return static_cast<int64_t>(communicators[call.communicator].second[0].size()); }

Program randomProgram(uint64_t seed) {
  std::mt19937_64 random(seed);
  auto below = [&](int64_t bound) { return static_cast<int64_t>(random() % static_cast<uint64_t>(bound)); };
  // Most buffers are small; some are larger than what backends move at once.
  Program program{.elements = below(4) == 0 ? 30'000 : 60, .calls = {}};
  auto length = static_cast<size_t>(10 + below(20));
  for (size_t i = 0; i < length; ++i) {
    Call call{.communicator = static_cast<size_t>(below(static_cast<int64_t>(communicators.size()))),
              .kind = static_cast<CollectiveKind>(below(8)), // a receive belongs to its send
              .reduction = static_cast<Reduction>(below(3)),
              .source = static_cast<size_t>(below(static_cast<int64_t>(i + 1)))};
    int64_t size = sizeOf(call);
    call.root = below(size);
    call.peer = (call.root + 1 + below(size - 1)) % size;
    int64_t pieces = call.kind == CollectiveKind::allToAll ? size * size : size;
    for (int64_t piece = 0; piece < pieces; ++piece)
      call.counts.push_back(below(program.elements / size + 1));
    program.calls.push_back(std::move(call));
  }
  return program;
}

Buffer firstBuffer(int64_t rank, int64_t elements) {
  Buffer buffer(elements);
  for (int64_t i = 0; i < elements; ++i)
    buffer[i] = static_cast<int32_t>((rank + 1) * 1'000'003 + i * 7919);
  return buffer;
}

/// Integer sums wrap around.
int32_t reduce(Reduction reduction, int32_t a, int32_t b) {
  if (reduction == Reduction::sum)
    return static_cast<int32_t>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b));
  return reduction == Reduction::max ? std::max(a, b) : std::min(a, b);
}

int64_t sumOf(std::span<const int64_t> counts) { return std::accumulate(counts.begin(), counts.end(), int64_t(0)); }

/// What the call writes on the ranks of one group, one after the other.
class Reference {
public:
  Reference(const Call &call, std::vector<const Buffer *> inputs, std::vector<Buffer *> outputs)
      : call(call), inputs(std::move(inputs)), outputs(std::move(outputs)) {}

  void run() {
    for (int64_t to = 0; to < size(); ++to)
      write(to);
  }

private:
  int64_t size() const { return static_cast<int64_t>(inputs.size()); }
  int64_t begin(int64_t index) const { return sumOf(std::span(call.counts).first(index)); }
  std::span<const int64_t> sentBy(int64_t from) const { return std::span(call.counts).subspan(from * size(), size()); }

  void copy(int64_t from, int64_t first, int64_t count, int64_t to, int64_t target) {
    std::copy_n(inputs[from]->begin() + first, count, outputs[to]->begin() + target);
  }
  void reduced(int64_t first, int64_t count, int64_t to) {
    for (int64_t i = 0; i < count; ++i) {
      int32_t value = (*inputs[0])[first + i];
      for (int64_t from = 1; from < size(); ++from)
        value = reduce(call.reduction, value, (*inputs[from])[first + i]);
      (*outputs[to])[i] = value;
    }
  }

  void write(int64_t to) {
    auto all = static_cast<int64_t>(inputs[to]->size());
    switch (call.kind) {
    case CollectiveKind::allReduce:
      return reduced(0, all, to);
    case CollectiveKind::reduceScatter:
      return reduced(begin(to), call.counts[to], to);
    case CollectiveKind::allGather:
      for (int64_t from = 0; from < size(); ++from)
        copy(from, 0, call.counts[from], to, begin(from));
      return;
    case CollectiveKind::allToAll:
      for (int64_t from = 0, target = 0; from < size(); target += sentBy(from)[to], ++from)
        copy(from, sumOf(sentBy(from).first(to)), sentBy(from)[to], to, target);
      return;
    case CollectiveKind::permute:
      return copy((to + size() - call.root) % size(), 0, call.counts[0], to, 0);
    case CollectiveKind::broadcast:
      return copy(call.root, 0, call.counts[0], to, 0);
    case CollectiveKind::send:
      if (to == call.peer)
        copy(call.root, 0, call.counts[0], to, 0);
      return;
    default:
      return;
    }
  }

  const Call &call;
  std::vector<const Buffer *> inputs;
  std::vector<Buffer *> outputs;
};

/// The buffers of each rank after the program.
std::vector<std::deque<Buffer>> expectedOf(const Program &program) {
  std::vector<std::deque<Buffer>> buffers(ranks);
  for (int64_t rank = 0; rank < ranks; ++rank)
    buffers[rank].push_back(firstBuffer(rank, program.elements));
  for (const Call &call : program.calls) {
    for (auto &own : buffers)
      own.emplace_back(program.elements, -1);
    for (const std::vector<int64_t> &group : communicators[call.communicator].second) {
      std::vector<const Buffer *> inputs;
      std::vector<Buffer *> outputs;
      for (int64_t rank : group) {
        inputs.push_back(&buffers[rank][call.source]);
        outputs.push_back(&buffers[rank].back());
      }
      // A broadcast works in place: see ProgramOfRank::startCall.
      if (call.kind == CollectiveKind::broadcast)
        for (size_t i = 0; i < group.size(); ++i)
          *outputs[i] = *inputs[i];
      Reference(call, inputs, outputs).run();
    }
  }
  return buffers;
}

/// One rank of a running program.
class ProgramOfRank {
public:
  ProgramOfRank(World &world, const Program &program, uint64_t seed)
      : world(world), program(program), random(seed * ranks + static_cast<uint64_t>(world.rank())) {}

  Status run() {
    MESHPLAN_RETURN_IF_ERROR(makeGroups());
    buffers.push_back(firstBuffer(world.rank(), program.elements));
    pending.emplace_back();
    for (const Call &call : program.calls) {
      while (random() % 3 == 0)
        MESHPLAN_RETURN_IF_ERROR(wait(random() % buffers.size()));
      MESHPLAN_RETURN_IF_ERROR(wait(call.source));
      buffers.emplace_back(program.elements, -1);
      pending.emplace_back();
      MESHPLAN_RETURN_IF_ERROR(start(call, *groups[call.communicator]));
    }
    std::vector<size_t> order(buffers.size());
    std::iota(order.begin(), order.end(), size_t(0));
    std::shuffle(order.begin(), order.end(), random);
    for (size_t index : order)
      MESHPLAN_RETURN_IF_ERROR(wait(index));
    return Status();
  }

  std::deque<Buffer> buffers;

private:
  Status makeGroups() {
    for (const auto &[name, communicator] : communicators) {
      auto own = std::ranges::find_if(communicator,
                                      [&](const auto &group) { return std::ranges::count(group, world.rank()) > 0; });
      MESHPLAN_ASSIGN_OR_RETURN(auto group, world.createGroup(*own, name));
      MESHPLAN_RETURN_IF_ERROR(group->connectPairs());
      groups.push_back(std::move(group));
    }
    return Status();
  }

  /// Returns when the buffer has its elements.
  Status wait(size_t index) {
    if (Pending waited = std::move(pending[index]))
      return waited->wait();
    return Status();
  }

  Status start(const Call &call, Group &group) {
    MESHPLAN_ASSIGN_OR_RETURN(pending.back(), startCall(call, group));
    return Status();
  }

  Expected<Pending> startCall(const Call &call, Group &group) {
    Buffer &source = buffers[call.source], &target = buffers.back();
    const int32_t *input = source.data();
    int32_t *output = target.data();
    const CollectiveLabel label{.sequence = static_cast<int64_t>(buffers.size()) - 2, .origin = "random"};
    int64_t index = group.index(), size = group.size(), count = call.counts[0];
    switch (call.kind) {
    case CollectiveKind::allReduce:
      return group.startAllReduce(input, output, program.elements, DType::i32, call.reduction, label);
    case CollectiveKind::allGather:
      return group.startAllGather(input, output, call.counts, DType::i32, label);
    case CollectiveKind::reduceScatter:
      return group.startReduceScatter(input, output, call.counts, DType::i32, call.reduction, label);
    case CollectiveKind::allToAll: {
      std::vector<int64_t> sent(call.counts.begin() + index * size, call.counts.begin() + (index + 1) * size), received;
      for (int64_t from = 0; from < size; ++from)
        received.push_back(call.counts[from * size + index]);
      return group.startAllToAll(input, sent, output, received, DType::i32, label);
    }
    case CollectiveKind::permute:
      return group.startPermute(input, count, (index + call.root) % size, output, count,
                                (index + size - call.root) % size, DType::i32, label);
    case CollectiveKind::broadcast:
      target = source;
      return group.startBroadcast(output, count, DType::i32, call.root, label);
    case CollectiveKind::barrier:
      return group.startBarrier(label);
    default:
      break;
    }
    if (index == call.root)
      return group.startSend(input, count, DType::i32, call.peer, label);
    return index == call.peer ? group.startReceive(output, count, DType::i32, call.root, label)
                              : Expected<Pending>(Pending());
  }

  World &world;
  const Program &program;
  std::mt19937_64 random;
  std::vector<std::unique_ptr<Group>> groups;
  std::vector<Pending> pending; // one for each buffer; null: no wait is left
};

} // namespace

TEST(RandomPrograms, EndWithExactResults) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    Program program = randomProgram(seed);
    std::vector<std::deque<Buffer>> expected = expectedOf(program);
    expectOk(ranks, [&](World &world) -> Status {
      ProgramOfRank own(world, program, seed);
      MESHPLAN_RETURN_IF_ERROR(own.run());
      for (size_t i = 0; i < own.buffers.size(); ++i)
        EXPECT_TRUE(own.buffers[i] == expected[world.rank()][i])
            << "seed " << seed << ", rank " << world.rank() << ", buffer " << i;
      return Status();
    });
  }
}

} // namespace meshplan
