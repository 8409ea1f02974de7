//===- machine_report.cpp - the machines of the estimated times -----------===//

#include "compiler/report/report.h"

using namespace meshplan;

MachineReport meshplan::describeMachine(const Cluster &cluster) {
  return {cluster.name,  cluster.file,           cluster.isAssumed,      cluster.deviceKind, cluster.deviceName,
          cluster.nodes, cluster.devicesPerNode, cluster.ranksPerDevice, cluster.source};
}

std::string meshplan::timeBasis(const MachineReport &machine) {
  return machine.name.empty() ? "" : "on " + machine.name + (machine.isAssumed ? " (assumed)" : "");
}
