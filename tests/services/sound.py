"""Write a voice note, a tone in Opus and Ogg as a phone records it, by FFmpeg: FILE SECONDS
HERTZ. It is run in the folder's Python of the services, which has the library."""

import array
import math
import sys

import av

RATE = 48000
#: Samples of a frame.
PART = 960


def main(path, seconds, hertz):
    # A tone of whole hertz is the same in each second.
    tone = [round(9000 * math.sin(2 * math.pi * hertz * at / RATE)) for at in range(RATE)]
    parts = [array.array("h", tone[at : at + PART]).tobytes() for at in range(0, RATE, PART)]
    with av.open(path, "w", format="ogg") as container:
        stream = container.add_stream("libopus", rate=RATE, layout="mono")
        stream.bit_rate = 24000
        for number in range(seconds * RATE // PART):
            frame = av.AudioFrame(format="s16", layout="mono", samples=PART)
            frame.planes[0].update(parts[number % len(parts)])
            frame.sample_rate = RATE
            frame.pts = number * PART
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
