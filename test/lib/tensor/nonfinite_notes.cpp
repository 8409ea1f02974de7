//===- nonfinite_notes.cpp - notes that nobody makes ----------------------===//

#include "runtime/tensor/nonfinite_notes.h"

using namespace meshplan;

struct NonfiniteNotes::Calls {};

NonfiniteNotes::NonfiniteNotes() : outer(nullptr) {}

NonfiniteNotes::~NonfiniteNotes() = default;

std::vector<NonfiniteNote> NonfiniteNotes::read() const { return {}; }
