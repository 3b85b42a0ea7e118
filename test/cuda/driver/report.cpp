//===- report.cpp - tells what a program did wrong ------------------------===//
#include "test/cuda/driver/report.h"

#include <cstdlib>
#include <fcntl.h>
#include <string>
#include <unistd.h>

namespace mtc::standin {

void report(const std::string &sentence) {
  std::string line = "cuda stand-in: " + sentence + "\n";
  const char *path = std::getenv("MTC_STANDIN_REPORT");
  int file = path && *path
                 ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644)
                 : STDERR_FILENO;
  // One write: ranks may share the file.
  [[maybe_unused]] ssize_t written = write(file, line.data(), line.size());
  if (file != STDERR_FILENO)
    close(file);
}

double environment(const char *name, double otherwise) {
  const char *text = std::getenv(name);
  return text && *text ? std::strtod(text, nullptr) : otherwise;
}

std::string environmentText(const char *name) {
  const char *text = std::getenv(name);
  return text ? text : "";
}

bool environmentHas(const char *name, const char *word) {
  std::string list = "," + environmentText(name) + ",";
  return list.find("," + std::string(word) + ",") != std::string::npos;
}

} // namespace mtc::standin
