//===- mesh.cpp - the axes of a plan and the names of their digits ---------===//

#include "compiler/frontend/mesh.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <utility>

using namespace meshplan;

int64_t Mesh::worldSize() const {
  int64_t product = 1;
  for (const MeshAxis &axis : axes)
    product *= axis.size;
  return product;
}

std::optional<size_t> Mesh::find(llvm::StringRef name) const {
  for (size_t number = 0; number < axes.size() + folded.size(); ++number)
    if (nameOf(number) == name)
      return number;
  return std::nullopt;
}

std::vector<std::string> Mesh::names() const {
  std::vector<std::string> result;
  for (size_t number = 0; number < axes.size() + folded.size(); ++number)
    result.push_back(nameOf(number));
  return result;
}

const std::string &Mesh::nameOf(size_t number) const {
  return number < axes.size() ? axes[number].name : folded[number - axes.size()].name;
}

int64_t Mesh::sizeOf(size_t number) const {
  return number < axes.size() ? axes[number].size : folded[number - axes.size()].size;
}

int64_t Mesh::shardsOf(llvm::ArrayRef<size_t> numbers) const {
  int64_t shards = 1;
  for (size_t number : numbers)
    shards *= sizeOf(number);
  return shards;
}

/// Adds a digit to a list, major to minor.
static void append(std::vector<AxisRef> &digits, const AxisRef &next) {
  if (!digits.empty() && digits.back().axis == next.axis && digits.back().pre * digits.back().size == next.pre)
    digits.back().size *= next.size;
  else
    digits.push_back(next);
}

std::vector<AxisRef> Mesh::digitsOf(llvm::ArrayRef<size_t> numbers) const {
  std::vector<AxisRef> result;
  for (size_t number : numbers)
    if (number < axes.size())
      append(result, {static_cast<int64_t>(number), 1, axes[number].size});
    else
      for (const AxisRef &digit : folded[number - axes.size()].digits)
        append(result, digit);
  return result;
}

bool meshplan::overlap(const AxisRef &left, const AxisRef &right) {
  // An axis of size 1 has no digits, and is itself all the same.
  return left == right ||
         (left.axis == right.axis && left.pre < right.pre * right.size && right.pre < left.pre * left.size);
}

std::vector<AxisRef> meshplan::unionOf(llvm::ArrayRef<AxisRef> digits) {
  std::vector<AxisRef> sorted(digits.begin(), digits.end()), result;
  llvm::sort(sorted, [](const AxisRef &left, const AxisRef &right) {
    return std::pair(left.axis, left.pre) < std::pair(right.axis, right.pre);
  });
  for (const AxisRef &next : sorted) {
    int64_t end = next.pre * next.size;
    if (result.empty() || result.back().axis != next.axis || result.back().pre * result.back().size < next.pre)
      result.push_back(next);
    else
      result.back().size = std::max(result.back().size, end / result.back().pre);
  }
  return result;
}

std::vector<AxisRef> meshplan::without(llvm::ArrayRef<AxisRef> of, llvm::ArrayRef<AxisRef> digits) {
  std::vector<AxisRef> result, removed = unionOf(digits);
  for (const AxisRef &whole : of) {
    // What is left begins where the last removed digit has ended.
    int64_t begin = whole.pre, end = whole.pre * whole.size;
    bool isCut = false;
    for (const AxisRef &digit : removed) {
      if (!overlap(digit, whole))
        continue;
      isCut = true;
      if (digit.pre > begin)
        append(result, {whole.axis, begin, digit.pre / begin});
      begin = std::min(end, digit.pre * digit.size);
    }
    if (begin < end || !isCut)
      append(result, {whole.axis, begin, end / begin});
  }
  return result;
}
