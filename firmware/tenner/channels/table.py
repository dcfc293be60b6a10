# tenner channels.table: turns a Markdown table into aligned text, for chats without tables.
# MIT license; Copyright (c) 2026 the tenner authors


def aligned(rows: list[bytes]) -> bytes | None:
    """Return rows of Markdown as lines of equal columns; None when the second row is no
    `|---|:-:|`."""
    ruler = rows[1].replace(b" ", b"")
    if b"-" not in ruler or ruler.strip(b"|:-"):
        return None
    grid = [_cells(row) for row in rows if row is not rows[1]]
    widths = []
    for row in grid:
        for column, cell in enumerate(row):
            if column == len(widths):
                widths.append(0)
            widths[column] = max(widths[column], len(cell.decode()))
    lines = []
    for row in grid:
        padded = []
        for column, cell in enumerate(row):
            padded.append(cell + b" " * (widths[column] - len(cell.decode())))
        lines.append(b" | ".join(padded).rstrip())
    lines.insert(1, b"-+-".join([b"-" * width for width in widths]))
    return b"\n".join(lines)


def _cells(row):
    """Return the cells of a row, without marks that have no effect in fixed-width text."""
    found = []
    for cell in row.strip()[1:-1].replace(b"\\|", b"\0").split(b"|"):
        for mark in (b"**", b"`", b"__"):
            if cell.count(mark) > 1:
                cell = cell.replace(mark, b"")
        cell = cell.replace(b"<br>", b" ").replace(b"<br/>", b" ")
        found.append(cell.strip().replace(b"\0", b"|"))
    return found
