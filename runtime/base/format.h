//===- format.h - fmt::format, of which nothing is linked --------*- C++ -*-===//
//
// What includes LibTorch's headers finds the fmt of its wheel here, all else
// Debian's; each version has a namespace of its own.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_BASE_FORMAT_H
#define MESHPLAN_RUNTIME_BASE_FORMAT_H

#define FMT_HEADER_ONLY
#include <fmt/format.h>

#endif // MESHPLAN_RUNTIME_BASE_FORMAT_H
