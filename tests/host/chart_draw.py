"""Draw charts on any interpreter: `chart_draw.py CASES.json FOLDER` writes FOLDER/<number>.png for
each case."""

import asyncio
import json
import sys

from tenner.chart import layout, picture
from tenner.store.posix_tz import Zone


async def draw(case, path):
    async def visit(take):
        for time, value in case["readings"]:
            take(time, value)

    with open(path, "wb") as file:
        zone = Zone(case["zone"][0])
        since, until = case["since"], case["until"]
        bands, levels = case["bands"], case["levels"]
        found = await layout.make(
            case["name"], case["unit"], zone, since, until, visit, bands, levels
        )
        await picture.draw(file.write, found)


def main(cases, folder):
    with open(cases) as file:
        for number, case in enumerate(json.load(file)):
            asyncio.run(draw(case, "%s/%d.png" % (folder, number)))


main(*sys.argv[1:])
