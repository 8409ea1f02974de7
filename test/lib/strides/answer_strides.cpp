//===- answer_strides.cpp - strides for cases on standard input -----------===//
//
// A case is a line: a question and lists of integers, each after its length.
//
//   view SHAPE STRIDES NEW_SHAPE               strides of the view, or "none"
//   copy SHAPE STRIDES                         strides of a copy
//   kind SHAPE STRIDES                         is it contiguous, dense, channels-last: 0 or 1 each
//   elementwise SHAPE COUNT (SHAPE STRIDES)... strides of the result
//
//===----------------------------------------------------------------------===//

#include "compiler/sharding/storage/strides.h"
#include <iostream>
#include <string>
#include <vector>

using namespace meshplan;

static Strides readList() {
  size_t length = 0;
  std::cin >> length;
  Strides list(length);
  for (int64_t &item : list)
    std::cin >> item;
  return list;
}

static void print(const Strides &strides) {
  for (int64_t stride : strides)
    std::cout << stride << ' ';
  std::cout << '\n';
}

static Strides elementwise() {
  Strides shape = readList();
  size_t count = 0;
  std::cin >> count;
  std::vector<std::pair<Strides, Strides>> tensors(count);
  llvm::SmallVector<StridedShape> operands;
  for (auto &[own, strides] : tensors) {
    own = readList();
    strides = readList();
    operands.push_back({own, strides});
  }
  return elementwiseStrides(shape, operands);
}

int main() {
  for (std::string question; std::cin >> question;) {
    if (question == "elementwise") {
      print(elementwise());
      continue;
    }
    Strides shape = readList(), strides = readList();
    StridedShape tensor{shape, strides};
    if (question == "copy") {
      print(copyStrides(tensor));
    } else if (question == "kind") {
      std::cout << tensor.isContiguous() << ' ' << tensor.isDense() << ' ' << tensor.isChannelsLast() << '\n';
    } else if (std::optional<Strides> view = viewStrides(tensor, readList())) {
      print(*view);
    } else {
      std::cout << "none\n";
    }
  }
  return 0;
}
