"""`POST /v1/audio/transcriptions`: the form, strictly read by the standard library's parser of
MIME."""

from __future__ import annotations

import email.errors
import email.parser
import email.policy
from email.message import EmailMessage

from .records import Call
from .refusal import Refusal

#: Bytes of a file, as OpenAI documents them.
_MOST_BYTES = 25 * 1024 * 1024
_ENDINGS = ("flac", "m4a", "mp3", "mp4", "mpeg", "mpga", "oga", "ogg", "wav", "webm")
_FIELDS = ("file", "model", "language", "prompt", "response_format", "temperature")
_MARKS = {"ogg": b"OggS", "oga": b"OggS", "wav": b"RIFF", "flac": b"fLaC"}
_STRICT = email.policy.HTTP.clone(raise_on_defect=True)


def check(call: Call, models: tuple[str, ...]) -> bytes:
    """Return the sound in a request; raise Refusal for one that the service refuses."""
    fields = _form(call)
    for name in fields:
        if name not in _FIELDS:
            raise Refusal(f"Unrecognized request argument supplied: {name}", param=name)
    model = _text(fields, "model")
    if model not in models:
        raise Refusal(f"The model `{model}` does not exist.", 404)
    if _text(fields, "response_format") not in ("json", "text", "verbose_json"):
        raise Refusal("Invalid response_format", param="response_format")
    if "language" in fields and not (len(_text(fields, "language")) == 2):
        raise Refusal("Language parameter must be specified in ISO-639-1 format.")
    part = fields.get("file")
    file_name = part.get_filename() if part is not None else None
    if part is None or not file_name:
        raise Refusal("file: Field required", param="file")
    ending = file_name.rpartition(".")[2]
    if ending not in _ENDINGS:
        raise Refusal(f"Unrecognized file format. Supported formats: {list(_ENDINGS)}")
    data = part.get_payload(decode=True)
    assert isinstance(data, bytes)
    if len(data) > _MOST_BYTES:
        raise Refusal(f"Maximum content size limit ({_MOST_BYTES}) exceeded", 413)
    if not data.startswith(_MARKS.get(ending, b"")) or len(data) < 100:
        raise Refusal("Audio file might be corrupted or unsupported", param="file")
    return data


def _form(call: Call) -> dict[str, EmailMessage]:
    kind = call.request.headers.get("content-type", "")
    if not kind.startswith("multipart/form-data; boundary="):
        raise Refusal(f"Invalid Content-Type {kind[:40]!r}: expected multipart/form-data")
    head = f"MIME-Version: 1.0\r\nContent-Type: {kind}\r\n\r\n".encode()
    try:
        form = email.parser.BytesParser(EmailMessage, policy=_STRICT).parsebytes(
            head + call.request.body
        )
    except (email.errors.MessageError, ValueError) as exc:
        raise Refusal(f"Could not parse multipart form: {exc!r}") from exc
    found: dict[str, EmailMessage] = {}
    for part in form.iter_parts():
        assert isinstance(part, EmailMessage)
        name = part.get_param("name", header="content-disposition")
        if part.get_content_disposition() != "form-data" or not isinstance(name, str):
            raise Refusal("Could not parse multipart form: a part without a name")
        if name in found:
            raise Refusal(f"{name} stands twice in the form")
        found[name] = part
    if form.preamble or (form.epilogue or "").strip():
        raise Refusal("Could not parse multipart form: text beside the parts")
    return found


def _text(fields: dict[str, EmailMessage], name: str) -> str:
    part = fields.get(name)
    if part is None:
        raise Refusal(f"{name}: Field required", param=name)
    data = part.get_payload(decode=True)
    assert isinstance(data, bytes)
    return data.decode("utf-8")
