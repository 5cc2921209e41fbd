"""SVG for a page: text stays text, colours are CSS variables, and no more than what is seen is written.

Matplotlib's own SVG is made to stand alone: it has colours and fonts of its own, and some kilobytes of names for parts
that nobody asks for.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from matplotlib.backend_bases import GraphicsContextBase, RendererBase
from matplotlib.colors import to_hex
from matplotlib.path import Path
from matplotlib.transforms import Affine2D, Transform

from ringtrue.report.charts.canvas import HALO, PIXEL
from ringtrue.report.charts.text_metrics import FONT_SIZE, text_width

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.font_manager import FontProperties
    from matplotlib.text import Text

_PATH_COMMANDS = {Path.MOVETO: "M", Path.LINETO: "L", Path.CURVE3: "Q", Path.CURVE4: "C", Path.CLOSEPOLY: "Z"}
_ANCHORS = {"center": "middle", "right": "end"}
_ASCENT, _DESCENT = 0.76, 0.24  # of the size of letters


class InlineSvgRenderer(RendererBase):
    """Draws what Matplotlib asks for as elements of SVG; `css_colours` has CSS values for placeholder colours."""

    def __init__(self, width: float, height: float, css_colours: Mapping[str, str], prefix: str) -> None:
        super().__init__()
        self.width, self.height, self._css_colours, self._prefix = width, height, css_colours, prefix
        self.elements: list[str] = []
        self._clips: dict[tuple[float, ...], str] = {}

    def get_canvas_width_height(self) -> tuple[float, float]:
        """The size of the sheet."""
        return self.width, self.height

    def points_to_pixels(self, points: Any) -> Any:
        """Pixels of CSS."""
        return points / PIXEL

    def get_text_width_height_descent(
        self,
        s: str,
        prop: FontProperties,
        ismath: Any,  # noqa: ARG002 -- Matplotlib's signature
    ) -> tuple[float, float, float]:
        """How large a text will be, nearly; the browser has a font of its own."""
        size = float(prop.get_size_in_points()) / PIXEL
        return text_width(s, size, bold=_is_bold(prop)), size * (_ASCENT + _DESCENT), size * _DESCENT

    def draw_path(self, gc: GraphicsContextBase, path: Path, transform: Transform, rgbFace: Any = None) -> None:  # noqa: N803 -- Matplotlib's name
        """One path with its paint."""
        self._append_path(gc, self._path_data(path, transform, simplify=rgbFace is None), rgbFace)

    def draw_markers(
        self,
        gc: GraphicsContextBase,
        marker_path: Path,
        marker_trans: Transform,
        path: Path,
        trans: Transform,
        rgbFace: Any = None,  # noqa: N803 -- Matplotlib's name
    ) -> None:
        """All markers of a line as one path."""
        marker_paths = [
            self._path_data(marker_path, marker_trans + Affine2D().translate(*vertices[-2:]), simplify=False)
            for vertices, _ in path.iter_segments(trans, simplify=False)
        ]
        self._append_path(gc, "".join(marker_paths), rgbFace)

    def draw_text(
        self,
        gc: GraphicsContextBase,
        x: float,
        y: float,
        s: str,
        prop: FontProperties,
        angle: float,
        ismath: Any = False,  # noqa: ARG002 -- Matplotlib's signature
        mtext: Text | None = None,
    ) -> None:
        """One line of text, held where it is aligned, so that it stays there in a font that is wider or narrower."""
        size = float(prop.get_size_in_points()) / PIXEL
        anchor = "" if mtext is None or angle else mtext.get_horizontalalignment()
        x += {"center": 0.5, "right": 1.0}.get(anchor, 0.0) * text_width(s, size, bold=_is_bold(prop))
        rotation = (
            f'transform="rotate(-{_format_two_decimals(angle)} {_format_two_decimals(x)} {_format_two_decimals(y)})" '
            if angle
            else ""
        )
        anchor_attribute = f' text-anchor="{_ANCHORS[anchor]}"' if anchor in _ANCHORS else ""
        style = "" if size == FONT_SIZE else f"font-size:{_format_two_decimals(size)}px;"
        style += "font-weight:700;" if _is_bold(prop) else ""
        style += (
            "paint-order:stroke;stroke:var(--ground);stroke-width:3px;" if mtext and mtext.get_gid() == HALO else ""
        )
        style += f"fill:{self._css_colour(gc.get_rgb())}"
        self.elements.append(
            f'<text {rotation}x="{_format_two_decimals(x)}" y="{_format_two_decimals(y)}"{anchor_attribute} '
            f'style="{style}">{escape(s)}</text>'
        )

    def _path_data(self, path: Path, transform: Transform, *, simplify: bool) -> str:
        flipped = transform + Affine2D().scale(1, -1).translate(0, self.height)
        segments = path.iter_segments(flipped, remove_nans=True, simplify=simplify and path.should_simplify)
        return "".join(
            _PATH_COMMANDS[code] + ("" if code == Path.CLOSEPOLY else " ".join(map(_format_two_decimals, vertices)))
            for vertices, code in segments
            if code != Path.STOP
        )

    def _append_path(self, gc: GraphicsContextBase, path_data: str, face: Any) -> None:
        width = self.points_to_pixels(gc.get_linewidth())
        alpha = gc.get_alpha() if gc.get_forced_alpha() else None
        fill_opacity = None if face is None else (face[3] if len(face) > 3 else 1.0) if alpha is None else alpha
        stroke_opacity = gc.get_rgb()[3] if alpha is None else alpha
        if not path_data or not (fill_opacity or (width and stroke_opacity)):
            return
        style = [f"fill:{self._css_colour(face)}" if fill_opacity else "fill:none"]
        if fill_opacity and fill_opacity < 1:
            style.append(f"fill-opacity:{_format_two_decimals(fill_opacity)}")
        if width and stroke_opacity:
            style += [f"stroke:{self._css_colour(gc.get_rgb())}", f"stroke-width:{_format_two_decimals(width)}"]
            style += [f"stroke-opacity:{_format_two_decimals(stroke_opacity)}"] if stroke_opacity < 1 else []
            dashes: Any = gc.get_dashes()[1]
            if dashes is not None:
                style.append(
                    "stroke-dasharray:"
                    + ",".join(_format_two_decimals(self.points_to_pixels(length)) for length in dashes)
                )
        self.elements.append(f'<path{self._clip_attribute(gc)} d="{path_data}" style="{";".join(style)}"/>')

    def _clip_attribute(self, gc: GraphicsContextBase) -> str:
        box = gc.get_clip_rectangle()
        if box is None:
            return ""
        bounds = tuple(round(float(bound), 2) for bound in (box.x0, self.height - box.y1, box.width, box.height))
        if bounds not in self._clips:
            self._clips[bounds] = f"{self._prefix}-clip-{len(self._clips) + 1}"
            attributes = " ".join(
                f'{name}="{_format_two_decimals(bound)}"'
                for name, bound in zip(("x", "y", "width", "height"), bounds, strict=True)
            )
            self.elements.append(f'<clipPath id="{self._clips[bounds]}"><rect {attributes}/></clipPath>')
        return f' clip-path="url(#{self._clips[bounds]})"'

    def _css_colour(self, colour: Any) -> str:
        code = to_hex(colour)
        return self._css_colours.get(code, code)


def _is_bold(prop: FontProperties) -> bool:
    return prop.get_weight() == "bold"


def _format_two_decimals(number: float) -> str:
    """A number with two decimals at most."""
    return f"{round(number, 2) + 0.0:.2f}".rstrip("0").rstrip(".")
