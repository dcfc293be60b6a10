# tenner chart.font: letters of 5 x 8 dots for pictures, each dot two pixels wide and high.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.port.compat import const

#: The size of a letter in pixels, with the space behind it.
WIDTH = const(12)
HEIGHT = const(16)

# 8 rows for each character from the space on, then the degree sign: five dots each, the low bits
# of a letter.
_ROWS = (
    rb"@@@@@@@@"
    rb"DDDD@@D@JJJ@@@@@JJ_J_JJ@DOTNE^D@XYBDHSC@LRTHURM@LDH@@@@@BDHHHDB@HDBBBDH@@DUNUD@@"
    rb"@DD_DD@@@@@@LDH@@@@N@@@@@@@@@LL@@ABDHP@@NQQQQQN@DLDDDDN@NQABDH_@NQAFAQN@BFJR_BB@"
    rb"_P^AAQN@FHP^QQN@_ABDHHH@NQQNQQN@NQQOABL@@LL@LL@@@LL@LDH@BDHPHDB@@@_@_@@@HDBABDH@"
    rb"NQABD@D@NQAMUUN@NQQQ_QQ@^QQ^QQ^@NQPPPQN@\RQQQR\@_PP^PP_@_PP^PPP@NQPWQQO@QQQ_QQQ@"
    rb"NDDDDDN@GBBBBRL@QRTXTRQ@PPPPPP_@Q[UUQQQ@QQYUSQQ@NQQQQQN@^QQ^PPP@NQQQURM@^QQ^TRQ@"
    rb"OPPNAA^@_DDDDDD@QQQQQQN@QQQQQJD@QQQUUUJ@QQJDJQQ@QQQJDDD@_ABDHP_@NHHHHHN@@PHDBA@@"
    rb"NBBBBBN@DJQ@@@@@@@@@@@_@HDB@@@@@@@NAOQO@PPVYQQ^@@@NPPQN@AAMSQQO@@@NQ_PN@FIH\HHH@"
    rb"@@OQQOANPPVYQQQ@D@LDDDN@B@FBBBRLPPRTXTR@LDDDDDN@@@ZUUQQ@@@VYQQQ@@@NQQQN@@@^QQ^PP"
    rb"@@OQQOAA@@VYPPP@@@NPNA^@HH\HHIF@@@QQQSM@@@QQQJD@@@QQUUJ@@@QJDJQ@@@QQQOAN@@_BDH_@"
    rb"BDDHDDB@DDDDDDD@HDDBDDH@@@HUB@@@LRRL@@@@"
)
_DEGREE = "\u00b0"


def paint(row: bytearray, at: int, text: str, line: int, color: int, corner: int) -> None:
    """
    Draw line 0 to 15 of a text into `row`, two pixels a byte, from byte `at` on. `corner` is the
    color of the half dots that smooth a diagonal.
    """
    whole = color * 17
    # The upper half of a dot meets the dots above, the lower one those below.
    beside = 1 if line & 1 else -1
    for letter in text:
        place = 95 if letter == _DEGREE else ord(letter) - 32
        if not 0 <= place < 96:
            place = 31  # a question mark
        place = place * 8 + (line >> 1)
        dots = (_ROWS[place] & 31) << 1
        if dots:
            other = (_ROWS[place + beside] & 31) << 1 if 0 <= (line >> 1) + beside < 8 else 0
            # A free dot between two that touch only by their corners.
            left = dots >> 1 & other & ~(other >> 1) & ~dots
            right = dots << 1 & other & ~(other << 1) & ~dots
            corners = left | right
            bit = 32
            for byte in range(at, at + 5):
                if dots & bit:
                    row[byte] = whole
                elif corners & bit:
                    if left & bit:
                        row[byte] = corner << 4 | row[byte] & 15
                    if right & bit:
                        row[byte] = corner | row[byte] & 240
                bit >>= 1
        at += WIDTH // 2
