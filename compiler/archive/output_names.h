//===- output_names.h - names of the leaves of an out-spec -------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_ARCHIVE_OUTPUT_NAMES_H
#define MESHPLAN_COMPILER_ARCHIVE_OUTPUT_NAMES_H

#include "compiler/archive/json_document.h"

namespace meshplan::archive {

/// Names of the leaves of a tree spec (torch.utils._pytree.treespec_dumps), in
/// order: keys of dicts and fields of registered classes as `loss`, positions in
/// tuples and lists as `0`, nested ones joined by a dot as `hidden_states.3`. A
/// single leaf is `0`.
std::vector<std::string> treeLeafNames(JsonDocument &treeSpec);

} // namespace meshplan::archive

#endif // MESHPLAN_COMPILER_ARCHIVE_OUTPUT_NAMES_H
