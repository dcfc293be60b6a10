# tenner channels.table: a Markdown table as aligned text, for a chat that has no tables.
# MIT license; Copyright (c) 2026 the tenner authors


def is_ruler(line):
    """Is this line the `|---|:-:|` under a table's head?"""
    bare = line.replace(b" ", b"")
    return b"-" in bare and not bare.strip(b"|:-")


def cells(line):
    """Return the cells of a row as bytes, marks that mean nothing in fixed-width text taken off."""
    body = line.strip().replace(b"\\|", b"\x00")
    found = []
    for cell in body[1:-1].split(b"|"):
        for mark in (b"**", b"`", b"__"):
            if cell.count(mark) > 1:
                cell = cell.replace(mark, b"")
        cell = cell.replace(b"<br>", b" ").replace(b"<br/>", b" ")
        found.append(cell.strip().replace(b"\x00", b"|"))
    return found


def aligned(rows):
    """Return the table as lines of equal columns; rows[1] is the ruler."""
    grid = [cells(row) for number, row in enumerate(rows) if number != 1]
    widths = []
    for row in grid:
        for column, cell in enumerate(row):
            if column == len(widths):
                widths.append(0)
            widths[column] = max(widths[column], len(cell.decode()))
    lines = []
    for row in grid:
        line = b" | ".join(
            cell + b" " * (widths[column] - len(cell.decode())) for column, cell in enumerate(row)
        )
        lines.append(line.rstrip())
        if len(lines) == 1:
            lines.append(b"-+-".join(b"-" * width for width in widths))
    return b"\n".join(lines)
