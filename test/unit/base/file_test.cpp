//===- file_test.cpp ------------------------------------------------------===//

#include "runtime/base/file.h"
#include "runtime/base/hash.h"

#include "test/unit/base/file_bytes.h"
#include "test/unit/temporary_directory.h"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <functional>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace meshplan {
namespace {

TEST(MappedFile, ReadsWholeFiles) {
  TemporaryDirectory directory;
  ASSERT_TRUE(writeFileAtomically(directory / "a", bytesOf("some text")).ok());
  EXPECT_EQ(contentOf(directory / "a"), "some text");
  ASSERT_TRUE(writeFileAtomically(directory / "empty", {}).ok());
  Expected<MappedFile> empty = MappedFile::open(directory / "empty");
  ASSERT_TRUE(empty.ok());
  EXPECT_TRUE(empty->bytes().empty());
}

TEST(MappedFile, MovesKeepTheBytes) {
  TemporaryDirectory directory;
  ASSERT_TRUE(writeFileAtomically(directory / "a", bytesOf("some text")).ok());
  Expected<MappedFile> first = MappedFile::open(directory / "a");
  ASSERT_TRUE(first.ok());
  const std::byte *data = first->bytes().data();
  MappedFile second = *std::move(first);
  EXPECT_EQ(second.bytes().data(), data);
}

TEST(ReadAhead, RequestsNameEveryPage) {
  constexpr size_t page = 4096, longest = 512 << 10;
  alignas(page) static const std::byte file[5 * longest] = {};
  for (size_t begin : {size_t(0), size_t(1), page - 1, page, 3 * page + 17, longest})
    for (size_t size : {size_t(1), page, page + 1, longest, longest + 1, 3 * longest + 5}) {
      SCOPED_TRACE(testing::Message() << size << " bytes from " << begin);
      const std::byte *next = file + begin / page * page;
      for (std::span<const std::byte> request : readAheadRequests({file + begin, size}, page)) {
        EXPECT_EQ(request.data(), next);
        EXPECT_EQ((request.data() - file) % page, 0u);
        EXPECT_LE(request.size(), longest);
        next += request.size();
      }
      EXPECT_EQ(next, file + begin + size);
    }
  EXPECT_TRUE(readAheadRequests({}, page).empty());
}

TEST(ReadAhead, LeavesTheBytesAsTheyAre) {
  TemporaryDirectory directory;
  std::string text(3 << 20, 'm');
  ASSERT_TRUE(writeFileAtomically(directory / "a", bytesOf(text)).ok());
  Expected<MappedFile> file = MappedFile::open(directory / "a");
  ASSERT_TRUE(file.ok());
  willRead(file->bytes().subspan(100));
  EXPECT_TRUE(std::ranges::equal(file->bytes(), bytesOf(text)));
  willRead(bytesOf(text)); // memory that is not a mapped file
  EXPECT_THAT(text, testing::Each('m'));
}

TEST(MappedFile, AnAssignedFileIsTheOther) {
  TemporaryDirectory directory;
  ASSERT_TRUE(writeFileAtomically(directory / "a", bytesOf("some text")).ok());
  ASSERT_TRUE(writeFileAtomically(directory / "b", bytesOf("other")).ok());
  Expected<MappedFile> first = MappedFile::open(directory / "a"), second = MappedFile::open(directory / "b");
  ASSERT_TRUE(first.ok() && second.ok());
  const std::byte *data = second->bytes().data();
  *first = *std::move(second);
  EXPECT_EQ(first->path(), directory / "b");
  EXPECT_EQ(first->bytes().data(), data);
  EXPECT_EQ(first->bytes().size(), 5u);
}

TEST(MappedFile, SaysWhyItCannotRead) {
  TemporaryDirectory directory;
  std::string missing = directory / "missing";
  EXPECT_EQ(MappedFile::open(missing).status().code(), StatusCode::notFound);
  EXPECT_EQ(MappedFile::open(missing).status().message(), "cannot open '" + missing + "': No such file or directory");
  EXPECT_EQ(MappedFile::open(directory.path()).status().message(),
            "cannot open '" + directory.path() + "': it is not a regular file");
  std::string pipe = directory / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(MappedFile::open(pipe).status().message(), "cannot open '" + pipe + "': it is not a regular file");
}

TEST(AtomicFile, AppearsWithCommitOnly) {
  TemporaryDirectory directory;
  {
    Expected<AtomicFile> file = AtomicFile::create(directory / "a");
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE(file->write(4, bytesOf("text")).ok());
    ASSERT_TRUE(file->write(0, bytesOf("some")).ok());
    EXPECT_EQ(contentOf(directory / "a"), "");
    ASSERT_TRUE(file->commit().ok());
    EXPECT_EQ(contentOf(directory / "a"), "sometext");
  }
  EXPECT_THAT(directory.names(), testing::ElementsAre("a"));
}

TEST(AtomicFile, WithoutCommitNothingStaysAndTheOldFileIsKept) {
  TemporaryDirectory directory;
  ASSERT_TRUE(writeFileAtomically(directory / "a", bytesOf("old")).ok());
  {
    Expected<AtomicFile> file = AtomicFile::create(directory / "a");
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE(file->write(0, bytesOf("half of the n")).ok());
  }
  EXPECT_EQ(contentOf(directory / "a"), "old");
  EXPECT_THAT(directory.names(), testing::ElementsAre("a"));
}

TEST(AtomicFile, AnAttachedProcessWritesTheSameFile) {
  TemporaryDirectory directory;
  std::string path = directory / "a";
  {
    Expected<AtomicFile> file = AtomicFile::create(path);
    ASSERT_TRUE(file.ok());
    Expected<AtomicFile> attached = AtomicFile::attach(path, file->temporaryPath());
    ASSERT_TRUE(attached.ok()) << attached.status().message();
    ASSERT_TRUE(attached->write(4, bytesOf("text")).ok());
    ASSERT_TRUE(attached->flush().ok());
    ASSERT_TRUE(file->write(0, bytesOf("some")).ok());
    EXPECT_THAT(directory.names(), testing::Not(testing::Contains("a")));
    ASSERT_TRUE(file->commit().ok());
  }
  EXPECT_EQ(contentOf(path), "sometext");
  EXPECT_THAT(directory.names(), testing::ElementsAre("a"));
}

TEST(AtomicFile, AnAttachedProcessTidiesUpForOneThatWasKilled) {
  TemporaryDirectory directory;
  std::string path = directory / "a";
  if (fork() == 0) {
    auto file = AtomicFile::create(path);
    _exit(file.ok() ? 0 : 1); // as if ended by a signal: no destructor runs
  }
  int status = 0;
  ASSERT_NE(wait(&status), -1);
  ASSERT_EQ(status, 0);
  ASSERT_EQ(directory.names().size(), 1u);
  std::string temporary = directory / directory.names()[0];
  ASSERT_TRUE(AtomicFile::attach(path, temporary).ok());
  EXPECT_THAT(directory.names(), testing::IsEmpty());
  EXPECT_EQ(AtomicFile::attach(path, temporary).status().message(),
            "cannot write '" + path + "': '" + temporary +
                "', which another process has created, is missing; help: name a folder that all processes share");
}

TEST(AtomicFile, ItsNamesAreKnownBeforeThereIsAFile) {
  TemporaryDirectory directory;
  ASSERT_EQ(::symlink("target", (directory / "link").c_str()), 0);
  ASSERT_TRUE(writeFileAtomically(directory / "target", bytesOf("old")).ok());
  Expected<AtomicFile::Names> names = AtomicFile::chooseNames(directory / "link");
  ASSERT_TRUE(names.ok()) << names.status().message();
  EXPECT_EQ(std::filesystem::path(names->path).filename(), "target");
  EXPECT_THAT(names->temporary, testing::MatchesRegex(".*/target\\.[A-Za-z0-9]+"));
  EXPECT_THAT(directory.names(), testing::UnorderedElementsAre("link", "target"));
  {
    Expected<AtomicFile> file = AtomicFile::create(*names);
    ASSERT_TRUE(file.ok()) << file.status().message();
    EXPECT_EQ(file->temporaryPath(), names->temporary);
    // A name is used for one file only.
    EXPECT_EQ(AtomicFile::create(*names).status().message(), "cannot write '" + names->path + "': File exists");
  }
  EXPECT_THAT(directory.names(), testing::UnorderedElementsAre("link", "target"));
}

TEST(AtomicFile, ManyJoinAFileThatStays) {
  TemporaryDirectory directory;
  std::string path = directory / "f";
  for (const char *text : {"ab", "cd"}) {
    Expected<AtomicFile> file = AtomicFile::join(path);
    ASSERT_TRUE(file.ok()) << file.status().message();
    ASSERT_TRUE(file->resize(4).ok());
    ASSERT_TRUE(file->write(*text == 'a' ? 0 : 2, std::as_bytes(std::span(text, 2))).ok());
    ASSERT_TRUE(file->flush().ok());
  }
  EXPECT_TRUE(flushFolder(directory.path()).ok());
  Expected<MappedFile> whole = MappedFile::open(path);
  ASSERT_TRUE(whole.ok());
  EXPECT_EQ(std::string_view(reinterpret_cast<const char *>(whole->bytes().data()), 4), "abcd");
  EXPECT_EQ(AtomicFile::join(directory / "no/f").status().message(),
            "cannot write '" + (directory / "no/f") + "': No such file or directory");
  EXPECT_EQ(flushFolder(directory / "no").message(),
            "cannot write '" + (directory / "no") + "': No such file or directory");
  EXPECT_EQ(flushFolder(path).message(), "cannot write '" + path + "': Not a directory");
}

TEST(ForeignFile, IsRemovedByWhoIsLeft) {
  TemporaryDirectory directory;
  {
    ForeignFile never(directory / "never");
  }
  {
    ForeignFile kept(directory / "kept"), removed(directory / "removed");
    ASSERT_TRUE(writeFileAtomically(directory / "kept", bytesOf("a")).ok());
    ASSERT_TRUE(writeFileAtomically(directory / "removed", bytesOf("b")).ok());
    kept.release();
  }
  EXPECT_THAT(directory.names(), testing::ElementsAre("kept"));
}

/// In a separate process: creates files as `work` says until a signal ends it. Returns the signal.
int endedBy(int signal, const std::function<void()> &work) {
  int ready[2];
  EXPECT_EQ(::pipe(ready), 0);
  pid_t child = ::fork();
  if (child == 0) {
    removeTemporaryFilesOnSignal();
    work();
    ::write(ready[1], "x", 1);
    for (;;)
      work();
  }
  char byte;
  EXPECT_EQ(::read(ready[0], &byte, 1), 1);
  ::usleep(2000);
  ::kill(child, signal);
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  ::close(ready[0]);
  ::close(ready[1]);
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

TEST(AtomicFile, ASignalLeavesNothingBehind) {
  TemporaryDirectory directory;
  std::string path = directory / "a";
  ASSERT_TRUE(writeFileAtomically(path, bytesOf("old")).ok());
  for (int signal : {SIGTERM, SIGINT, SIGHUP}) {
    std::vector<AtomicFile> files;
    auto open = [&] {
      if (files.empty())
        files.push_back(*AtomicFile::create(path));
    };
    EXPECT_EQ(endedBy(signal, open), signal);
    EXPECT_EQ(directory.names(), std::vector<std::string>{"a"});
  }
}

/// The signal comes at any step of creating, writing and renaming.
TEST(AtomicFile, ASignalAtAnyTimeLeavesNothingBehind) {
  TemporaryDirectory directory;
  std::string path = directory / "a";
  auto write = [&] { EXPECT_TRUE(writeFileAtomically(path, bytesOf("new")).ok()); };
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(endedBy(SIGTERM, write), SIGTERM);
    EXPECT_EQ(directory.names(), std::vector<std::string>{"a"});
  }
}

TEST(AtomicFile, SaysWhyItCannotWrite) {
  TemporaryDirectory directory;
  std::string path = directory / "missing/a";
  Status status = writeFileAtomically(path, bytesOf("text"));
  EXPECT_EQ(status.message(), "cannot write '" + path + "': No such file or directory");
  std::string under = directory / "file";
  ASSERT_TRUE(writeFileAtomically(under, bytesOf("text")).ok());
  status = writeFileAtomically(under + "/a", bytesOf("text"));
  EXPECT_EQ(status.code(), StatusCode::io);
  EXPECT_EQ(status.message(), "cannot write '" + under + "/a': Not a directory");
}

TEST(AtomicFile, ADirectoryInTheWayLeavesNothingBehind) {
  TemporaryDirectory directory;
  std::filesystem::create_directory(directory / "a");
  std::string path = directory / "a";
  EXPECT_EQ(writeFileAtomically(path, bytesOf("text")).message(), "cannot write '" + path + "': Is a directory");
  EXPECT_THAT(directory.names(), testing::ElementsAre("a"));
}

TEST(AtomicFile, WritesWhatALinkLeadsTo) {
  TemporaryDirectory directory;
  ASSERT_TRUE(writeFileAtomically(directory / "a", bytesOf("old")).ok());
  std::filesystem::create_symlink("a", directory / "link");
  ASSERT_TRUE(writeFileAtomically(directory / "link", bytesOf("new")).ok());
  EXPECT_TRUE(std::filesystem::is_symlink(directory / "link"));
  EXPECT_EQ(contentOf(directory / "a"), "new");
  EXPECT_THAT(directory.names(), testing::ElementsAre("a", "link"));
}

TEST(AtomicFile, RefusesLinksInALoop) {
  TemporaryDirectory directory;
  std::filesystem::create_symlink("other", directory / "link");
  std::filesystem::create_symlink("link", directory / "other");
  std::string path = directory / "link";
  EXPECT_EQ(writeFileAtomically(path, bytesOf("text")).message(),
            "cannot write '" + path + "': its links form a cycle");
  EXPECT_THAT(directory.names(), testing::UnorderedElementsAre("link", "other"));
}

TEST(AtomicFile, RefusesALinkToNothing) {
  TemporaryDirectory directory;
  std::filesystem::create_symlink("nothing", directory / "link");
  std::string path = directory / "link";
  EXPECT_EQ(writeFileAtomically(path, bytesOf("text")).message(), "cannot write '" + path + "': it is a broken link");
  EXPECT_THAT(directory.names(), testing::ElementsAre("link"));
}

TEST(Hash, TellsApartEveryFlippedBit) {
  std::string text = "a text that is not a multiple of eight";
  Hash original = hashBytes(bytesOf(text));
  EXPECT_EQ(hashBytes(bytesOf(text)), original);
  for (size_t bit = 0; bit < text.size() * 8; ++bit) {
    std::string changed = text;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << bit % 8));
    EXPECT_NE(hashBytes(bytesOf(changed)), original);
  }
  EXPECT_NE(hashBytes(bytesOf(text + std::string(1, '\0'))), original);
  EXPECT_EQ(toHexadecimal(bytesOf("\x01\xfe")), "01fe");
}

} // namespace
} // namespace meshplan
