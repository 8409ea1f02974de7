//===- value_states.cpp - lifetimes of the values of a program ------------===//

#include "runtime/artifact/value_states.h"

#include "runtime/artifact/meaning.h"
#include "runtime/artifact/vector_range.h"

#include <algorithm>

namespace meshplan {

ValueStates::ValueStates(const artifact::Program &program, const DeferredInstructions &deferred)
    : program(program), deferred(deferred), states(program.values()->size(), State::undefined),
      readers(program.values()->size(), 0), isGiven(program.values()->size(), false),
      outlives(program.values()->size(), false), isNext(program.values()->size(), false),
      isMadeFirst(madeByFirst(program)) {
  for (const artifact::Update &update : elementsOf(program.updates()))
    isNext[update.value()] = isAccumulator(program, update.target());
}

Status ValueStates::define(int32_t value) {
  MESHPLAN_RETURN_IF_ERROR(verifyIndex("value", value, program.values()));
  if (states[value] != State::undefined)
    return corrupted("value ", value, " is defined twice");
  states[value] = State::live;
  return Status();
}

Status ValueStates::give(int32_t value) {
  MESHPLAN_RETURN_IF_ERROR(define(value));
  isGiven[value] = true;
  outlives[value] = !isAccumulator(program, value);
  return Status();
}

Status ValueStates::use(int32_t value) const {
  MESHPLAN_RETURN_IF_ERROR(verifyIndex("value", value, program.values()));
  switch (states[value]) {
  case State::live:
    return Status();
  case State::undefined:
    return corrupted("value ", value, " is used before it is defined");
  case State::arriving:
    return corrupted("value ", value, " is used before the wait that gives it");
  case State::overwritten:
    return corrupted("value ", value, " is used after it was overwritten");
  case State::freed:
    return corrupted("value ", value, " is used after it was freed");
  }
  return corrupted("value ", value, " has no state");
}

Status ValueStates::useTensor(int32_t value) const {
  MESHPLAN_RETURN_IF_ERROR(use(value));
  return isPacked(*program.values()->Get(value)) ? corrupted("value ", value, " is packed") : Status();
}

Status ValueStates::defineTensor(int32_t value) {
  MESHPLAN_RETURN_IF_ERROR(define(value));
  return isPacked(*program.values()->Get(value)) ? corrupted("value ", value, " is packed") : Status();
}

/// The next microbatch must find parameters, states and inputs as they were.
Status ValueStates::mayChange(int32_t value, bool isLastInstance) const {
  return !isLastInstance && outlives[value]
             ? corrupted("value ", value, " is overwritten, and is neither an accumulator nor a temporary")
             : Status();
}

Status ValueStates::overwrite(int32_t value, bool isLastInstance) {
  MESHPLAN_RETURN_IF_ERROR(use(value));
  MESHPLAN_RETURN_IF_ERROR(mayChange(value, isLastInstance));
  if (readers[value] > 0)
    return corrupted("value ", value, " is overwritten before the wait of what reads it");
  states[value] = State::overwritten;
  return Status();
}

Status ValueStates::overwriteTarget(int32_t value, bool isLastInstance) {
  if (readers[value] > 0)
    return corrupted("target ", value, " is overwritten before the wait of what reads it");
  MESHPLAN_RETURN_IF_ERROR(mayChange(value, isLastInstance));
  states[value] = State::overwritten;
  return Status();
}

Status ValueStates::free(int32_t value) {
  MESHPLAN_RETURN_IF_ERROR(verifyIndex("value", value, program.values()));
  if (states[value] != State::overwritten)
    MESHPLAN_RETURN_IF_ERROR(use(value));
  if (readers[value] > 0)
    return corrupted("value ", value, " is freed before the wait of what reads it");
  states[value] = State::freed;
  return Status();
}

void ValueStates::beginFollowing() {
  for (size_t value = 0; value < states.size(); ++value)
    if (!deferred.uses(value) && !isMadeFirst[value])
      states[value] = State::undefined;
}

Status ValueStates::endResumed(size_t first, size_t end) {
  for (size_t value = 0; value < states.size(); ++value)
    if (!isMadeFirst[value] && deferred.lastUse[value] >= static_cast<int64_t>(first) &&
        deferred.lastUse[value] < static_cast<int64_t>(end)) {
      bool isOver = isGiven[value] || isNext[value] || states[value] != State::live;
      if (!isOver)
        return corrupted("value ", value, " of the instance before is not freed");
      states[value] = isGiven[value] ? State::live : State::undefined;
    }
  return Status();
}

bool ValueStates::hasMadeFirst() const {
  return std::find(isMadeFirst.begin(), isMadeFirst.end(), true) != isMadeFirst.end();
}

} // namespace meshplan
