"""Write a voice note, a tone in Opus and Ogg as a phone records it, by FFmpeg: FILE SECONDS
HERTZ. It is run in the folder's Python of the services, which has the library."""

import array
import math
import sys

import av

RATE = 48000


def main(path, seconds, hertz):
    with av.open(path, "w", format="ogg") as container:
        stream = container.add_stream("libopus", rate=RATE, layout="mono")
        stream.bit_rate = 24000
        for start in range(0, seconds * RATE, 960):
            times = range(start, start + 960)
            data = [round(9000 * math.sin(2 * math.pi * hertz * at / RATE)) for at in times]
            frame = av.AudioFrame(format="s16", layout="mono", samples=960)
            frame.planes[0].update(array.array("h", data).tobytes())
            frame.sample_rate = RATE
            frame.pts = start
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
