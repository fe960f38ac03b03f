// SPDX-License-Identifier: Apache-2.0
#include "tools/page/page.h"

#include <string_view>

#include "analysis/base/display.h"
#include "analysis/base/text.h"
#include "tools/page/page_data.h"
#include "tools/page/page_parts.h"
#include "tools/page/still_view.h"
#include "tools/show/sources.h"

namespace gable {
namespace {

// One run's command; of several the files' names, as one name does not stand for all of them.
std::string title_of(const std::vector<Report>& reports, const std::vector<std::string>& files,
                     bool compared) {
  std::string title = "Gable";
  if (compared && reports.size() == 2) {
    title += " " + source_mark(reports) + files[0] + " -> " + files[1];
  } else if (!reports.empty()) {
    title += " " + source_mark(reports) + shown_command(reports.front().run);
  }
  return clean_name(one_line(title), 200);
}

}  // namespace

std::string render_page(const std::vector<Report>& reports, const std::vector<std::string>& files,
                        const std::string& comparison) {
  // The template has each of these once, alone on a line.
  std::string out;
  std::string_view rest = page_template();
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    const std::string_view line = rest.substr(0, end);
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    if (line == "@TITLE@") {
      out += "<title>" + html_text(title_of(reports, files, !comparison.empty())) + "</title>";
    } else if (line == "@STYLE@") {
      out += page_style();
    } else if (line == "@STILL@") {
      out += still_view(reports, files);
    } else if (line == "@D3@") {
      out += page_d3();
    } else if (line == "@DATA@") {
      out += page_data(reports, files, comparison);
    } else if (line == "@SCRIPT@") {
      out += page_script();
    } else {
      out += line;
    }
    out += '\n';
  }
  return out;
}

}  // namespace gable
