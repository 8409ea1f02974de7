//===- machine.h - how long an operation takes ------------------*- C++ -*-===//
//
// A roofline: an operation takes as long as its arithmetic or its memory
// traffic, whichever is longer, at the rates of a data sheet. No kernel reaches
// all of these: times tell two programs apart, they do not foretell a run.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_SCHEDULING_MACHINE_H
#define MESHPLAN_COMPILER_SCHEDULING_MACHINE_H

#include "runtime/schema/extent.h"
#include <cstdint>
#include <span>

namespace meshplan::scheduling {

/// What the ranks run on, of one kind. Rates are per second and rank. As it is: nodes of eight NVIDIA H100 SXM with
/// NVLink 4 and a network adapter of 400 Gbit/s for each, behind PCIe 5.0 with 16 lanes, and two processors with eight
/// channels of DDR5-4800 (DGX H100 data sheet).
struct Machine {
  double narrowFlops = 989e12; ///< on operands of 16 bits
  double flops = 67e12;        ///< on others
  double memoryBytes = 3.35e12;
  double nodeBytes = 450e9;   ///< sent to ranks of the node
  double networkBytes = 50e9; ///< sent to ranks of other nodes
  int64_t ranksOfNode = 8;
  double transferBytes = 64e9;      ///< between the memories of device and host, in one direction
  double hostMemoryBytes = 77e9;    ///< of the host's memory, a rank's share
  double launchSeconds = 4e-6;      ///< of any kernel, at least
  double collectiveSeconds = 15e-6; ///< of any collective, before the first byte
};

/// Nanoseconds of an operator that does `flops` on operands of 16 bits (`isNarrow`) or more, and reads and writes
/// `bytes`. Nothing for one that does neither: a view.
int64_t computeTime(const Machine &machine, int64_t flops, int64_t bytes, bool isNarrow);

/// Nanoseconds of a copy of `bytes` from the memory of the device to that of the host, or back.
int64_t transferTime(const Machine &machine, int64_t bytes);

/// Nanoseconds of an operator on the host that reads and writes `bytes` there: none has more arithmetic than that.
int64_t hostTime(const Machine &machine, int64_t bytes);

/// Nanoseconds of a collective in which the busiest rank sends `bytes`. `span` as groupSpan says.
int64_t collectiveTime(const Machine &machine, int64_t bytes, int64_t span);

/// From the first to the last rank of a group over `axes`, both counted: a group that spans more ranks than a node has
/// leaves it. `meshSizes` are the sizes of all axes.
int64_t groupSpan(std::span<const AxisRef> axes, std::span<const int64_t> meshSizes);

} // namespace meshplan::scheduling

#endif // MESHPLAN_COMPILER_SCHEDULING_MACHINE_H
