//===- names.h - lists and names in messages --------------------*- C++ -*-===//
//
// Small helpers for messages: lists, and the nearest of the names that exist.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_BASE_NAMES_H
#define MESHPLAN_RUNTIME_BASE_NAMES_H

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace meshplan {

/// "rank 3" or "ranks 1, 4, 5".
std::string rankList(std::span<const int64_t> ranks);

/// "[2, 3, 4]".
std::string shapeText(std::span<const int64_t> shape);

/// "a, b and 2 more": lists at most `most` of the texts.
std::string listOfFew(std::span<const std::string> texts, size_t most = 8);

/// "'a', 'b', 'c', 'd' and 2 more": the choices, for a user whose name resembles none of them.
std::string nameList(std::span<const std::string> names);

/// The candidates nearest to `name`, at most `limit`, fewest edits first. Candidates that share less than half of the
/// letters are left out.
std::vector<std::string> nearestNames(std::string_view name, std::span<const std::string> candidates, size_t limit = 3);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_BASE_NAMES_H
