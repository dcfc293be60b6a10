# tenner schedule.line_suggestion: the right line nearest to a wrong one of HEARTBEAT.md.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.store.suggest import nearest


def suggestion(text: str, problem: str) -> str:
    """Return the right line for a text, whose mistake `problem` tells."""
    parts = problem.split('"')
    right = ""
    for index in range(1, len(parts) - 1, 2):
        before = parts[index - 1].rstrip()
        if [
            end for end in ("expected", "mean", "write", "like", "such as") if before.endswith(end)
        ]:
            right = right or parts[index]
    wrong = parts[1] if len(parts) > 3 else ""
    if "is no clause; did you mean" in problem and wrong and wrong in text:
        if " " not in right:
            wrong = wrong.split()[0]
        return text.replace(wrong, right, 1)
    if right == ")":
        right = ""
    if not right:
        return "(every 10m) " + text if "(" not in text else "(daily 07:30) Report."
    if " " not in right and "." in right and right[:1] not in "0123456789(":
        dotted = []
        for word in text.replace("{", " ").replace("}", " ").replace("(", " ").split():
            if "." in word.strip(".:,;"):
                dotted.append(word.strip(".:,;)"))
        # `room gives no humidity`: that value of that sensor.
        said, _, value = problem.partition(" gives no ")
        wrong = said.split()[-1] + "." + value.split(";")[0] if value else nearest(right, dotted)
        return text.replace(wrong, right) if wrong else "(when %s > 30; notify)" % right
    if right[:1] in "0123456789":
        return right
    _, closing, rest = text.partition(")")
    right = right if right[:1] == "(" else "(%s)" % right
    return right + " " + (rest.strip() if closing and text[:1] == "(" else text)
