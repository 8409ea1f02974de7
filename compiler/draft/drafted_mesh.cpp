//===- drafted_mesh.cpp - the mesh of a foreign plan ----------------------===//
//
// A foreign plan states how many ranks share weights and batch, and the command line may state a mesh or a number of
// ranks. What both state must agree: the draft would otherwise train on another split than the plan that it translates.
//
//===----------------------------------------------------------------------===//

#include "compiler/draft/drafted_mesh.h"
#include "llvm/ADT/STLExtras.h"

using namespace meshplan;

static std::string numberOfRanks(int64_t ranks) { return std::to_string(ranks) + (ranks == 1 ? " rank" : " ranks"); }

/// Checks that a stated mesh has the sizes of the foreign plan.
static bool agrees(const std::optional<AdoptedNumber> &said, int64_t stated, const char *what,
                   Diagnostics &diagnostics) {
  // A default value does not contradict a stated mesh.
  if (!said || !said->range.hasLine() || said->value == stated)
    return true;
  diagnostics.error(said->range, "this splits " + std::string(what) + " over " + numberOfRanks(said->value) +
                                     ", and --mesh has " + std::to_string(stated));
  return false;
}

static bool agreesWithReplicas(const AdoptedMesh &adopted, const std::vector<DraftAxis> &stated,
                               Diagnostics &diagnostics) {
  if (!adopted.replicas || adopted.replicas->value == 1)
    return true;
  auto data = llvm::find_if(stated, [](const DraftAxis &axis) { return axis.role == AxisRole::data; });
  bool hasTwo = llvm::count_if(stated, [](const DraftAxis &axis) { return axis.role == AxisRole::data; }) == 2;
  if (hasTwo && data->size == adopted.replicas->value)
    return true;
  std::string groups = std::to_string(adopted.replicas->value);
  diagnostics
      .error(adopted.replicas->range,
             "this states " + groups + " groups that hold the same shards, and --mesh has no two axes for that")
      .help("--mesh dp=" + groups + ",fsdp=N has them");
  return false;
}

std::optional<std::vector<DraftAxis>> meshplan::draftMesh(const AdoptedMesh &adopted,
                                                          const std::vector<DraftAxis> &stated,
                                                          std::optional<int64_t> ranks, int32_t file,
                                                          Diagnostics &diagnostics) {
  if (!stated.empty()) {
    bool right = agrees(adopted.tensor, shardsOfRole(stated, AxisRole::tensor), "weights", diagnostics);
    right &= agrees(adopted.data, shardsOfRole(stated, AxisRole::data), "the batch", diagnostics);
    right &= agreesWithReplicas(adopted, stated, diagnostics);
    return right ? std::optional(stated) : std::nullopt;
  }
  int64_t tensor = adopted.tensor ? adopted.tensor->value : 1,
          replicas = adopted.replicas ? adopted.replicas->value : 1;
  if (!adopted.data && !ranks) {
    diagnostics.error({file}, "does not state how many ranks the batch is split over")
        .help("--ranks N states how many there are in all, --mesh dp=N,tp=M how they are arranged");
    return std::nullopt;
  }
  int64_t data = adopted.data ? adopted.data->value : *ranks / tensor;
  // Divided, because the product of two numbers of a foreign plan may overflow.
  if (ranks && (*ranks % tensor != 0 || *ranks / tensor != data)) {
    SourceRange location = adopted.data && adopted.data->range.hasLine() ? adopted.data->range
                           : adopted.tensor                              ? adopted.tensor->range
                                                                         : SourceRange{file};
    diagnostics.error(location.hasFile() ? location : SourceRange{file},
                      numberOfRanks(*ranks) + " of --ranks are not " + std::to_string(data) + " for the batch times " +
                          std::to_string(tensor) + " for weights");
    return std::nullopt;
  }
  if (data % replicas != 0) {
    diagnostics.error(adopted.replicas->range,
                      numberOfRanks(data) + " for the batch are not " + std::to_string(replicas) + " equal groups");
    return std::nullopt;
  }
  std::vector<DraftAxis> mesh;
  // The outer axis is that of the groups: ranks of one group are neighbours, and gathers of shards stay inside of it.
  if (replicas > 1)
    mesh.push_back({"dp", replicas, AxisRole::data});
  if (data / replicas > 1 || tensor == 1)
    mesh.push_back({replicas > 1 ? "fsdp" : "dp", data / replicas, AxisRole::data});
  if (tensor > 1)
    mesh.push_back({"tp", tensor, AxisRole::tensor});
  return mesh;
}
