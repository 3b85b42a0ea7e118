"""Pictures as SVG, by hand: shapes and text on a light card, readable on any page."""

from xml.sax.saxutils import escape, quoteattr

INK, PALE, LINE = "#1f2933", "#52606d", "#cbd2d9"
BLUE, ORANGE, GREEN, VIOLET = "#3b76c4", "#d9822b", "#3a9b6f", "#8a63c9"


class Picture:
    def __init__(self, width, height, title):
        self.parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}" font-family="sans-serif" role="img">',
            f"<title>{escape(title)}</title>",
            f'<rect width="{width}" height="{height}" rx="8" fill="#ffffff"/>']

    def add(self, tag, content=None, **attributes):
        text = " ".join(f"{name.replace('_', '-')}={quoteattr(number(value))}"
                        for name, value in attributes.items())
        end = "/>" if content is None else f">{escape(content)}</{tag}>"
        self.parts.append(f"<{tag} {text}{end}")

    def box(self, x, y, width, height, fill, stroke="none", rx=4):
        self.add("rect", x=x, y=y, width=width, height=height, rx=rx, fill=fill, stroke=stroke)

    def text(self, x, y, content, size=13, fill=INK, anchor="start", weight="normal", mono=False):
        family = {"font_family": "monospace"} if mono else {}
        self.add("text", content, x=x, y=y, font_size=size, fill=fill, text_anchor=anchor,
                 font_weight=weight, **family)

    def line(self, points, stroke=LINE, width=1):
        self.add("polyline", points=" ".join(f"{number(x)},{number(y)}" for x, y in points),
                 fill="none", stroke=stroke, stroke_width=width, stroke_linejoin="round")

    def arrow_down(self, x, y, length):
        self.line([(x, y), (x, y + length - 5)], PALE, 1.5)
        self.add("path", d=f"M{x - 4} {y + length - 6} L{x} {y + length} L{x + 4} "
                           f"{y + length - 6} Z", fill=PALE)

    def svg(self):
        return "\n".join([*self.parts, "</svg>", ""])


def number(value):
    """Coordinates to two places, without zeros behind: files change where pictures do."""
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
