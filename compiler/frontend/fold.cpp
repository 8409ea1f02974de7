//===- fold.cpp - digits of axes by name -----------------------------------===//
//
// Both the axes of a fold and its names write the number of a rank in mixed radix, major to minor. With ranks counted
// from the major end, an axis ends after the product of the sizes up to it, and so does a name:
//
//   axes    dp = 8               tp = 4      end after 8 and 32 ranks
//   names   edp = 4    ep = 8                end after 4 and 32 ranks
//
// A name that ends inside an axis cuts it: edp cuts dp after 4 of its ranks. The two parts are digits of dp, because 4
// divides 8. A cut of a later axis counts from the end of the axes before it.
//
//===----------------------------------------------------------------------===//

#include "compiler/frontend/fold.h"

#include "compiler/support/nearest.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <utility>

using namespace meshplan;

namespace {

class FoldResolver {
public:
  FoldResolver(const FoldStatement &fold, llvm::ArrayRef<int64_t> sizes, Mesh &mesh, Diagnostics &diagnostics)
      : fold(fold), sizes(sizes), mesh(mesh), diagnostics(diagnostics) {}

  void run();

private:
  bool findAxes();
  bool checkProduct();
  /// The axis inside which the first `end` ranks end, with the ranks before it; at the end of an axis, that axis.
  std::pair<size_t, int64_t> axisAt(int64_t end) const;
  bool isCut(int64_t end) const;
  bool checkCuts();
  void reportCut(size_t number, int64_t begin, int64_t end);
  std::string nearestSizes(int64_t begin, int64_t size) const;
  std::vector<AxisRef> digitsBetween(int64_t begin, int64_t end) const;
  /// Digits of two folds may meet in one value, or in a reshard between two.
  bool fits(const std::vector<FoldedName> &names);

  const FoldStatement &fold;
  llvm::ArrayRef<int64_t> sizes;
  Mesh &mesh;
  Diagnostics &diagnostics;
  std::vector<size_t> axes;
};

/// `dp (8) * tp (4) = 32`
std::string productText(llvm::ArrayRef<std::pair<std::string, int64_t>> factors) {
  std::string text;
  int64_t product = 1;
  bool fits = true;
  for (const auto &[name, size] : factors) {
    text += (text.empty() ? "" : " * ") + name + " (" + std::to_string(size) + ")";
    fits = fits && !__builtin_mul_overflow(product, size, &product);
  }
  return text + (fits ? " = " + std::to_string(product) : " = more than fits in 64 bits");
}

} // namespace

void FoldResolver::run() {
  if (!findAxes() || !checkProduct() || !checkCuts())
    return;
  std::vector<FoldedName> names;
  int64_t begin = 1;
  for (auto [definition, size] : llvm::zip_equal(fold.names, sizes)) {
    names.push_back({definition.name.text, size, definition.name.range, digitsBetween(begin, begin * size)});
    begin *= size;
  }
  if (fits(names))
    llvm::append_range(mesh.folded, names);
}

bool FoldResolver::findAxes() {
  size_t before = diagnostics.errorCount();
  std::vector<std::string> known;
  for (const MeshAxis &axis : mesh.axes)
    known.push_back(axis.name);
  for (const Word &word : fold.axes) {
    auto found = llvm::find(known, word.text);
    if (found == known.end()) {
      Diagnostic &error = diagnostics.error(word.range, "the mesh has no axis '" + word.text + "'");
      if (mesh.range.hasLine())
        error.note(mesh.range, "the mesh is here");
      error.help(known.empty() ? "the plan has no mesh; add 'mesh " + word.text + " = SIZE'"
                               : suggest(word.text, known, "axes of the mesh"));
      continue;
    }
    size_t number = found - known.begin();
    if (llvm::is_contained(axes, number))
      diagnostics.error(word.range, "axis '" + word.text + "' is listed twice").help("remove one of them");
    else
      axes.push_back(number);
  }
  return diagnostics.errorCount() == before;
}

bool FoldResolver::checkProduct() {
  std::vector<std::pair<std::string, int64_t>> whole, named;
  for (size_t axis : axes)
    whole.emplace_back(mesh.axes[axis].name, mesh.axes[axis].size);
  int64_t product = 1;
  bool overflows = false;
  for (auto [definition, size] : llvm::zip_equal(fold.names, sizes)) {
    named.emplace_back(definition.name.text, size);
    overflows = overflows || __builtin_mul_overflow(product, size, &product);
  }
  if (!overflows && product == mesh.shardsOf(axes))
    return true;
  auto join = [](auto all, llvm::StringRef sign) {
    std::string text;
    for (const auto &[name, size] : all)
      text += (text.empty() ? "" : sign.str()) + name;
    return text;
  };
  std::string others = join(llvm::drop_begin(named), " / ");
  diagnostics
      .error(fold.range,
             "the names of the fold are " + productText(named) + " ranks, and its axes are " + productText(whole))
      .help("let one size follow: '" + named.front().first + " = " + join(whole, " * ") +
            (others.empty() ? "" : " / " + others) + "'");
  return false;
}

std::pair<size_t, int64_t> FoldResolver::axisAt(int64_t end) const {
  int64_t before = 1;
  for (size_t axis : axes) {
    if (end <= before * mesh.axes[axis].size)
      return {axis, before};
    before *= mesh.axes[axis].size;
  }
  return {axes.back(), before};
}

bool FoldResolver::isCut(int64_t end) const {
  auto [axis, before] = axisAt(end);
  return end % before == 0 && mesh.axes[axis].size % (end / before) == 0;
}

bool FoldResolver::checkCuts() {
  int64_t begin = 1;
  for (size_t number = 0; number < sizes.size(); ++number) {
    int64_t end = begin * sizes[number];
    if (!isCut(end))
      return reportCut(number, begin, end), false;
    begin = end;
  }
  return true;
}

void FoldResolver::reportCut(size_t number, int64_t begin, int64_t end) {
  auto [axis, before] = axisAt(end);
  std::string name = "'" + fold.names[number].name.text + "'", ranks = std::to_string(end),
              size = std::to_string(mesh.axes[axis].size);
  std::string why = end % before != 0
                        ? ranks + " is not a multiple of the " + std::to_string(before) + " ranks before it"
                    : before == 1 ? ranks + " does not divide its " + size
                                  : ranks + " / " + std::to_string(before) + " = " + std::to_string(end / before) +
                                        " does not divide its " + size;
  diagnostics
      .error(fold.names[number].name.range, name + " = " + std::to_string(sizes[number]) +
                                                " is not a digit: it ends after " + ranks + " ranks, inside axis '" +
                                                mesh.axes[axis].name + "', and " + why)
      .note(mesh.axes[axis].range, "the axis is here")
      .help("the nearest sizes of " + name + " are " + nearestSizes(begin, sizes[number]));
}

/// The nearest sizes below and above with which the name ends at a digit.
std::string FoldResolver::nearestSizes(int64_t begin, int64_t size) const {
  // Bounds the search in axes that no cluster has.
  constexpr int64_t mostDivisor = 100000;
  // The digits of an axis end at the multiples of the ranks before it by the divisors of its size.
  int64_t below = 1, above = mesh.shardsOf(axes) / begin, before = 1;
  for (size_t axis : axes) {
    int64_t whole = mesh.axes[axis].size;
    auto consider = [&](int64_t divisor) {
      int64_t end = before * divisor;
      if (end % begin != 0 || end < begin)
        return;
      (end / begin < size ? below : above) =
          end / begin < size ? std::max(below, end / begin) : std::min(above, end / begin);
    };
    for (int64_t divisor = 1; divisor <= std::min(whole / divisor, mostDivisor); ++divisor)
      if (whole % divisor == 0) {
        consider(divisor);
        consider(whole / divisor);
      }
    before *= whole;
  }
  return std::to_string(below) + " and " + std::to_string(above);
}

std::vector<AxisRef> FoldResolver::digitsBetween(int64_t begin, int64_t end) const {
  std::vector<AxisRef> digits;
  int64_t before = 1;
  for (size_t axis : axes) {
    int64_t after = before * mesh.axes[axis].size, first = std::max(begin, before), last = std::min(end, after);
    if (first < last)
      digits.push_back({static_cast<int64_t>(axis), first / before, last / first});
    before = after;
  }
  return digits;
}

bool FoldResolver::fits(const std::vector<FoldedName> &names) {
  for (const FoldedName &other : mesh.folded)
    for (const AxisRef &theirs : other.digits)
      for (const FoldedName &name : names)
        for (const AxisRef &own : name.digits) {
          int64_t end = own.pre * own.size, otherEnd = theirs.pre * theirs.size;
          if (own.axis != theirs.axis || end % otherEnd == 0 || otherEnd % end == 0)
            continue;
          diagnostics
              .error(name.range, "'" + name.name + "' cuts axis '" + mesh.axes[own.axis].name + "' after " +
                                     std::to_string(end) + " ranks, and '" + other.name + "' after " +
                                     std::to_string(otherEnd) + ": neither divides the other")
              .note(other.range, "'" + other.name + "' is here")
              .help("choose sizes of which one divides the other: digits of one axis lie inside one another or beside "
                    "one another");
          return false;
        }
  return true;
}

void meshplan::resolveFold(const FoldStatement &fold, llvm::ArrayRef<int64_t> sizes, Mesh &mesh,
                           Diagnostics &diagnostics) {
  FoldResolver(fold, sizes, mesh, diagnostics).run();
}
