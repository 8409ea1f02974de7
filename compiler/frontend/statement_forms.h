//===- statement_forms.h - the form of each statement ------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_FRONTEND_STATEMENT_FORMS_H
#define MESHPLAN_COMPILER_FRONTEND_STATEMENT_FORMS_H

#include "compiler/frontend/training_syntax.h"
#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace meshplan {

/// The form of the statement that begins with `keyword`: `the form is 'mesh NAME = SIZE, ...'`; empty for none.
std::string keywordForm(llvm::StringRef keyword);

/// The words that begin statements.
const std::vector<std::string> &statementKeywords();

/// "train only": the words that begin the statement.
std::string keywordOf(TrainableStatement::Kind kind);

/// The statement that an option belongs to, for an option that is written as a statement: `'bucket' is an option: 'data
/// AXES { bucket ... }'`; empty for other words.
std::string optionHome(llvm::StringRef word);

/// The same for a statement, or the first word of its name, that is written as an option: `'clip_grad_norm' is a
/// statement of its own: the form is ...`.
std::string statementHome(llvm::StringRef word);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_FRONTEND_STATEMENT_FORMS_H
