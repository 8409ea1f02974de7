//===- defer.h - collectives in flight across instances ---------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_SCHEDULING_DEFER_H
#define MESHPLAN_COMPILER_SCHEDULING_DEFER_H

#include "compiler/scheduling/unroll.h"

namespace meshplan::scheduling {

/// Decides what each instance leaves to the next one, into `instances.deferred`.
///
/// At the end of a microbatch, its last reductions have nothing left to run beside. A collective can be deferred if in
/// instances before the last one only additions to accumulators follow from it: operations of the compute lane, whose
/// results no other operation of these instances reads. Those that are in flight when everything else of the instance
/// has run are deferred, with their wait, what follows from it, and the frees of what they use. They stand in the next
/// instance where the collective is over, as far as that is known from the times of one instance alone, but before
///
/// - a step that makes one of their temporaries for the next instance,
/// - a step that uses what they write, or writes what they use, and outlives an instance: an accumulator, a storage.
///
/// Nothing is deferred if that does not shorten the step, or if an instance would hold more than Problem::memoryLimit.
/// The lists of all instances together pass verify(). Fails if they do not, which is a defect of this function.
llvm::Error defer(Instances &instances);

} // namespace meshplan::scheduling

#endif // MESHPLAN_COMPILER_SCHEDULING_DEFER_H
