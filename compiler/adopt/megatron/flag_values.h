//===- flag_values.h - the values of a command line -------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_ADOPT_MEGATRON_FLAG_VALUES_H
#define MESHPLAN_COMPILER_ADOPT_MEGATRON_FLAG_VALUES_H

#include "compiler/adopt/adopted_plan.h"
#include "compiler/adopt/megatron/megatron_flags.h"
#include "llvm/ADT/ArrayRef.h"

namespace meshplan {

/// "--lr" for "lr".
std::string shown(llvm::StringRef name);

/// Checked access to flags by their names without dashes. The last flag of a name applies. A wrong value is reported at
/// its location, and treated as if the flag were absent. The flags and the diagnostics must outlive this object.
class FlagValues {
public:
  FlagValues(const std::vector<MegatronFlag> &flags, Diagnostics &diagnostics)
      : flags(flags), diagnostics(diagnostics) {}

  const MegatronFlag *find(llvm::StringRef name) const;
  bool has(llvm::StringRef name) const { return find(name) != nullptr; }
  std::optional<int64_t> integer(llvm::StringRef name, int64_t least = 1) const; ///< at most mostWhole
  std::optional<double> number(llvm::StringRef name) const;                      ///< not negative
  std::optional<double> fraction(llvm::StringRef name) const;                    ///< from 0 to 1
  std::optional<AdoptedNumber> size(llvm::StringRef name) const;
  /// A word. One that is not allowed is reported, and returned anyway.
  std::string word(llvm::StringRef name, llvm::StringRef otherwise, llvm::ArrayRef<std::string> allowed) const;
  /// A text with the flag that it was taken from.
  AdoptedText takenFlag(std::string text, llvm::StringRef name) const;
  /// Warns at a flag if it is present.
  void warn(llvm::StringRef name, const std::string &message) const;

protected:
  const std::vector<MegatronFlag> &flags;
  Diagnostics &diagnostics;
};

} // namespace meshplan

#endif // MESHPLAN_COMPILER_ADOPT_MEGATRON_FLAG_VALUES_H
