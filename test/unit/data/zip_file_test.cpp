//===- zip_file_test.cpp --------------------------------------------------===//

#include "runtime/data/zip_file.h"

#include "test/unit/data/helpers.h"
#include "test/unit/data/zip_text.h"

#include <random>

namespace meshplan {
namespace {

Expected<std::vector<ZipEntry>> read(const std::string &text) {
  return readZipDirectory(std::as_bytes(std::span(text)));
}

std::string contentOf(const ZipEntry &entry) {
  Expected<std::vector<std::byte>> content = unpack(entry);
  EXPECT_TRUE(content.ok()) << content.status().message();
  return content ? std::string(reinterpret_cast<const char *>(content->data()), content->size()) : "";
}

TEST(ZipFile, ReadsOrdinaryAndZip64Directories) {
  for (bool wide : {false, true}) {
    ZipText zip;
    zip.add("m/a", "first", 0, wide);
    zip.add("m/b", "", 0, wide);
    std::string text = zip.text(wide);
    EXPECT_TRUE(isZipFile(std::as_bytes(std::span(text))));
    Expected<std::vector<ZipEntry>> entries = read(text);
    ASSERT_TRUE(entries.ok()) << entries.status().message();
    ASSERT_EQ(entries->size(), 2u);
    EXPECT_EQ((*entries)[0].name, "m/a");
    EXPECT_EQ(contentOf((*entries)[0]), "first");
    EXPECT_EQ(contentOf((*entries)[1]), "");
  }
}

TEST(ZipFile, RefusesUnknownMethods) {
  ZipText zip;
  zip.add("m/a", "first", 12);
  EXPECT_EQ(read(zip.text()).status().message(), "entry 'm/a' is encrypted or packed with method 12");
}

TEST(ZipFile, RefusesWhatIsNoDirectory) {
  EXPECT_EQ(read("").status().message(), "damaged or truncated zip file: no directory");
  EXPECT_EQ(read(std::string(100000, 'x')).status().message(), "damaged or truncated zip file: no directory");
}

TEST(ZipFile, AnImpossibleSizeIsNotAllocated) {
  std::string data = "xx";
  ZipEntry entry{
      .name = "a", .deflated = true, .checksum = 0, .size = uint64_t(1) << 60, .data = std::as_bytes(std::span(data))};
  EXPECT_EQ(unpack(entry).status().message(), "damaged or truncated zip file: an entry states an impossible size");
  entry.size = 10;
  EXPECT_EQ(unpack(entry).status().message(), "damaged or truncated zip file: an entry cannot be unpacked");
}

TEST(ZipFile, DamagedBytesNeverCrash) {
  // Whatever the bytes say: refused, or entries that lie inside of the file.
  std::mt19937 generator(1);
  for (const char *name : {"model.pt2", "deflated.pt2"}) {
    const std::string original = textOf(fixture(name));
    for (int i = 0; i < 2000; ++i) {
      std::string text = original;
      // Most of the format is in the directory at the end.
      size_t reach = i % 2 == 0 ? text.size() : std::min<size_t>(text.size(), 1500);
      text[text.size() - 1 - generator() % reach] = static_cast<char>(generator());
      Expected<std::vector<ZipEntry>> entries = read(text);
      if (!entries)
        continue;
      for (const ZipEntry &entry : *entries)
        static_cast<void>(unpack(entry).ok());
    }
  }
}

} // namespace
} // namespace meshplan
