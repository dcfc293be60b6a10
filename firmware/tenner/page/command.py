# tenner page.command: /page and /web.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.channels import question

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.types import Reporting


def command(app: "Reporting", name: str, args: str, channel: str, chat: int | str) -> str:
    """Return the answer to `/page [guest]`; see channels.commands."""
    page = app.page
    if page is None:
        return (
            "This agent serves no page: set web.enabled, and run `tenner sync` for a board "
            "on USB. `tenner web` on your computer shows any board."
        )
    if not question.is_owner(app, channel, chat):
        return "Only the owner opens the page."
    if channel == "page":
        return "Guests read this chat: send it on the console or on Telegram."
    if args and args != "guest":
        return "expected nothing, or guest: a guest only looks"
    return ("A guest only looks. " if args else "") + page.offer(bool(args))
