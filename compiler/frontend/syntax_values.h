//===- syntax_values.h - words, numbers, expressions, paths ------*- C++ -*-===//
//
// The values that statements of a plan consist of, as written, each with its location.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_FRONTEND_SYNTAX_VALUES_H
#define MESHPLAN_COMPILER_FRONTEND_SYNTAX_VALUES_H

#include "compiler/support/diagnostics.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace meshplan {

/// A word: the name of an axis, a style, an option, an input.
struct Word {
  std::string text;
  SourceRange range;
};

/// `64 MiB`, `90 %`, `-1e-4`. `integer` has a value if the number is written as an integer that fits; `unit` is empty
/// if there is none.
struct Number {
  double value = 0;
  std::optional<int64_t> integer;
  std::string unit;
  SourceRange range;
};

/// Integer arithmetic over numbers and names.
struct Expression {
  enum class Kind { Integer, Name, Negate, Add, Subtract, Multiply, Divide };
  Kind kind = Kind::Integer;
  int64_t integer = 0;              ///< of Integer
  std::string name;                 ///< of Name
  std::vector<Expression> operands; ///< one for Negate, two for the others
  std::string text;                 ///< as written, spaces normalized
  SourceRange range;
};

/// A pattern over module paths, with normalized spaces inside braces. A path in quotes is taken literally.
struct PathPattern {
  std::string text;
  bool literal = false;
  SourceRange range;
};

/// An operand of an option: a word, a number, a path, a string, or a list in brackets.
struct Operand {
  enum class Kind { Word, Number, Path, String, List };
  Kind kind = Kind::Word;
  std::string text; ///< of Word, Path and String (without quotes)
  Number number;
  std::vector<std::vector<Operand>> list; ///< items between commas
  SourceRange range;
};

/// `shard parameters, gradients over dp`, `group **.*norm { weight_decay 0 }`.
struct Option {
  Word name;
  std::vector<std::vector<Operand>> operands; ///< groups between commas
  bool hasBlock = false;
  std::vector<Option> block;
  SourceRange range;
  std::string text; ///< the first line of the statement, without its block
};

} // namespace meshplan

#endif // MESHPLAN_COMPILER_FRONTEND_SYNTAX_VALUES_H
