"""Describe a figure in words: one line per artist, as passed to Matplotlib, not as rendered.

Positions in axis units are plain numbers; all others are points from the lower left corner.
"""

import difflib
import itertools
import math
import re

import numpy as np
import pytest
from matplotlib.collections import Collection
from matplotlib.colors import to_hex
from matplotlib.image import AxesImage
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.text import Annotation, Text

from riskrank.render.figures.style import common_style

NUMBER = re.compile(r"(?<![#\w.])(-?\d+(?:\.\d+)?(?:e[-+]?\d+)?)(pt)?(?!\w)")
# Absolute tolerance of positions in points, and relative tolerance of other numbers.
POINTS, SHARE = 0.15, 2e-3


class Ruler:
    """Text measurement as if all letters had the same width."""

    dpi = 72

    def get_text_width_height_descent(self, text, font, ismath):
        return 0.58 * font.get_size() * len(text), 0.0, 0.0


def short(value):
    """Format a number with four digits, a colour in hexadecimal, and other values unchanged."""
    if isinstance(value, float | np.floating):
        return f"{value + 0.0:.4g}"
    if isinstance(value, np.ndarray | list | tuple):
        return "(" + " ".join(map(short, value)) + ")"
    return str(value)


def colors(value):
    """Format colours in hexadecimal; repeated ones are listed once."""
    rows = np.atleast_2d(np.array(value, dtype=object if isinstance(value, str) else float))
    names = [to_hex(row if len(row) > 1 else row[0], keep_alpha=len(row) > 3 and row[3] < 1) for row in rows]
    return " ".join(key for key, _ in itertools.groupby(names))


def places(artist, transform, xy):
    """Format positions in axis units, or in points of the page for artists with another transform."""
    if artist.axes is not None and transform == artist.axes.transData and artist.axes.axison:
        return " ".join(f"{short(float(x))},{short(float(y))}" for x, y in xy)
    points = transform.transform(np.asarray(xy, dtype=float)) if len(xy) else ()
    return " ".join(f"{x + 0.0:.1f}pt,{y + 0.0:.1f}pt" for x, y in points)


def of_text(text):
    how = [text.get_ha(), text.get_va(), text.get_fontsize(), text.get_fontweight(), colors(text.get_color())]
    how += [f"turned {text.get_rotation():g}"] if text.get_rotation() else []
    box = text.get_bbox_patch()
    more = [] if box is None else ["in", of_patch(box)]
    at = text.get_unitless_position()
    if isinstance(text, Annotation):
        more += ["off", short(text.xy), "by", short(text.xyann), str(text.anncoords)]
        more += [] if text.arrow_patch is None else [of_patch(text.arrow_patch)]
    else:
        more.insert(0, places(text, text.get_transform(), [at]))
    return " ".join([repr(text.get_text()), *map(short, how), *more])


def of_line(line):
    marker = [line.get_marker(), line.get_markersize(), colors(line.get_markerfacecolor())]
    marker += [colors(line.get_markeredgecolor()), line.get_markeredgewidth(), str(line.get_markevery())]
    how = [colors(line.get_color()), line.get_linewidth(), line.get_linestyle(), line.get_solid_capstyle()]
    how += [short(line._unscaled_dash_pattern), line.get_drawstyle()]
    how += marker if line.get_marker() not in ("", " ", "None", "none", None) else []
    return " ".join([*map(short, how), places(line, line.get_transform(), line.get_xydata())])


def of_patch(patch):
    how = [colors(patch.get_facecolor()), colors(patch.get_edgecolor()), patch.get_linewidth()]
    how += [patch.get_linestyle(), patch.get_hatch() or "plain", patch.get_antialiased()]
    path = patch.get_patch_transform().transform_path(patch.get_path())
    xy = path.vertices[: 40 if type(patch).__name__ != "FancyArrowPatch" else 0]
    location = places(patch, patch.get_data_transform(), xy)
    if type(patch).__name__ == "FancyArrowPatch":
        end_points = patch._posA_posB or ()
        how += [
            patch.get_mutation_scale(),
            type(patch.get_arrowstyle()).__name__,
            patch.shrinkA,
            patch.shrinkB,
        ]
        how += [
            patch.get_connectionstyle().__class__.__name__,
            short(vars(patch.get_connectionstyle()).values()),
        ]
        location = places(patch, patch.get_transform(), end_points)
    return " ".join([*map(short, how), location])


def of_collection(collection):
    how = [
        colors(collection.get_facecolor()),
        colors(collection.get_edgecolor()),
        short(collection.get_linewidths()),
    ]
    how += [short([float(size) for size in getattr(collection, "get_sizes", list)()])]
    offsets = np.ma.filled(collection.get_offsets(), math.nan)
    paths = [path.vertices for path in collection.get_paths()]
    if offsets.size and offsets.any():
        return " ".join([*how, places(collection, collection.get_offset_transform(), offsets)])
    return " ".join(
        [*how, *("|" + places(collection, collection.get_transform(), path) for path in paths[:60])]
    )


def of_image(image):
    values = np.ma.filled(np.ma.asarray(image.get_array(), dtype=float), math.nan)
    rows = values.reshape(-1, values.shape[-1]) if values.ndim > 2 else values
    some = short(rows[:: -(-len(rows) // 5)])
    return f"{short(values.shape)} {short(image.get_extent())} {image.get_interpolation()} {some}"


KINDS = (
    (Text, of_text),
    (Line2D, of_line),
    (Patch, of_patch),
    (Collection, of_collection),
    (AxesImage, of_image),
)


def artists(parent):
    """Describe the artists of axes or a figure in order, one line each."""
    for artist in parent:
        describe = next((describe for kind, describe in KINDS if isinstance(artist, kind)), None)
        if (
            describe is None
            or not artist.get_visible()
            or (isinstance(artist, Text) and not artist.get_text())
        ):
            continue
        about = f" of {artist.get_gid()}" if artist.get_gid() else ""
        clip = "" if artist.get_clip_on() else " unclipped"
        alpha = "" if artist.get_alpha() is None else f" alpha {short(artist.get_alpha())}"
        layer = f"layer {artist.get_zorder():g}{about}{clip}{alpha}"
        yield f"{type(artist).__name__.removeprefix('FillBetween')}: {describe(artist)}; {layer}"


def of_axis(name, axis):
    """Describe limits, label and tick labels of an axis."""
    low, high = axis.get_view_interval()
    yield f"{name} {short(float(low))} to {short(float(high))} {axis.get_scale()}"
    for kind, ticks in (("major", axis.get_major_ticks()), ("minor", axis.get_minor_ticks())):
        locations = axis.get_majorticklocs() if kind == "major" else axis.get_minorticklocs()
        formatter = axis.get_major_formatter() if kind == "major" else axis.get_minor_formatter()
        inside = (locations >= min(low, high) - 1e-9) & (locations <= max(low, high) + 1e-9)
        labels = [
            f"{short(float(at))} {text!r}"
            for at, text in zip(locations, formatter.format_ticks(locations), strict=True)
        ]
        labels = [text for text, visible in zip(labels, inside, strict=True) if visible]
        if labels:
            tick, label = ticks[0], ticks[0].label1
            visibility = [
                tick.tick1line.get_visible(),
                tick.label1.get_visible(),
                tick.gridline.get_visible(),
            ]
            how = [label.get_fontsize(), colors(label.get_color()), label.get_rotation(), tick.get_pad()]
            how += [tick.tick1line.get_markersize(), colors(tick.gridline.get_color())]
            yield f"{name} {kind}: {', '.join(labels)}; {short(visibility)} {short(how)}"
    if axis.label.get_text():
        label = axis.label
        how = (label.get_ha(), float(label.get_fontsize()), colors(label.get_color()))
        yield f"{name} label: {label.get_text()!r} {short(how)}"


def of_axes(axes):
    corners = axes.figure.transSubfigure.transform(axes.get_position().get_points())
    at = " ".join(f"{x:.1f}pt,{y:.1f}pt" for x, y in corners)
    spines = [name for name, spine in axes.spines.items() if spine.get_visible()]
    yield f"Axes: {at} {axes.get_gid()}; layer {axes.get_zorder():g}; {axes.axison and ' '.join(spines)}"
    if axes.axison:
        yield f"ground {colors(axes.get_facecolor())} {axes.patch.get_visible()} {axes.get_aspect()}"
        yield from of_axis("x", axes.xaxis)
        yield from of_axis("y", axes.yaxis)
    titles = [axes.title, axes._left_title, axes._right_title]
    yield from artists([*titles, *axes.lines, *axes.patches, *axes.collections, *axes.images, *axes.texts])
    yield from artists(axes.artists)


def describe_figure(figure):
    """Describe all elements of a figure."""
    with common_style():
        width, height = figure.get_size_inches() * 72
        yield f"sheet {width:.1f}pt {height:.1f}pt, heading {figure.heading:.1f}pt"
        yield f"panels {' '.join(f'{at:.1f}pt' for at in figure.panels)}"
        yield from artists(figure.texts)
        for axes in figure.axes:
            yield from of_axes(axes)


def hold(stored, output, update_stored):
    """Compare lines with those of a file, or write them to it."""
    before = stored.read_text("utf-8").splitlines()
    if update_stored:
        stored.write_text("\n".join(output) + "\n", "utf-8")
    elif len(output) != len(before) or not all(map(same, output, before)):
        changes = difflib.unified_diff(before, output, "stored", "made", lineterm="", n=0)
        pytest.fail("\n".join(["if this change is intended, rewrite the file with --write-made", *changes]))


def same(line, stored):
    """Return whether two lines agree, apart from differences between versions of Matplotlib."""
    if line == stored:
        return True
    if NUMBER.sub("#", line) != NUMBER.sub("#", stored):
        return False
    for (first, points), (second, _) in zip(NUMBER.findall(line), NUMBER.findall(stored), strict=True):
        tolerance = {"abs": POINTS, "rel": 0} if points else {"abs": 1e-9, "rel": SHARE}
        if float(first) != pytest.approx(float(second), **tolerance):
            return False
    return True
