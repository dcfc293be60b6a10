"""In place of the library of this name, whose weights are too large to fetch: FFmpeg decodes the
sound, and the words say how long and how high it is."""

import av


class Segment:
    def __init__(self, text):
        self.text = text


class WhisperModel:
    def __init__(self, path):
        self.path = path

    def transcribe(self, audio, **options):
        """The segments of a file with sound, and None for the facts."""
        crossings = samples = 0
        last = 0
        with av.open(audio, "r") as container:
            resampler = av.AudioResampler("s16", "mono", 16000)
            for frame in container.decode(audio=0):
                for part in resampler.resample(frame):
                    data = memoryview(bytes(part.planes[0])[: part.samples * 2]).cast("h")
                    samples += len(data)
                    for value in data:
                        crossings += last < 0 <= value
                        last = value
        if not samples:
            raise ValueError("no sound")
        seconds = samples / 16000
        text = f" {round(seconds)} seconds of {round(crossings / seconds, -1):.0f} hertz"
        if options.get("language"):
            text += f" in {options['language']}"
        return [Segment(text)], None
