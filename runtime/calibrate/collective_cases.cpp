//===- collective_cases.cpp - collectives to measure ----------------------===//
//
// Each kind is measured for the group sizes that divide the world, in groups of neighbouring ranks, as a mesh has them.
// The bytes of a table are what a rank sends; how many elements a kind needs for them depends on the kind.
//
// Example: 1 MiB of an all-gather over 4 ranks: each rank sends its piece to 3 others, so pieces have 1/3 MiB.
//
//===----------------------------------------------------------------------===//

#include "runtime/calibrate/collective_cases.h"

#include "runtime/schema/cluster_keys.h"

#include <algorithm>
#include <numeric>

using namespace meshplan;

using Shape = std::vector<int64_t>;

static constexpr int64_t elementBytes = 4;

namespace {

/// One group of this rank, and buffers for its largest collective.
struct GroupBuffers {
  std::shared_ptr<Group> group;
  Tensor input, output;

  int64_t size() const { return group->size(); }
};

/// A kind of collective: what a rank sends for `piece` elements from each rank, and how it is started.
struct MeasuredKind {
  std::string_view name;
  double (*sentElements)(double piece, double ranks);
  Expected<Pending> (*start)(const GroupBuffers &, int64_t piece);
};

} // namespace

static Expected<Pending> startAllReduce(const GroupBuffers &on, int64_t piece) {
  return on.group->startAllReduce(on.input.data(), on.output.data(), piece * on.size(), DType::f32, Reduction::sum);
}

static Expected<Pending> startAllGather(const GroupBuffers &on, int64_t piece) {
  return on.group->startAllGather(on.input.data(), on.output.data(), piece, DType::f32);
}

static Expected<Pending> startReduceScatter(const GroupBuffers &on, int64_t piece) {
  return on.group->startReduceScatter(on.input.data(), on.output.data(), piece, DType::f32, Reduction::sum);
}

static Expected<Pending> startAllToAll(const GroupBuffers &on, int64_t piece) {
  Shape counts(on.size(), piece);
  return on.group->startAllToAll(on.input.data(), counts, on.output.data(), counts, DType::f32);
}

static Expected<Pending> startPermute(const GroupBuffers &on, int64_t piece) {
  int64_t ranks = on.size(), index = on.group->index();
  return on.group->startPermute(on.input.data(), piece, (index + 1) % ranks, on.output.data(), piece,
                                (index + ranks - 1) % ranks, DType::f32);
}

static const std::array<MeasuredKind, 5> measuredKinds = {{
    {"all_reduce", [](double piece, double ranks) { return 2 * (ranks - 1) * piece; }, startAllReduce},
    {"all_gather", [](double piece, double ranks) { return (ranks - 1) * piece; }, startAllGather},
    {"reduce_scatter", [](double piece, double ranks) { return (ranks - 1) * piece; }, startReduceScatter},
    {"all_to_all", [](double piece, double ranks) { return (ranks - 1) * piece; }, startAllToAll},
    {"permute", [](double piece, double) { return piece; }, startPermute},
}};

/// Bytes that a rank sends. A whole megabyte or more is bound by bandwidth, a kilobyte by latency.
static const std::array<int64_t, 5> measuredBytes = {int64_t(1) << 10, int64_t(1) << 14, int64_t(1) << 18,
                                                     int64_t(1) << 21, int64_t(1) << 24};

static Expected<Tensor> zeros(int64_t elements) {
  MESHPLAN_ASSIGN_OR_RETURN(Tensor tensor, allocateTensor(Shape{elements}, DType::f32));
  MESHPLAN_RETURN_IF_ERROR(fillZeros(tensor));
  return tensor;
}

static void addCases(std::vector<Case> &cases, const GroupBuffers &on, bool crosses) {
  auto ranks = static_cast<double>(on.size());
  for (const MeasuredKind &kind : measuredKinds)
    for (int64_t bytes : measuredBytes) {
      double perElement = kind.sentElements(elementBytes, ranks);
      int64_t piece = std::max<int64_t>(static_cast<int64_t>(static_cast<double>(bytes) / perElement), 1);
      CaseTable table{
          .kind = CaseTable::Kind::collective, .name = std::string(kind.name), .crosses = crosses, .ranks = on.size()};
      auto work = [on, piece, start = kind.start] { return waitFor(start(on, piece)); };
      cases.push_back({std::move(table), perElement * static_cast<double>(piece), {}, std::move(work)});
    }
}

Expected<std::vector<Case>> meshplan::collectiveCases(World &world, const std::vector<std::string> &machines) {
  std::vector<Case> cases;
  int64_t all = world.size();
  for (int64_t size = 2; size <= all; ++size) {
    if (all % size != 0)
      continue;
    bool crosses = false;
    for (int64_t rank = 0; rank < all; ++rank)
      crosses |= machines[rank] != machines[rank / size * size];
    Shape ranks(size);
    std::iota(ranks.begin(), ranks.end(), world.rank() / size * size);
    MESHPLAN_ASSIGN_OR_RETURN(auto group, world.createGroup(ranks, "groups of " + std::to_string(size)));
    // The largest buffers are those of an all-to-all and of a gather: the pieces of all ranks.
    int64_t elements = measuredBytes.back() / elementBytes * size / (size - 1) + size;
    MESHPLAN_ASSIGN_OR_RETURN(Tensor input, zeros(elements));
    MESHPLAN_ASSIGN_OR_RETURN(Tensor output, zeros(elements));
    addCases(cases, {std::move(group), input, output}, crosses);
  }
  return cases;
}

Expected<GatherOfAll> GatherOfAll::create(World &world, const std::string &name, int64_t bytes) {
  GatherOfAll gather;
  int64_t piece = std::max<int64_t>(bytes / elementBytes / std::max<int64_t>(world.size() - 1, 1), 1);
  MESHPLAN_ASSIGN_OR_RETURN(gather.group, world.createWorldGroup(name));
  MESHPLAN_ASSIGN_OR_RETURN(gather.input, zeros(piece));
  MESHPLAN_ASSIGN_OR_RETURN(gather.output, zeros(piece * world.size()));
  return gather;
}

Expected<Pending> GatherOfAll::start() {
  return group->startAllGather(input.data(), output.data(), input.elementCount(), DType::f32);
}
