//===- temporary_files.cpp - files that a signal removes ------------------===//

#include "runtime/base/temporary_files.h"

#include <array>
#include <atomic>
#include <csignal>
#include <cstring>
#include <ctime>
#include <unistd.h>
#include <utility>

namespace meshplan {

namespace {

constexpr std::array endingSignals = {SIGTERM, SIGINT, SIGHUP};

// A signal handler may only use static storage and lock-free atomics.
std::array<std::atomic<const char *>, 64> listed;
std::atomic<int> pauses;
static_assert(std::atomic<const char *>::is_always_lock_free && std::atomic<int>::is_always_lock_free);

void removeAndEnd(int signal) {
  removeTemporaryFiles();
  // SA_RESETHAND has restored the default action, so the signal ends the process after this handler.
  ::raise(signal);
}

sigset_t endingSet() {
  sigset_t set;
  ::sigemptyset(&set);
  for (int signal : endingSignals)
    ::sigaddset(&set, signal);
  return set;
}

} // namespace

/// Uses only calls that POSIX allows in a signal handler.
void removeTemporaryFiles() {
  // Another thread is between creating a file and listing it, a few system calls apart. Wait at most a second.
  constexpr timespec briefly{0, 1'000'000};
  for (int i = 0; i < 1000 && pauses.load() > 0; ++i)
    ::nanosleep(&briefly, nullptr);
  for (std::atomic<const char *> &slot : listed)
    if (const char *path = slot.exchange(nullptr))
      ::unlink(path);
}

void removeTemporaryFilesOnSignal() {
  for (int signal : endingSignals) {
    struct sigaction before, handler = {};
    if (::sigaction(signal, nullptr, &before) != 0 || before.sa_handler == SIG_IGN)
      continue;
    handler.sa_handler = removeAndEnd;
    handler.sa_mask = endingSet();
    handler.sa_flags = SA_RESETHAND;
    ::sigaction(signal, &handler, nullptr);
  }
}

ListedFile::ListedFile(const std::string &path) : text(new char[path.size() + 1]) {
  std::memcpy(text.get(), path.c_str(), path.size() + 1);
  // The text is complete before the slot refers to it, because a handler may read the slot at any time.
  for (slot = 0; slot < listed.size(); ++slot) {
    const char *none = nullptr;
    if (listed[slot].compare_exchange_strong(none, text.get()))
      return;
  }
  text.reset();
}

ListedFile::ListedFile(ListedFile &&other) noexcept : slot(other.slot), text(std::move(other.text)) {}

ListedFile &ListedFile::operator=(ListedFile &&other) noexcept {
  std::swap(slot, other.slot);
  std::swap(text, other.text);
  return *this;
}

ListedFile::~ListedFile() {
  const char *own = text.get();
  // A handler has taken the pointer and may still read it. Leaking it is safe: the process is ending.
  if (own && !listed[slot].compare_exchange_strong(own, nullptr))
    static_cast<void>(text.release());
}

ForeignFile::~ForeignFile() {
  if (!path.empty())
    ::unlink(path.c_str());
}

struct SignalPause::Mask {
  sigset_t set;
};

SignalPause::SignalPause() : before(new Mask) {
  sigset_t held = endingSet();
  ::pthread_sigmask(SIG_BLOCK, &held, &before->set);
  // After the mask: a handler on this thread would otherwise wait for the pause that it interrupts. The mask is that of
  // this thread alone, and a handler on another thread waits for the number.
  ++pauses;
}

SignalPause::~SignalPause() {
  --pauses;
  ::pthread_sigmask(SIG_SETMASK, &before->set, nullptr);
}

} // namespace meshplan
