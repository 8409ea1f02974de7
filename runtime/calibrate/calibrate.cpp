//===- calibrate.cpp - a cluster file from measurements -------------------===//

#include "runtime/calibrate/calibrate.h"

#include "runtime/calibrate/collective_cases.h"
#include "runtime/calibrate/operator_cases.h"
#include "runtime/calibrate/write_cluster.h"
#include "runtime/comm/gather.h"
#include "runtime/tensor/device.h"

#include <map>
#include <nlohmann/json.hpp>

using namespace meshplan;
/// The machine of each rank, on all ranks.
static Expected<std::vector<std::string>> machinesOf(World &world, const std::string &own) {
  MESHPLAN_ASSIGN_OR_RETURN(std::vector<std::string> machines, gatherAtFirst(world, own));
  std::string text = nlohmann::json(machines).dump();
  MESHPLAN_RETURN_IF_ERROR(shareFromFirst(world, text, "the machines"));
  return nlohmann::json::parse(text).get<std::vector<std::string>>();
}

/// Ranks of each machine. The file describes equal nodes, filled in the order of the ranks.
static Expected<int64_t> ranksPerNode(const std::vector<std::string> &machines) {
  std::map<std::string, int64_t> counts;
  for (const std::string &machine : machines)
    ++counts[machine];
  int64_t ranks = counts.begin()->second;
  for (const auto &[machine, count] : counts)
    if (count != ranks)
      return Status::error(StatusCode::invalid, "machine '", machine, "' has ", count, " ranks and '",
                           counts.begin()->first, "' has ", ranks,
                           "; help: start the same number of ranks on each machine");
  for (size_t rank = 0; rank < machines.size(); ++rank)
    if (machines[rank] != machines[rank / ranks * ranks])
      return Status::error(StatusCode::invalid, "ranks ", rank / ranks * ranks, " and ", rank,
                           " are on different machines, and each machine has ", ranks,
                           " ranks; help: fill the machines in the order of the ranks");
  return ranks;
}

static void append(std::vector<Case> &cases, std::vector<Case> more) {
  for (Case &each : more)
    cases.push_back(std::move(each));
}

Expected<std::string> meshplan::calibrate(World &world, const CalibrationOptions &options) {
  MESHPLAN_ASSIGN_OR_RETURN(std::vector<std::string> machines, machinesOf(world, options.machine));
  MESHPLAN_ASSIGN_OR_RETURN(int64_t perNode, ranksPerNode(machines));
  std::vector<Case> cases;
  for (DType dtype : {DType::f32, DType::bf16}) {
    MESHPLAN_ASSIGN_OR_RETURN(std::vector<Case> operators, operatorCases(dtype));
    append(cases, std::move(operators));
  }
  MESHPLAN_ASSIGN_OR_RETURN(std::vector<Case> copies, copyCases());
  append(cases, std::move(copies));
  MESHPLAN_ASSIGN_OR_RETURN(std::vector<Case> collectives, collectiveCases(world, machines));
  append(cases, std::move(collectives));
  MESHPLAN_ASSIGN_OR_RETURN(std::vector<Measurement> measurements, measureCases(world, cases, options.seconds));
  MESHPLAN_ASSIGN_OR_RETURN(Slowdowns slowdowns, measureSlowdowns(world));
  if (world.rank() != 0)
    return std::string();
  MeasuredCluster cluster{options,          static_cast<int64_t>(machines.size()) / perNode,
                          perNode,          deviceOfThread().isHost(),
                          std::move(cases), std::move(measurements),
                          slowdowns};
  return clusterText(cluster);
}
