//===- dim_digits.cpp - dims through views and permutations ---------------===//

#include "compiler/indexing/dim_digits.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace meshplan::indexing;

DimDigits::DimDigits(ArrayRef<int64_t> shape) {
  Stage first;
  for (int64_t extent : shape) {
    Digits &digits = first.emplace_back();
    // Digits of one value would make equal tensors differ.
    if (extent == 1)
      continue;
    digits.push_back(sizes.size());
    sizes.push_back(extent);
  }
  stages.push_back(std::move(first));
}

void DimDigits::split(unsigned digit, int64_t low) {
  unsigned added = sizes.size();
  sizes.push_back(low);
  sizes[digit] /= low;
  // Earlier stages get both digits too, so that digits mean the same in all stages.
  for (Stage &stage : stages)
    for (Digits &digits : stage)
      if (auto *at = llvm::find(digits, digit); at != digits.end())
        digits.insert(at + 1, added);
}

bool DimDigits::view(ArrayRef<int64_t> shape) {
  Digits flat;
  for (const Digits &digits : stages.back())
    flat.append(digits);
  Stage made(shape.size());
  // From the last dim on: only where a dim begins may a digit have to be split.
  for (size_t dim = shape.size(); dim-- > 0;)
    for (int64_t left = shape[dim]; left != 1;) {
      // For example, [4, 24] viewed as [4, 6, 4]: the last dim takes 4 of the digit 24, which splits into 6 and 4; then
      // 6 fits, and the first dim is the digit 4.
      unsigned digit = flat.back();
      // The dim begins inside this digit. It must divide the digit, which is then split.
      if (left % sizes[digit] != 0) {
        if (sizes[digit] % left != 0)
          return false;
        split(digit, left);
        digit = sizes.size() - 1;
        flat.push_back(digit);
      }
      flat.pop_back();
      made[dim].insert(made[dim].begin(), digit);
      left /= sizes[digit];
    }
  stages.push_back(std::move(made));
  return true;
}

void DimDigits::permute(ArrayRef<int64_t> order) {
  Stage made;
  for (int64_t from : order)
    made.push_back(stages.back()[from]);
  stages.push_back(std::move(made));
}

/// The dim of each digit.
template <typename Stage> static SmallVector<size_t> dimsOf(const Stage &stage, size_t count) {
  SmallVector<size_t> dims(count);
  for (auto [dim, digits] : llvm::enumerate(stage))
    for (unsigned digit : digits)
      dims[digit] = dim;
  return dims;
}

bool DimDigits::mergesOnTheWay() const {
  SmallVector<size_t> first = dimsOf(stages.front(), sizes.size()), last = dimsOf(stages.back(), sizes.size());
  for (const Stage &stage : stages)
    for (const Digits &digits : stage)
      for (size_t position = 1; position < digits.size(); ++position) {
        unsigned left = digits[position - 1], right = digits[position];
        if (first[left] != first[right] && last[left] != last[right])
          return true;
      }
  return false;
}

bool DimDigits::isReordered(size_t index) const {
  SmallVector<unsigned> position(sizes.size());
  unsigned next = 0;
  for (const Digits &digits : stages.front())
    for (unsigned digit : digits)
      position[digit] = next++;
  ArrayRef<unsigned> digits = dim(index);
  for (size_t i = 1; i < digits.size(); ++i)
    if (position[digits[i]] != position[digits[i - 1]] + 1)
      return true;
  return false;
}

SmallVector<int64_t> DimDigits::splitShape() const {
  SmallVector<int64_t> shape;
  for (const Digits &digits : stages.front())
    for (unsigned digit : digits)
      shape.push_back(sizes[digit]);
  return shape;
}

SmallVector<int64_t> DimDigits::order() const {
  SmallVector<int64_t> position(sizes.size()), order;
  int64_t next = 0;
  for (const Digits &digits : stages.front())
    for (unsigned digit : digits)
      position[digit] = next++;
  for (const Digits &digits : stages.back())
    for (unsigned digit : digits)
      order.push_back(position[digit]);
  return order;
}
