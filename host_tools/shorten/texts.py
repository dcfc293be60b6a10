"""Lets the short texts of a module go when the module goes.

mpy-cross makes a name of every text of up to ten bytes in the source, and names stay in RAM for ever. The text of a
module that a small board loads and lets go of becomes an object of that module instead, unless it names something
there too. (Where RAM has a name of that text already, loading the object finds it.) A keyword of a call stays
a name: that is all a function in Python knows it by.
"""

from __future__ import annotations

from host_tools.shorten import bytecode, mpy

_STRING_OBJECT = b"\x05"


def with_own_texts(compiled: bytes, keywords: frozenset[str] = frozenset()) -> bytes:
    """The .mpy with objects for texts that are names now; itself, if its format is another one."""
    module = mpy.read(compiled)
    if module is None:
        return compiled
    codes = list(module.codes())
    #: Numbers in the table of names; the first is the file's.
    texts: set[int] = set()
    names = {0}
    for code in codes:
        steps, head = bytecode.parts(code.function)
        names.update(head)
        for step in steps:
            if step.names:
                (texts if step.opcode == bytecode.LOAD_CONST_STRING else names).add(step.number())
    objects: dict[int, int] = {}
    for number in sorted(texts - names):
        text = mpy.text(module.names[number])
        if text is not None and text.decode() not in keywords:
            objects[number] = module.object_count
            module.objects += _STRING_OBJECT + mpy.number(len(text)) + text + b"\0"
            module.object_count += 1
    kept = [number for number in range(len(module.names)) if number not in objects]
    module.names = [module.names[number] for number in kept]
    place = {number: index for index, number in enumerate(kept)}

    def change(steps: list[bytecode.Step]) -> list[bytecode.Step]:
        for step in steps:
            if step.names:
                number = step.number()
                if number in objects:
                    step.opcode = bytecode.LOAD_CONST_OBJ
                step.rest = mpy.number(objects.get(number, place.get(number, 0)))
        return steps

    for code in codes:
        code.function = bytecode.rewritten(code.function, change, place)
    return mpy.write(module)
