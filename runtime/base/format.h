//===- format.h - fmt::format, header-only ----------------------*- C++ -*-===//
//
// Files that include LibTorch's headers get the version of fmt in LibTorch's wheel, all others the system's version.
// Both can be in one program, because each version has an inline namespace of its own.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_BASE_FORMAT_H
#define MESHPLAN_RUNTIME_BASE_FORMAT_H

#define FMT_HEADER_ONLY
#include <fmt/format.h>

#endif // MESHPLAN_RUNTIME_BASE_FORMAT_H
