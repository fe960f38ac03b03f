// SPDX-License-Identifier: Apache-2.0
// The C++ library that is linked into this one has standard streams of its own. At the end of the
// process they would flush C's stdout, which is the program's: one that replaces itself at its exit
// would print twice what it had never flushed. Nothing here writes to them, so they lead nowhere.
#include <iostream>

namespace {

const struct StandardStreams {
  StandardStreams() {
    for (std::ostream* stream : {&std::cout, &std::cerr, &std::clog}) stream->rdbuf(nullptr);
    for (std::wostream* stream : {&std::wcout, &std::wcerr, &std::wclog}) stream->rdbuf(nullptr);
  }
} kStandardStreams;

}  // namespace
