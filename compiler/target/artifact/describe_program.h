//===- describe_program.h - a program of an artifact as text ----*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TARGET_ARTIFACT_DESCRIBE_PROGRAM_H
#define MESHPLAN_COMPILER_TARGET_ARTIFACT_DESCRIBE_PROGRAM_H

#include "runtime/schema/schedule_generated.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

namespace meshplan {

/// Prints a program of a schedule whose bytes are well-formed. Indices that are out of range are printed as they are.
void describeProgram(const artifact::Schedule &schedule, const artifact::Program &program, llvm::raw_ostream &stream);

/// A string field; empty if it is absent.
inline llvm::StringRef textOf(const flatbuffers::String *text) {
  return text ? llvm::StringRef(text->data(), text->size()) : llvm::StringRef();
}

/// Calls `visit` on each element of a vector, which may be absent.
template <typename Vector, typename Visitor> void forEach(const Vector *vector, Visitor visit) {
  if (vector)
    for (flatbuffers::uoffset_t index = 0; index < vector->size(); ++index)
      visit(vector->Get(index));
}

using MeshAxes = flatbuffers::Vector<flatbuffers::Offset<artifact::Axis>>;
using AxisRefs = flatbuffers::Vector<const artifact::AxisRef *>;

/// "dp, tp:(1)2": names of axes; a sub-axis with its pre-size and size.
std::string describeAxes(const AxisRefs *axes, const MeshAxes *mesh);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TARGET_ARTIFACT_DESCRIBE_PROGRAM_H
