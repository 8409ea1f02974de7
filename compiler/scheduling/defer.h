//===- defer.h - collectives in flight across instances ---------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_SCHEDULING_DEFER_H
#define MESHPLAN_COMPILER_SCHEDULING_DEFER_H

#include "compiler/scheduling/unroll.h"

namespace meshplan::scheduling {

/// Decides what each instance leaves to the next one, into `instances.deferred`.
///
/// At the end of a microbatch, its last reductions have nothing left to run beside. A collective can be deferred if in
/// instances before the last one no output follows from it, directly or through others, and only operations of the
/// compute lane, as a rule additions to accumulators, and further collectives that move on what collectives have given:
/// a gradient that is reduced over one axis after the other. Between two such collectives, operations read nothing but
/// what collectives have given. A collective that is blocking, overwrites a buffer or is between pipeline coordinates
/// cannot be deferred, and what it follows from cannot either. Those that are in flight when everything else of the
/// instance has run are deferred, with their wait, what follows from it, starts of further collectives too, and the
/// frees of what they use. They run in the next instance at the position where the collective is over, as far as that
/// is known from the times of one instance alone, but before
///
/// - a step that makes one of their temporaries for the next instance,
/// - a step that reads what they overwrite, or overwrites what they read, in a permanent buffer: an accumulator, a
///   storage.
///
/// Nothing is deferred if that does not shorten the step, if an instance would hold more than Problem::memoryLimit, or
/// if an instance overwrites a part of a permanent buffer. The lists of all instances together pass check() and
/// verify(). Fails if they do not, which is a defect of this function.
llvm::Error defer(Instances &instances);

} // namespace meshplan::scheduling

#endif // MESHPLAN_COMPILER_SCHEDULING_DEFER_H
