"""The smallest heap in which a board answers a photo or a voice note."""

from __future__ import annotations

from tenner_sim.services import API_KEY, OWNER, OfflineModel
from tests import photos
from tests.bench import heap
from tests.bench.agent import Died, agent


def photo_turn(heap_kb: int) -> None:
    """One turn about a photo of the usual size; Died when it does not fit."""
    data = photos.sizes()[(800, 600)]
    with agent(heap_kb) as running:
        running.idle()
        telegram = running.services.telegram
        telegram.attach(OWNER, "photo", "what is it?", sizes=photos.sizes())
        running.wait_sent(1)
        if telegram.sent[0].text != f"I see image/jpeg, {len(data)} bytes.":
            raise Died(f"answered {telegram.sent[0].text[:200]!r}; {running.last()}")


def photo_min_kb() -> float:
    return heap.smallest_kb(photo_turn)


def voice_turn(heap_kb: int) -> None:
    """One turn about a voice note of eight seconds; Died when it does not fit."""
    with OfflineModel() as hears:
        settings: dict[str, object] = {"voice": {"url": hears.base_url, "key": API_KEY}}
        with agent(heap_kb, settings=settings) as running:
            running.idle()
            telegram = running.services.telegram
            telegram.attach(OWNER, "voice", data=photos.voice_note())
            running.wait_sent(2)
            if not telegram.sent[1].text.startswith("hello from a voice note"):
                raise Died(f"answered {telegram.sent[1].text[:200]!r}; {running.last()}")


def voice_min_kb() -> float:
    return heap.smallest_kb(voice_turn)
