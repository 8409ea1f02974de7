//===- command_line.h - code that command lines share ------------*- C++ -*-===//
//
// Usage errors have the same form in every program: `PROGRAM COMMAND: error: ...` in lower case with a `help:` line,
// and status 2. Built on CLI11. Also reports when the output of a program could not be written.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_TOOLS_COMMAND_LINE_COMMAND_LINE_H
#define MESHPLAN_TOOLS_COMMAND_LINE_COMMAND_LINE_H

#include <CLI/CLI.hpp>

#include <functional>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

namespace meshplan {

/// The candidates that a wrong name may have meant, nearest first. Compiler and runtime each have such a function, and
/// neither may use the other's.
using Nearest = std::function<std::vector<std::string>(const std::string &name, const std::vector<std::string> &)>;

/// Parses the command line of a program whose first argument is a command. Returns nothing if a command is to be run,
/// else the exit status: 0 after --help and --version, 2 after a usage error, which is printed to stderr.
std::optional<int> parseCommandLine(CLI::App &app, int argc, const char *const *argv, const Nearest &nearest);

/// Runs `body`, the whole program, and returns its exit status; 1, after an error on stderr, if its output to stdout
/// could not be written. `flush` writes output that the program buffers in a stream of its own.
int runProgram(const std::string &program, const std::function<int()> &body,
               const std::function<std::error_code()> &flush = {});

/// Accepts one of `values`; else "'x' is none of a, b, c".
CLI::Validator oneOf(std::vector<std::string> values);

/// Accepts any text but the empty one, which is not the name of a file.
CLI::Validator fileName();

/// Accepts a finite number above zero; else "'x' is not a positive number", or "'x' is more than 100".
CLI::Validator positiveNumber(int64_t most);

/// Accepts a whole number above zero; else "'x' is not a positive whole number", or "'x' is more than 100".
CLI::Validator positiveInteger(int64_t most);

/// The same for whole numbers from 0 on.
CLI::Validator wholeNumber(int64_t most);

} // namespace meshplan

#endif // MESHPLAN_TOOLS_COMMAND_LINE_COMMAND_LINE_H
