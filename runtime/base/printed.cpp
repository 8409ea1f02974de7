//===- printed.cpp - formatting like printf -------------------------------===//

#include "runtime/base/printed.h"

#include <cstdarg>
#include <cstdio>

namespace meshplan {

std::string printed(const char *format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return text;
}

} // namespace meshplan
