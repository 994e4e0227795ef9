#include <histedit.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cwchar>
#include <filesystem>
#include <system_error>
#include <utility>

#include "opdrift/base/text.hpp"
#include "opdrift/shell/input/line_reader.hpp"

namespace opdrift::shell {

namespace {

constexpr int kHistoryLines = 1000;
constexpr std::size_t kMostShown = 200;  ///< candidates listed at once

/// Woken up by a new size of the terminal or by coming back from a stop; there is nothing to do but
/// to break off the read.
extern "C" void on_shell_wake_up(int /*signal*/) {}

/// Catches a signal for as long as a line is read.
class WakeUp {
 public:
  explicit WakeUp(int number) : number_(number) {
    struct sigaction action {};
    action.sa_handler = &on_shell_wake_up;
    ::sigemptyset(&action.sa_mask);
    ::sigaction(number_, &action, &before_);
  }
  WakeUp(const WakeUp&) = delete;
  WakeUp& operator=(const WakeUp&) = delete;
  ~WakeUp() { ::sigaction(number_, &before_, nullptr); }

 private:
  int number_;
  struct sigaction before_ {};
};

/// Candidates below the line that is edited, in columns.
void list_words(const std::vector<std::string>& words, std::size_t columns) {
  std::size_t widest = 1;
  const std::size_t shown = std::min(words.size(), kMostShown);
  for (std::size_t k = 0; k < shown; ++k) {
    widest = std::max(widest, display_width(words[k]) + 2);
  }
  const std::size_t per_line = std::max<std::size_t>(1, columns / widest);
  std::string text = "\n";
  for (std::size_t k = 0; k < shown; ++k) {
    text += printable(words[k]);
    const bool last = (k + 1) % per_line == 0 || k + 1 == shown;
    text += last ? "\n" : std::string(widest - std::min(widest, display_width(words[k])), ' ');
  }
  if (shown < words.size()) {
    text += "... and " + std::to_string(words.size() - shown) + " more\n";
  }
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

/// Lines edited with libedit.
class EditReader : public LineReader {
 public:
  explicit EditReader(LineReaderOptions options)
      : options_(std::move(options)),
        edit_(::el_init("opdrift", stdin, stdout, stderr)),
        history_(::history_init()) {
    ::el_set(edit_, EL_CLIENTDATA, this);
    ::el_set(edit_, EL_PROMPT, &EditReader::prompt_text);
    ::el_set(edit_, EL_EDITOR, "emacs");
    ::el_set(edit_, EL_SIGNAL, 0);
    ::el_set(edit_, EL_GETCFN, &EditReader::next_character);
    HistEvent event{};
    ::history(history_, &event, H_SETSIZE, kHistoryLines);
    ::history(history_, &event, H_SETUNIQUE, 1);
    ::el_set(edit_, EL_HIST, &::history, history_);
    ::el_set(edit_, EL_ADDFN, "opdrift-complete", "completes a word", &EditReader::complete);
    ::el_set(edit_, EL_BIND, "^I", "opdrift-complete", nullptr);
    ::el_set(edit_, EL_BIND, "^R", "em-inc-search-prev", nullptr);
    ::el_source(edit_, nullptr);
    if (!options_.history_file.empty()) {
      ::history(history_, &event, H_LOAD, options_.history_file.c_str());
    }
  }
  EditReader(const EditReader&) = delete;
  EditReader& operator=(const EditReader&) = delete;

  ~EditReader() override {
    ::el_end(edit_);
    ::history_end(history_);
  }

  ReadLine read(const std::string& prompt) override {
    const WakeUp resized(SIGWINCH);
    const WakeUp continued(SIGCONT);
    prompt_ = prompt;
    interrupted_ = false;
    typed_.clear();
    ::el_resize(edit_);
    int count = 0;
    const char* text = ::el_gets(edit_, &count);
    if (interrupted_) {
      ::el_reset(edit_);
      std::fputs("\n", stdout);
      return {ReadState::interrupted, typed_};
    }
    if (text == nullptr || count <= 0) {
      return {};
    }
    std::string line(text, static_cast<std::size_t>(count));
    while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) {
      line.pop_back();
    }
    remember(line);
    return {ReadState::line, std::move(line)};
  }

 private:
  static EditReader& reader_of(EditLine* edit) {
    void* self = nullptr;
    ::el_get(edit, EL_CLIENTDATA, &self);
    return *static_cast<EditReader*>(self);
  }

  static char* prompt_text(EditLine* edit) { return reader_of(edit).prompt_.data(); }

  /// One character of standard input: 1, 0 at the end, -1 after Ctrl-C.
  static int next_character(EditLine* edit, wchar_t* character) {
    EditReader& reader = reader_of(edit);
    std::mbstate_t state{};
    while (true) {
      char byte = 0;
      const ssize_t count = ::read(STDIN_FILENO, &byte, 1);
      if (count == 1) {
        const std::size_t used = std::mbrtowc(character, &byte, 1, &state);
        if (used == static_cast<std::size_t>(-2)) {
          continue;  // the first bytes of a longer character
        }
        if (used == static_cast<std::size_t>(-1)) {
          state = std::mbstate_t{};
          continue;  // not a character of this locale
        }
        return 1;
      }
      if (count == 0 || errno != EINTR) {
        return 0;
      }
      if (reader.options_.interrupted && reader.options_.interrupted()) {
        reader.interrupted_ = true;
        reader.typed_ = before_cursor(edit);
        return -1;
      }
      ::el_resize(edit);
      ::el_set(edit, EL_PREP_TERM, 1);
      ::el_set(edit, EL_REFRESH);
    }
  }

  static std::string before_cursor(EditLine* edit) {
    const LineInfo* info = ::el_line(edit);
    return info->cursor > info->buffer ? std::string(info->buffer, info->cursor) : std::string();
  }

  static unsigned char complete(EditLine* edit, int /*key*/) {
    const EditReader& reader = reader_of(edit);
    if (!reader.options_.complete) {
      return CC_ERROR;
    }
    const std::string text = before_cursor(edit);
    const Completion found = reader.options_.complete(text);
    if (found.words.empty()) {
      return CC_REFRESH_BEEP;
    }
    const std::string typed = text.substr(std::min(found.from, text.size()));
    const std::string prefix = common_prefix(found.words);
    std::string more = prefix.size() > typed.size() ? prefix.substr(typed.size()) : std::string();
    if (found.words.size() == 1 && !prefix.ends_with('/')) {
      more += ' ';
    }
    if (!more.empty()) {
      ::el_insertstr(edit, more.c_str());
      return CC_REFRESH;
    }
    if (found.words.size() == 1) {
      return CC_REFRESH;
    }
    list_words(found.words, reader.columns());
    return CC_REDISPLAY;
  }

  std::size_t columns() const {
    int columns = 0;
    ::el_get(edit_, EL_GETTC, "co", &columns, nullptr);
    return columns > 0 ? static_cast<std::size_t>(columns) : 80;
  }

  void remember(const std::string& line) {
    if (trim(line).empty()) {
      return;
    }
    HistEvent event{};
    ::history(history_, &event, H_ENTER, line.c_str());
    if (options_.history_file.empty()) {
      return;
    }
    std::error_code ignored;
    std::filesystem::create_directories(std::filesystem::path(options_.history_file).parent_path(),
                                        ignored);
    ::history(history_, &event, H_SAVE, options_.history_file.c_str());
    ::chmod(options_.history_file.c_str(), S_IRUSR | S_IWUSR);
  }

  LineReaderOptions options_;
  EditLine* edit_;
  History* history_;
  std::string prompt_;
  std::string typed_;
  bool interrupted_ = false;
};

}  // namespace

std::unique_ptr<LineReader> make_line_reader(LineReaderOptions options) {
  if (!options.editing) {
    return make_plain_reader(std::move(options));
  }
  return std::make_unique<EditReader>(std::move(options));
}

}  // namespace opdrift::shell
