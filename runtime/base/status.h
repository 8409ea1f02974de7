//===- status.h - failures of the runtime -----------------------*- C++ -*-===//
//
// One status type for every expected failure. A successful Status is a null pointer: cheap to make, copy and test. A
// failure has a code, for decisions, and a message, for people: lower case, no full stop, with the actual and the
// required value. Expected failures never throw.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_BASE_STATUS_H
#define MESHPLAN_RUNTIME_BASE_STATUS_H

#include <cassert>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace meshplan {

enum class StatusCode : unsigned char {
  ok,
  invalid,      ///< the caller or the user asked for something impossible
  notFound,     ///< a file, a tensor or a name that does not exist
  corrupted,    ///< a file whose bytes or meaning are wrong
  unsupported,  ///< valid, but not supported
  io,           ///< the operating system refused to read or write
  timeout,      ///< a peer did not arrive in time
  peerLost,     ///< a peer failed
  aborted,      ///< ended because of a failure of another rank
  numericFault, ///< non-finite values where the plan forbids them
  outOfMemory,  ///< of the host or of a device
  internal,     ///< a defect of the runtime
};

/// Lower-case name of a code, as messages and logs show it.
std::string_view statusCodeName(StatusCode code);

/// Result of an operation without a value. Copies share the message. Thread safe as a value type.
class [[nodiscard]] Status {
public:
  Status() = default;
  Status(StatusCode code, std::string message)
      : failure(std::make_shared<const Failure>(Failure{code, std::move(message)})) {
    assert(code != StatusCode::ok && "a failure needs a code");
  }

  /// A failure whose message is the concatenation of `parts` as a stream prints them.
  template <typename... Parts> static Status error(StatusCode code, const Parts &...parts) {
    std::ostringstream text;
    (text << ... << parts);
    return Status(code, text.str());
  }

  bool ok() const { return !failure; }
  StatusCode code() const { return failure ? failure->code : StatusCode::ok; }
  const std::string &message() const;

  /// The same failure with `context` and ": " before its message; ok stays ok.
  Status withContext(std::string_view context) const;

private:
  struct Failure {
    StatusCode code;
    std::string message;
  };
  std::shared_ptr<const Failure> failure;
};

/// A value or the reason why there is none.
template <typename T> class [[nodiscard]] Expected {
public:
  Expected(T value) : content(std::move(value)) {}
  Expected(Status status) : content(std::move(status)) {
    assert(!std::get<Status>(content).ok() && "an Expected without a value needs a failure");
  }

  bool ok() const { return std::holds_alternative<T>(content); }
  explicit operator bool() const { return ok(); }
  Status status() const { return ok() ? Status() : std::get<Status>(content); }

  T &operator*() & { return std::get<T>(content); }
  const T &operator*() const & { return std::get<T>(content); }
  T &&operator*() && { return std::get<T>(std::move(content)); }
  T *operator->() { return &std::get<T>(content); }
  const T *operator->() const { return &std::get<T>(content); }

private:
  std::variant<Status, T> content;
};

} // namespace meshplan

#define MESHPLAN_STATUS_CONCAT_(a, b) a##b
#define MESHPLAN_STATUS_CONCAT(a, b) MESHPLAN_STATUS_CONCAT_(a, b)

/// Returns from the function when `expression` (a Status) is a failure.
#define MESHPLAN_RETURN_IF_ERROR(expression)                                                                           \
  do {                                                                                                                 \
    if (::meshplan::Status status_ = (expression); !status_.ok())                                                      \
      return status_;                                                                                                  \
  } while (false)

/// `MESHPLAN_ASSIGN_OR_RETURN(auto file, openFile(path));` takes the value of an
/// Expected, or returns its failure from the function.
#define MESHPLAN_ASSIGN_OR_RETURN(declaration, expression)                                                             \
  auto MESHPLAN_STATUS_CONCAT(expected_, __LINE__) = (expression);                                                     \
  if (!MESHPLAN_STATUS_CONCAT(expected_, __LINE__).ok())                                                               \
    return MESHPLAN_STATUS_CONCAT(expected_, __LINE__).status();                                                       \
  declaration = *std::move(MESHPLAN_STATUS_CONCAT(expected_, __LINE__))

#endif // MESHPLAN_RUNTIME_BASE_STATUS_H
