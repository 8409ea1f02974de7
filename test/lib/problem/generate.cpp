//===- generate.cpp - problems of a kind ------------------------------------===//

#include "test/lib/problem/generate.h"
#include "compiler/scheduling/algorithms.h"
#include "compiler/scheduling/memory_profile.h"
#include "test/unit/scheduling/random_problem.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"
#include <algorithm>
#include <numeric>
#include <random>

using namespace meshplan::scheduling;

Problem meshplan::scheduling::randomOverlap(unsigned seed) {
  std::mt19937 random(seed);
  auto below = [&](unsigned end) { return static_cast<unsigned>(random() % end); };
  Problem problem;
  problem.lanes = {
      {"compute"}, {"tp", LaneKind::collectives}, {"dp", LaneKind::collectives}, {"copies", LaneKind::copies}};
  problem.links = {{"node", 1'000'000'000}, {"network", 1'000'000'000}, {"bus", 1'000'000'000}};
  problem.communicators = {{"tp", {{1, 1, 4}}}, {"dp", {{0, 1, 2}}}};
  problem.buffers = {{"w", {1}, /*permanent=*/true}};
  unsigned dpLink = below(2); // on the same wire as tp, or not
  std::vector<unsigned> unread;
  unsigned count = 8 + below(5);
  for (unsigned index = 0; index < count; ++index) {
    Operation operation;
    operation.name = "o" + std::to_string(index);
    // Each lane occurs; after that half of the operations compute.
    operation.lane = index < 3 ? index : below(2) ? 0 : 1 + below(3);
    if (operation.lane == 0) {
      operation.duration = 1000 * (1 + below(20));
    } else {
      operation.latency = 1000 * below(4);
      operation.transfers = {{operation.lane == 1 ? 0 : operation.lane == 2 ? dpLink : 2, 1000 * (1 + below(20))}};
      if (operation.lane < 3)
        operation.communicator = operation.lane - 1;
    }
    for (unsigned read = 0, reads = below(3); read < reads; ++read) {
      unsigned buffer = below(problem.buffers.size());
      operation.consumed.push_back(buffer);
      std::erase(unread, buffer);
    }
    operation.produced.push_back(problem.buffers.size());
    unread.push_back(problem.buffers.size());
    problem.buffers.push_back({"b" + std::to_string(index), {1 + below(operation.lane == 0 ? 8 : 16)}});
    problem.operations.push_back(operation);
  }
  for (unsigned buffer : unread)
    if (below(2))
      problem.buffers[buffer].kept = true;
  return problem;
}

Problem meshplan::scheduling::randomAnswerable(unsigned seed) {
  Problem problem = seed % 2 ? randomOverlap(seed) : randomProblem(seed);
  if (seed % 3 == 0)
    problem = withSplittables(std::move(problem), seed);
  problem.issueTime = seed % 7 == 0 ? 5 : 0;
  problem.hostComputes = seed % 3 == 0;
  if (seed % 4 < 2) {
    // One after the other, in the order of the problem, fits.
    Problem blocking = problem;
    blocking.splittables.clear();
    for (Operation &operation : blocking.operations)
      operation.blocking = true;
    problem.memoryLimit = {profileMemory(problem, llvm::cantFail(programOrder(blocking))).peaks[0].bytes};
  }
  return problem;
}

void meshplan::scheduling::resizeMesh(Problem &problem, int64_t outer, int64_t inner) {
  for (Communicator &communicator : problem.communicators) {
    llvm::SmallVector<AxisRef, 2> axes;
    for (AxisRef axis : communicator.axes)
      if (axis.axis == 0 && outer > 1)
        axes.push_back({0, 1, outer});
      else if (axis.axis == 1)
        axes.push_back(inner == 4 ? axis : AxisRef{1, 1, inner});
    if (axes.empty()) // it was over the outer axis, which has one rank
      axes.push_back({1, 1, inner});
    communicator.axes = std::move(axes);
  }
}

namespace {
/// Weaves instances into the problem of one coordinate.
class Weaver {
public:
  Weaver(unsigned seed, unsigned coordinate, unsigned coordinates)
      : random(seed * 16 + coordinate), own(coordinate), problem(randomOverlap(seed * 4 + coordinate)) {
    resizeMesh(problem, 1, 2);
    rest = std::move(problem.operations);
    problem.operations.clear();
    std::reverse(rest.begin(), rest.end());
    problem.lanes.push_back({"pp", LaneKind::collectives});
    problem.communicators.push_back({"pp", {{0, 1, coordinates}}});
  }

  void add(const std::string &name, llvm::ArrayRef<unsigned> participants) {
    Instance instance{name, {}};
    for (unsigned other : participants)
      if (other != own)
        instance.others.push_back(other);
    if (last && below(4) == 0) {
      problem.operations[*last].instances.push_back(std::move(instance));
      return;
    }
    for (unsigned count = below(5); count > 0 && !rest.empty(); --count)
      addOwn();
    Operation operation;
    operation.name = name;
    operation.lane = problem.lanes.size() - 1;
    operation.communicator = problem.communicators.size() - 1;
    operation.latency = 1000 * below(4);
    operation.transfers = {{1, 1000 * (1 + below(20))}};
    operation.consumed = {known[below(known.size())]};
    operation.produced = {static_cast<unsigned>(problem.buffers.size())};
    known.push_back(problem.buffers.size());
    problem.buffers.push_back({"of_" + name, {1 + below(16)}, /*permanent=*/false, /*kept=*/below(2) == 0});
    if (last && below(2))
      operation.after = {*last};
    operation.instances = {std::move(instance)};
    last = problem.operations.size();
    problem.operations.push_back(std::move(operation));
  }

  Problem finish() {
    while (!rest.empty())
      addOwn();
    return std::move(problem);
  }

private:
  unsigned below(size_t end) { return static_cast<unsigned>(random() % end); }

  void addOwn() {
    llvm::append_range(known, rest.back().produced);
    problem.operations.push_back(std::move(rest.back()));
    rest.pop_back();
  }

  std::mt19937 random;
  unsigned own;
  Problem problem;
  std::vector<Operation> rest;       // of the problem without instances; the last is the next one
  std::vector<unsigned> known = {0}; // buffers that the next operation may read; the first is permanent
  std::optional<unsigned> last;      // operation with instances
};
} // namespace

std::vector<Coordinate> meshplan::scheduling::randomCoordinates(unsigned seed) {
  std::mt19937 random(seed);
  auto below = [&](unsigned end) { return static_cast<unsigned>(random() % end); };
  unsigned count = 2 + below(3);
  std::vector<Weaver> weavers;
  for (unsigned coordinate = 0; coordinate < count; ++coordinate)
    weavers.emplace_back(seed, coordinate, count);
  for (unsigned index = 0, instances = 2 + below(5); index < instances; ++index) {
    std::vector<unsigned> participants(count);
    std::iota(participants.begin(), participants.end(), 0);
    unsigned size = below(4) == 0 ? count : 2;
    while (participants.size() > size)
      participants.erase(participants.begin() + below(participants.size()));
    for (unsigned coordinate : participants)
      weavers[coordinate].add("m" + std::to_string(index), participants);
  }
  std::vector<Coordinate> coordinates;
  for (auto [index, weaver] : llvm::enumerate(weavers))
    coordinates.push_back({"c" + std::to_string(index), weaver.finish(), {}});
  return coordinates;
}

namespace {
/// Adds operations that each produce one buffer.
class StepBuilder {
public:
  StepBuilder() {
    problem.lanes = {{"compute"}, {"tp", LaneKind::collectives}, {"dp", LaneKind::collectives}};
    problem.links = {{"node", 450'000'000'000}, {"network", 50'000'000'000}};
    problem.communicators = {{"tp", {{1, 1, 8}}}, {"dp", {{0, 1, 8}}}};
  }

  unsigned permanent(const llvm::Twine &name, int64_t bytes) {
    problem.buffers.push_back({name.str(), {bytes}, /*permanent=*/true});
    return problem.buffers.size() - 1;
  }

  unsigned compute(const llvm::Twine &name, int64_t duration, std::initializer_list<unsigned> reads, int64_t bytes) {
    Operation operation;
    operation.duration = duration;
    return add(operation, name, reads, bytes);
  }

  unsigned collective(const llvm::Twine &name, unsigned communicator, int64_t sent, unsigned read, int64_t bytes) {
    Operation operation;
    operation.lane = 1 + communicator;
    operation.communicator = communicator;
    operation.latency = 15'000;
    operation.transfers = {{communicator, sent}};
    return add(operation, name, {read}, bytes);
  }

  Problem problem;

private:
  unsigned add(Operation &operation, const llvm::Twine &name, std::initializer_list<unsigned> reads, int64_t bytes) {
    operation.name = name.str();
    operation.consumed.append(reads);
    operation.produced.push_back(problem.buffers.size());
    problem.buffers.push_back({operation.name, {bytes}});
    problem.operations.push_back(operation);
    return operation.produced.front();
  }
};
} // namespace

static constexpr int64_t megabyte = 1'000'000, microsecond = 1000;

Problem meshplan::scheduling::trainingStep(unsigned layers) {
  StepBuilder builder;
  // What a layer keeps for the backward pass: inputs of norm, attention, projection and the two products of the mlp.
  struct Saved {
    unsigned weights[2], norm, qkv, attention, hidden, gate, act;
  };
  std::vector<Saved> saved;
  unsigned x = builder.permanent("x", 64 * megabyte);
  auto name = [](const char *what, unsigned layer) { return (llvm::Twine(what) + "." + llvm::Twine(layer)).str(); };
  for (unsigned layer = 0; layer < layers; ++layer) {
    auto run = [&](const char *what, int64_t time, std::initializer_list<unsigned> reads, int64_t bytes) {
      return builder.compute(name(what, layer), time * microsecond, reads, bytes * megabyte);
    };
    Saved own;
    own.weights[0] = builder.permanent(name("attention.weight", layer), 4 * megabyte);
    own.weights[1] = builder.permanent(name("mlp.weight", layer), 8 * megabyte);
    unsigned first =
        builder.collective(name("gather.attention", layer), 1, 28 * megabyte, own.weights[0], 32 * megabyte);
    unsigned second = builder.collective(name("gather.mlp", layer), 1, 56 * megabyte, own.weights[1], 64 * megabyte);
    own.norm = run("norm.1", 40, {x}, 64);
    unsigned q = run("q", 150, {own.norm, first}, 8), k = run("k", 50, {own.norm, first}, 2);
    own.qkv = run("rotary", 20, {q, k}, 10);
    unsigned v = run("v", 50, {own.norm, first}, 2);
    own.attention = run("attention", 300, {own.qkv, v}, 8);
    unsigned out = run("out", 150, {own.attention, first}, 64);
    unsigned sum = builder.collective(name("reduce.attention", layer), 0, 112 * megabyte, out, 64 * megabyte);
    own.hidden = run("add.1", 40, {x, sum}, 64);
    unsigned norm = run("norm.2", 40, {own.hidden}, 64);
    own.gate = run("gate", 500, {norm, second}, 28);
    unsigned up = run("up", 500, {norm, second}, 28);
    own.act = run("silu", 30, {own.gate, up}, 28);
    unsigned down = run("down", 500, {own.act, second}, 64);
    unsigned reduced = builder.collective(name("reduce.mlp", layer), 0, 112 * megabyte, down, 64 * megabyte);
    x = run("add.2", 40, {own.hidden, reduced}, 64);
    saved.push_back(own);
  }
  unsigned g = builder.compute("loss", 100 * microsecond, {x}, 64 * megabyte);
  for (unsigned layer = layers; layer-- > 0;) {
    auto run = [&](const char *what, int64_t time, std::initializer_list<unsigned> reads, int64_t bytes) {
      return builder.compute(name(what, layer), time * microsecond, reads, bytes * megabyte);
    };
    const Saved &own = saved[layer];
    unsigned second = builder.collective(name("regather.mlp", layer), 1, 56 * megabyte, own.weights[1], 64 * megabyte);
    unsigned first =
        builder.collective(name("regather.attention", layer), 1, 28 * megabyte, own.weights[0], 32 * megabyte);
    unsigned actGradient = run("down.input", 500, {g, second}, 28);
    unsigned downGradient = run("down.weight", 500, {g, own.act}, 32);
    unsigned gateGradient = run("silu.input", 60, {actGradient, own.gate}, 28);
    unsigned mlpInput = run("gate_up.input", 1000, {gateGradient, second}, 64);
    unsigned mlpSum = builder.collective(name("reduce.mlp.input", layer), 0, 112 * megabyte, mlpInput, 64 * megabyte);
    unsigned gateUp = run("gate_up.weight", 1000, {gateGradient, own.hidden}, 32);
    unsigned packed = run("pack.mlp", 20, {downGradient, gateUp}, 64);
    unsigned mlpShard = builder.collective(name("scatter.mlp", layer), 1, 56 * megabyte, packed, 8 * megabyte);
    unsigned hiddenGradient = run("norm.2.input", 60, {mlpSum, own.hidden, g}, 64);
    unsigned outInput = run("out.input", 150, {hiddenGradient, first}, 8);
    unsigned outWeight = run("out.weight", 150, {hiddenGradient, own.attention}, 8);
    unsigned attentionInput = run("attention.input", 700, {outInput, own.qkv, own.attention}, 12);
    unsigned qkvInput = run("qkv.input", 250, {attentionInput, first}, 64);
    unsigned sum =
        builder.collective(name("reduce.attention.input", layer), 0, 112 * megabyte, qkvInput, 64 * megabyte);
    unsigned qkvWeight = run("qkv.weight", 250, {attentionInput, own.norm}, 16);
    unsigned packedAttention = run("pack.attention", 10, {outWeight, qkvWeight}, 32);
    unsigned shard =
        builder.collective(name("scatter.attention", layer), 1, 28 * megabyte, packedAttention, 4 * megabyte);
    g = run("norm.1.input", 60, {sum, own.norm, hiddenGradient}, 64);
    run("step.attention", 10, {shard}, 4);
    run("step.mlp", 20, {mlpShard}, 8);
  }
  return std::move(builder.problem);
}
