//===- machine.cpp - how long an operation takes --------------------------===//

#include "compiler/scheduling/machine.h"

#include <algorithm>
#include <cmath>

using namespace meshplan;
using scheduling::Machine;

static int64_t nanoseconds(double seconds) { return std::llround(seconds * 1e9); }

int64_t scheduling::computeTime(const Machine &machine, int64_t flops, int64_t bytes, bool isNarrow) {
  if (flops == 0 && bytes == 0)
    return 0;
  double arithmetic = static_cast<double>(flops) / (isNarrow ? machine.narrowFlops : machine.flops);
  double traffic = static_cast<double>(bytes) / machine.memoryBytes;
  // Arithmetic, memory traffic and the launch overlap, so the longest of them counts (the roofline model).
  return nanoseconds(std::max({arithmetic, traffic, machine.launchSeconds}));
}

int64_t scheduling::transferTime(const Machine &machine, int64_t bytes) {
  return nanoseconds(std::max(static_cast<double>(bytes) / machine.transferBytes, machine.launchSeconds));
}

int64_t scheduling::hostTime(const Machine &machine, int64_t bytes) {
  return nanoseconds(static_cast<double>(bytes) / machine.hostMemoryBytes);
}

int64_t scheduling::collectiveTime(const Machine &machine, double bytes, int64_t span) {
  // Ranks are numbered node by node. A group that spans more of them than a node has must use the network, and its
  // slowest link sets the pace.
  double rate = span > machine.ranksOfNode ? machine.networkBytes : machine.nodeBytes;
  return nanoseconds(machine.collectiveSeconds + bytes / rate);
}

int64_t scheduling::groupSpan(std::span<const AxisRef> axes, std::span<const int64_t> meshSizes) {
  int64_t last = 0;
  for (const AxisRef &axis : axes) {
    int64_t stride = meshSizes[axis.axis] / (axis.pre * axis.size);
    for (size_t inner = axis.axis + 1; inner < meshSizes.size(); ++inner)
      stride *= meshSizes[inner];
    // Ranks are row-major in the mesh: the stride of an axis is the product of the sizes of the axes and digits below
    // it. On dp = 2, tp = 3 a group over tp spans 3 ranks, one over dp spans 4 (0 and 3).
    last += (axis.size - 1) * stride;
  }
  return last + 1;
}
