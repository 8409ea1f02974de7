//===- nonfinite_notes.cpp - no notes in the stand-in ---------------------===//

#include "runtime/tensor/nonfinite_notes.h"

using namespace meshplan;

struct NonfiniteNotes::Calls {};

NonfiniteNotes::NonfiniteNotes() : outer(nullptr) {}

NonfiniteNotes::~NonfiniteNotes() = default;

std::vector<NonfiniteNote> NonfiniteNotes::read() const { return {}; }
