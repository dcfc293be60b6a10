# tenner tools.find_skills: searches the owner's index of skills.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.tools.skill_index import entries
from tenner.tools.untrusted import mark_untrusted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.tools.types import ToolContext

NEEDS = "skills.index"
RESULT_CAP = 2048
LIMITS = {"query": (None, 200)}
OUTSIDE = True


async def run(args: dict, ctx: "ToolContext") -> str:
    words = args.get("query", "").lower().split()
    found = []

    def take(name, description, _):
        line = "%s: %s" % (name, description)
        if all(word in line.lower() for word in words):
            found.append(line)

    http = ctx.http()
    try:
        await entries(ctx, http, take)
    finally:
        await http.close()
    return mark_untrusted("index of skills", "\n".join(found) or "no skill has these words")
