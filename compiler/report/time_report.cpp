//===- time_report.cpp - the estimated times of a step --------------------===//

#include "compiler/cluster/estimate.h"
#include "compiler/report/report.h"

using namespace meshplan;

MachineReport meshplan::describeMachine(const Cluster &cluster) {
  return {cluster.name,  cluster.file,           cluster.isAssumed,      cluster.deviceKind, cluster.deviceName,
          cluster.nodes, cluster.devicesPerNode, cluster.ranksPerDevice, cluster.source};
}

std::string meshplan::timeBasis(const MachineReport &machine) {
  return machine.name.empty() ? "" : "on " + machine.name + (machine.isAssumed ? " (assumed)" : "");
}

void meshplan::addTimes(Report &report, const StepTimes &step, const Cluster &cluster) {
  TimeReport &time = report.time;
  time.step = step.total;
  time.compute = step.compute;
  time.communication = step.communication;
  time.copies = step.copies;
  time.exposed = step.exposed;
  time.exposedCopies = step.exposedCopies;
  time.waitsForHost = step.waitsForHost;
  for (const ProgramRun &run : step.runs) {
    time.splittable += run.program->splittable;
    time.split += run.program->split;
  }
  for (const CollectiveGroup &group : step.groups)
    time.groups.push_back({group.purpose, group.communicator, group.count, group.exposed, group.hidden()});
  for (const auto &[dtype, flops] : step.modelFlops)
    time.modelFlops.push_back({dtype, flops, peakFlops(cluster, dtype)});
  time.utilization = utilization(step, cluster, report.worldSize);
}
