"""The files of a page, as routes."""

from __future__ import annotations

import mimetypes
from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from tenner_host import page_files


def page_routes(files: dict[str, bytes]) -> list[Route]:
    """Every file by its name; the folder itself is index.html."""
    found = {f"/{name}": data for name, data in files.items()}
    found["/"] = found["/index.html"]
    return [Route(path, _sends(path, data), methods=["GET"]) for path, data in found.items()]


def _sends(path: str, data: bytes) -> Callable[[Request], Response]:
    kind = mimetypes.guess_type("index.html" if path == "/" else path)[0] or "text/plain"
    if path.endswith(".js"):
        # Some systems know another name for it, which a browser then refuses.
        kind = "text/javascript"
    packed = page_files.packed(data)

    def send(request: Request) -> Response:
        headers = {"cache-control": "no-cache", "vary": "Accept-Encoding"}
        if "gzip" not in request.headers.get("accept-encoding", ""):
            return Response(data, media_type=kind, headers=headers)
        headers["content-encoding"] = "gzip"
        return Response(packed, media_type=kind, headers=headers)

    return send
