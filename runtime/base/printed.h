//===- printed.h - formatting like printf -----------------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_BASE_PRINTED_H
#define MESHPLAN_RUNTIME_BASE_PRINTED_H

#include <string>

namespace meshplan {

/// Formats like printf; cut after 511 characters.
[[gnu::format(printf, 1, 2)]] std::string printed(const char *format, ...);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_BASE_PRINTED_H
