//===- machine.h - how long an operation takes ------------------*- C++ -*-===//
//
// A roofline: an operation takes as long as its arithmetic or its memory traffic, whichever is longer, at the rates of
// a data sheet. No kernel reaches these rates: the times compare two programs, they do not predict a run.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_SCHEDULING_MACHINE_H
#define MESHPLAN_COMPILER_SCHEDULING_MACHINE_H

#include "runtime/schema/extent.h"
#include <cstdint>
#include <span>

namespace meshplan::scheduling {

/// The machine that estimates are made for. All ranks are of one kind; rates are per second and rank. The defaults are
/// nodes of eight NVIDIA H100 SXM with NVLink 4, one 400 Gbit/s network adapter for each GPU on 16 lanes of PCIe 5.0,
/// and two processors with eight channels of DDR5-4800 (DGX H100 data sheet).
struct Machine {
  double narrowFlops = 989e12; ///< with 16-bit operands
  double flops = 67e12;        ///< with wider operands
  double memoryBytes = 3.35e12;
  double nodeBytes = 450e9;   ///< to ranks of the same node
  double networkBytes = 50e9; ///< to ranks of other nodes
  int64_t ranksOfNode = 8;
  double transferBytes = 64e9;      ///< between device and host memory, in one direction
  double hostMemoryBytes = 77e9;    ///< a rank's share of the host's memory bandwidth
  double launchSeconds = 4e-6;      ///< minimum for any kernel
  double collectiveSeconds = 15e-6; ///< latency of any collective, before the first byte
};

/// Nanoseconds of an operator that does `flops` floating-point operations, on 16-bit operands if `isNarrow`, and reads
/// and writes `bytes`. Zero for one that does neither: a view.
int64_t computeTime(const Machine &machine, int64_t flops, int64_t bytes, bool isNarrow);

/// Nanoseconds of a copy of `bytes` from device memory to host memory, or back.
int64_t transferTime(const Machine &machine, int64_t bytes);

/// Nanoseconds of an operator on the host that reads and writes `bytes` there. Host operators (the optimizer) are bound
/// by memory traffic, so arithmetic is not counted.
int64_t hostTime(const Machine &machine, int64_t bytes);

/// Nanoseconds of a collective in which a rank sends `bytes`. `span` is that of groupSpan.
int64_t collectiveTime(const Machine &machine, double bytes, int64_t span);

/// Number of ranks from the first to the last rank of a group over `axes`, both included. A group that spans more ranks
/// than a node has crosses nodes. `meshSizes` are the sizes of all axes.
int64_t groupSpan(std::span<const AxisRef> axes, std::span<const int64_t> meshSizes);

} // namespace meshplan::scheduling

#endif // MESHPLAN_COMPILER_SCHEDULING_MACHINE_H
