//===- value_states.h - lifetimes of the values of a program ----*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_ARTIFACT_VALUE_STATES_H
#define MESHPLAN_RUNTIME_ARTIFACT_VALUE_STATES_H

#include "runtime/artifact/deferred.h"
#include "runtime/base/status.h"

namespace meshplan {

/// The state of every value, while the instructions of instances are walked in order.
///
///   undefined --define--> live --overwrite--> overwritten
///   undefined --start---> arriving --wait--> live
///   live, overwritten --free--> freed
///
/// Only a live value may be used. While a collective or a copy in flight reads a value, it may be used but neither
/// overwritten nor freed. A forbidden transition is `corrupted`. Values are indices into Program.values; those that are
/// not checked by verifyIndex here must exist.
class ValueStates {
public:
  /// Both must outlive this. The indices of updates have been checked.
  ValueStates(const artifact::Program &program, const DeferredInstructions &deferred);

  Status define(int32_t value);
  /// Defines a value that exists before the first instruction.
  Status give(int32_t value);
  Status use(int32_t value) const;
  /// As `use` and `define`, for a value that must not be packed.
  Status useTensor(int32_t value) const;
  Status defineTensor(int32_t value);

  /// In other instances than the last, only accumulators and temporaries may be overwritten.
  Status overwrite(int32_t value, bool isLastInstance);
  /// The same for the target of a collective, whose use has been checked.
  Status overwriteTarget(int32_t value, bool isLastInstance);
  /// Allowed for an overwritten value, too: its memory belongs to its new value, so this frees nothing.
  Status free(int32_t value);

  /// A collective or a copy begins and ends to give the value. Not live before the wait, although the tensor exists:
  /// its elements arrive at any time until then.
  void beginArrival(int32_t value) { states[value] = State::arriving; }
  void endArrival(int32_t value) { states[value] = State::live; }
  /// A collective or a copy begins and ends to read the value; several may at the same time.
  void beginRead(int32_t value) { ++readers[value]; }
  void endRead(int32_t value) { --readers[value]; }

  /// `view` has the memory of `value`.
  void setView(int32_t view, int32_t value) { outlives[view] = outlives[value]; }

  /// The values of the instance before are over, except those that its deferred instructions use, and what the first
  /// instance has made.
  void beginFollowing();
  /// The deferred instructions from `first` to before `end` have run: this instance may make the values again that no
  /// other of them uses.
  Status endResumed(size_t first, size_t end);

  /// True if an instruction has produced the value.
  bool isMade(int32_t value) const { return states[value] != State::undefined && !isGiven[value]; }
  bool isOverwritten(int32_t value) const { return states[value] == State::overwritten; }
  /// True if a value that an instruction of the first instance makes is there for the others.
  bool hasMadeFirst() const;

private:
  enum class State : uint8_t { undefined, live, arriving, overwritten, freed };

  Status mayChange(int32_t value, bool isLastInstance) const;

  const artifact::Program &program;
  const DeferredInstructions &deferred;
  std::vector<State> states;
  std::vector<int32_t> readers;  // collectives and copies in flight that read the value
  std::vector<bool> isGiven;     // no instruction produces the value
  std::vector<bool> outlives;    // given and no accumulator, or a view of such a value
  std::vector<bool> isNext;      // the next value of an accumulator
  std::vector<bool> isMadeFirst; // by an instruction of the first instance
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_ARTIFACT_VALUE_STATES_H
