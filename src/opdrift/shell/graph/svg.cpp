#include <algorithm>
#include <numeric>

#include "opdrift/base/text.hpp"
#include "opdrift/report/xml_text.hpp"
#include "opdrift/shell/graph/neighbours.hpp"
#include "opdrift/shell/graph/verdict_colour.hpp"

namespace opdrift::shell {

namespace {

constexpr int kCharacter = 7;  ///< width of a letter of the 12 px monospaced font
constexpr int kMargin = 20;
constexpr int kGap = 24;
constexpr int kBoxHeight = 58;
constexpr int kLayerHeight = 110;
constexpr std::size_t kMostLetters = 36;
constexpr int kSweeps = 4;

struct Box {
  std::size_t layer = 0;
  int x = 0;
  int width = 0;
  std::string title;
  std::string name;
  std::string shape;

  int centre() const { return x + width / 2; }
  int top() const { return kMargin + static_cast<int>(layer) * kLayerHeight; }
};

std::string shape_of(const Node& node) {
  if (node.output_ports.empty()) {
    return {};
  }
  std::vector<std::string> extents;
  for (const std::int64_t extent : node.output_ports.front().shape) {
    extents.push_back(std::to_string(extent));
  }
  return node.output_ports.front().dtype + " [" + join(extents, ",") + "]";
}

std::string cut(const std::string& text) {
  return ellipsize_middle(printable(text), kMostLetters);
}

/// Places of the boxes: layers, then order within them.
class Layout {
 public:
  explicit Layout(const Neighbourhood& part) : part_(part), boxes_(part.nodes.size()) {
    for (std::size_t k = 0; k < boxes_.size(); ++k) {
      const Node& node = *part.nodes[k];
      Box& box = boxes_[k];
      box.title = cut("[" + node.type + "]");
      box.name = cut(node.name);
      box.shape = cut(shape_of(node));
      const std::size_t letters =
          std::max({display_width(box.title), display_width(box.name), display_width(box.shape)});
      box.width = static_cast<int>(letters) * kCharacter + 2 * 8;
    }
    set_layers();
    order_layers();
    set_places();
  }

  const std::vector<Box>& boxes() const { return boxes_; }
  int width() const { return width_; }
  int height() const {
    return 2 * kMargin + static_cast<int>(layers_.size()) * kLayerHeight -
           (kLayerHeight - kBoxHeight);
  }

 private:
  /// The longest way from a source; edges against the order of execution (loops) are not counted.
  /// Sources themselves stand right above the first operator that takes them.
  void set_layers() {
    std::vector<std::size_t> order(boxes_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [this](std::size_t x, std::size_t y) {
      return part_.nodes[x]->id < part_.nodes[y]->id;
    });
    std::vector<std::size_t> rank(boxes_.size());
    for (std::size_t k = 0; k < order.size(); ++k) {
      rank[order[k]] = k;
    }
    std::vector<std::vector<std::size_t>> sources(boxes_.size());
    std::vector<std::vector<std::size_t>> takers(boxes_.size());
    for (const DrawnEdge& edge : part_.edges) {
      if (rank[edge.from] < rank[edge.to]) {
        sources[edge.to].push_back(edge.from);
        takers[edge.from].push_back(edge.to);
      }
    }
    for (const std::size_t box : order) {
      for (const std::size_t source : sources[box]) {
        boxes_[box].layer = std::max(boxes_[box].layer, boxes_[source].layer + 1);
      }
    }
    for (const std::size_t box : order) {
      if (sources[box].empty() && !takers[box].empty()) {
        boxes_[box].layer = first_layer(takers[box]) - 1;
      }
      layers_.resize(std::max(layers_.size(), boxes_[box].layer + 1));
      layers_[boxes_[box].layer].push_back(box);
    }
  }

  /// The uppermost layer of some boxes; none of these is a source.
  std::size_t first_layer(const std::vector<std::size_t>& boxes) const {
    std::size_t layer = boxes_[boxes.front()].layer;
    for (const std::size_t box : boxes) {
      layer = std::min(layer, boxes_[box].layer);
    }
    return layer;
  }

  /// Every box moves to the mean place of its neighbours in the layer above, then below, in turns.
  void order_layers() {
    std::vector<std::vector<std::size_t>> neighbours(boxes_.size());
    for (const DrawnEdge& edge : part_.edges) {
      neighbours[edge.from].push_back(edge.to);
      neighbours[edge.to].push_back(edge.from);
    }
    std::vector<double> place(boxes_.size());
    const auto number = [&place](const std::vector<std::size_t>& layer) {
      for (std::size_t k = 0; k < layer.size(); ++k) {
        place[layer[k]] = (static_cast<double>(k) + 0.5) / static_cast<double>(layer.size());
      }
    };
    std::for_each(layers_.begin(), layers_.end(), number);
    for (int sweep = 0; sweep < kSweeps; ++sweep) {
      const bool down = sweep % 2 == 0;
      for (std::size_t step = 0; step < layers_.size(); ++step) {
        std::vector<std::size_t>& layer = layers_[down ? step : layers_.size() - 1 - step];
        sort_layer(layer, down, neighbours, place);
        number(layer);
      }
    }
  }

  void sort_layer(std::vector<std::size_t>& layer, bool down,
                  const std::vector<std::vector<std::size_t>>& neighbours,
                  const std::vector<double>& place) const {
    std::vector<std::pair<double, std::size_t>> wanted;
    for (const std::size_t box : layer) {
      double sum = 0.0;
      std::size_t count = 0;
      for (const std::size_t other : neighbours[box]) {
        if ((boxes_[other].layer < boxes_[box].layer) == down) {
          sum += place[other];
          ++count;
        }
      }
      wanted.emplace_back(count == 0 ? place[box] : sum / static_cast<double>(count), box);
    }
    std::stable_sort(wanted.begin(), wanted.end(),
                     [](const auto& x, const auto& y) { return x.first < y.first; });
    std::transform(wanted.begin(), wanted.end(), layer.begin(),
                   [](const auto& entry) { return entry.second; });
  }

  void set_places() {
    std::vector<int> widths;
    for (const std::vector<std::size_t>& layer : layers_) {
      int x = kMargin;
      for (const std::size_t box : layer) {
        boxes_[box].x = x;
        x += boxes_[box].width + kGap;
      }
      widths.push_back(x - kGap + kMargin);
      width_ = std::max(width_, widths.back());
    }
    for (std::size_t k = 0; k < layers_.size(); ++k) {
      for (const std::size_t box : layers_[k]) {
        boxes_[box].x += (width_ - widths[k]) / 2;
      }
    }
  }

  const Neighbourhood& part_;
  std::vector<Box> boxes_;
  std::vector<std::vector<std::size_t>> layers_;
  int width_ = 0;
};

std::string text_at(int x, int y, const std::string& text, std::string_view weight) {
  return "<text x=\"" + std::to_string(x) + "\" y=\"" + std::to_string(y) +
         "\" text-anchor=\"middle\" font-weight=\"" + std::string(weight) + "\">" +
         report::xml_text(text) + "</text>\n";
}

std::string box_text(const Box& box, const Node& node, bool root, const Verdicts& verdicts) {
  const std::string_view fill = fill_of(node, verdicts);
  std::string text = "<g><title>" + report::xml_text(node.name) + "</title><rect x=\"" +
                     std::to_string(box.x) + "\" y=\"" + std::to_string(box.top()) + "\" width=\"" +
                     std::to_string(box.width) + "\" height=\"" + std::to_string(kBoxHeight) +
                     "\" rx=\"6\" fill=\"" + (fill.empty() ? "#f2f2f2" : std::string(fill)) +
                     "\" stroke=\"" + (root ? "#d00000" : "#555555") + "\" stroke-width=\"" +
                     (root ? "3" : "1") + "\"/>\n";
  text += text_at(box.centre(), box.top() + 17, box.title, "bold");
  text += text_at(box.centre(), box.top() + 33, box.name, "normal");
  text += text_at(box.centre(), box.top() + 49, box.shape, "normal");
  return text + "</g>\n";
}

std::string edge_text(const Box& from, const Box& to) {
  const int start = from.top() + kBoxHeight;
  const int end = to.top();
  const int bend = std::max(20, (end - start) / 2);
  return "<path d=\"M" + std::to_string(from.centre()) + " " + std::to_string(start) + " C" +
         std::to_string(from.centre()) + " " + std::to_string(start + bend) + " " +
         std::to_string(to.centre()) + " " + std::to_string(end - bend) + " " +
         std::to_string(to.centre()) + " " + std::to_string(end) +
         "\" fill=\"none\" stroke=\"#555555\" marker-end=\"url(#arrow)\"/>\n";
}

}  // namespace

std::string svg_text(const Neighbourhood& part, const Verdicts& verdicts) {
  const Layout layout(part);
  const std::string width = std::to_string(layout.width());
  const std::string height = std::to_string(layout.height());
  std::string text = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + width + "\" height=\"" +
                     height + "\" viewBox=\"0 0 " + width + " " + height +
                     "\" font-family=\"monospace\" font-size=\"12\">\n"
                     "<defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" "
                     "markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\">"
                     "<path d=\"M0 0 L8 4 L0 8 z\" fill=\"#555555\"/></marker></defs>\n"
                     "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
  for (const DrawnEdge& edge : part.edges) {
    text += edge_text(layout.boxes()[edge.from], layout.boxes()[edge.to]);
  }
  for (std::size_t k = 0; k < part.nodes.size(); ++k) {
    text += box_text(layout.boxes()[k], *part.nodes[k], k == 0, verdicts);
  }
  return text + "</svg>\n";
}

}  // namespace opdrift::shell
