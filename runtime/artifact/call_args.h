//===- call_args.h - the arguments of a call by name ------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_ARTIFACT_CALL_ARGS_H
#define MESHPLAN_RUNTIME_ARTIFACT_CALL_ARGS_H

#include "runtime/artifact/artifact.h"

#include <string_view>

namespace meshplan {

/// The argument with this name; null if the call has none.
inline const artifact::Arg *findArg(const artifact::Compute &call, std::string_view name) {
  for (const artifact::Arg *arg : *call.args())
    if (arg->name() && arg->name()->string_view() == name)
      return arg;
  return nullptr;
}

/// The value passed under this name, as an index into Program.values; -1 if there is none.
inline int valueArg(const artifact::Compute &call, std::string_view name) {
  const artifact::Arg *arg = findArg(call, name);
  return arg && arg->kind() == artifact::ArgKind::value ? arg->values()->Get(0) : -1;
}

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_ARTIFACT_CALL_ARGS_H
