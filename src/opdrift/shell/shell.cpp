#include "opdrift/shell/shell.hpp"

#include <cstdio>
#include <memory>
#include <string_view>
#include <utility>

#include "opdrift/base/text.hpp"
#include "opdrift/shell/input/completion.hpp"
#include "opdrift/shell/input/interrupt.hpp"
#include "opdrift/shell/input/line_reader.hpp"
#include "opdrift/shell/registry.hpp"
#include "opdrift/shell/screen/pager.hpp"

namespace opdrift::shell {

namespace {

constexpr const char* kPrompt = "PrecisionTool > ";

bool write_to(std::FILE* stream, std::string_view text) {
  return std::fwrite(text.data(), 1, text.size(), stream) == text.size() &&
         std::fflush(stream) == 0;
}

ScreenOptions screen_options(const Terminal& terminal) {
  ScreenOptions options;
  options.paper = {terminal.columns(), terminal.unicode};
  options.colour = terminal.colour;
  options.out = [](std::string_view text) { return write_to(stdout, text); };
  options.err = [](std::string_view text) { return write_to(stderr, text); };
  options.ask = &ask_for_page;
  return options;
}

/// One shell from its banner to its end.
class Loop {
 public:
  explicit Loop(ShellOptions options)
      : options_(std::move(options)),
        screen_(screen_options(options_.terminal)),
        session_(options_.opened.workspace, screen_, options_.settings) {}

  bool run() {
    for (const std::string& note : options_.opened.notes) {
      screen_.warn(note);
    }
    if (!options_.words.empty()) {
      begin();
      return run_words(session_, options_.words) && !screen_.failed();
    }
    if (options_.terminal.interactive) {
      screen_.print(options_.banner);
    }
    read_lines();
    return options_.terminal.interactive || (failures_ == 0 && !screen_.failed());
  }

 private:
  /// A command starts: a fresh page, nothing interrupted.
  void begin() {
    const Terminal& terminal = options_.terminal;
    screen_.begin(terminal.columns(), terminal.interactive ? terminal.rows() : 0);
    session_.cancel = &interrupts_.renew();
  }

  std::unique_ptr<LineReader> make_reader() {
    LineReaderOptions reader;
    reader.editing = options_.terminal.interactive;
    reader.history_file = options_.terminal.history_file;
    reader.complete = [this](std::string_view text) { return complete_line(session_, text); };
    reader.interrupted = [this] { return interrupts_.raised(); };
    return make_line_reader(std::move(reader));
  }

  void read_lines() {
    const std::unique_ptr<LineReader> reader = make_reader();
    // Without a reader of its results a script has nothing left to do.
    while (!session_.leave && (options_.terminal.interactive || !screen_.failed())) {
      begin();
      const ReadLine line = reader->read(kPrompt);
      if (line.state == ReadState::end) {
        say_bye("\nBye.\n");
        return;
      }
      if (line.state == ReadState::interrupted) {
        if (!options_.terminal.interactive || trim(line.text).empty()) {
          say_bye("Bye.\n");
          return;
        }
        continue;
      }
      run_one(line.text);
    }
  }

  void run_one(const std::string& line) {
    begin();
    const bool fine = run_line(session_, line);
    if (interrupts_.raised()) {
      write_to(stderr, "Interrupted.\n");
    }
    failures_ += fine ? std::size_t{0} : std::size_t{1};
  }

  void say_bye(std::string_view words) {
    if (options_.terminal.interactive) {
      write_to(stdout, words);
    }
  }

  ShellOptions options_;
  Screen screen_;
  Interrupts interrupts_;
  Session session_;
  std::size_t failures_ = 0;
};

}  // namespace

bool run_shell(ShellOptions options) {
  return Loop(std::move(options)).run();
}

}  // namespace opdrift::shell
