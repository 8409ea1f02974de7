//===- plan_words.cpp - names as the language writes them -----------------===//

#include "compiler/draft/plan_words.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using llvm::StringRef;

std::string meshplan::quotedWord(StringRef text) {
  std::string string = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\')
      string += '\\';
    string += c;
  }
  return string + '"';
}

std::string meshplan::planWord(StringRef name) {
  bool isWord = name != "rest" && !name.empty() && !llvm::isDigit(name.front()) &&
                llvm::all_of(name, [](char c) { return llvm::isAlnum(c) || c == '_'; });
  return isWord ? name.str() : quotedWord(name);
}
