"""The dialog of a sync at the terminal: its report, and the question about each conflict."""

from __future__ import annotations

from tenner_host import prompts
from tenner_host.errors import Conflict
from tenner_host.output import at_terminal, echo
from tenner_host.sync.report import Report
from tenner_host.sync.threeway import Action
from tenner_host.sync.workspace import diff


def conflict_left(paths: list[str]) -> None:
    """Raise Conflict if a file waits for a choice."""
    if paths:
        raise Conflict(
            f"changed on both sides and left unchanged: {', '.join(paths)}; run `tenner sync` at "
            "a terminal to choose"
        )


def ask_which(path: str, ours: bytes | None, theirs: bytes | None) -> str:
    """Show how a file differs and ask which version stays; without a terminal keep both."""
    if not at_terminal():
        return "skip"
    for line in diff(path, ours, theirs):
        color = {"+": "green", "-": "red", "@": "cyan"}.get(line[:1])
        echo(line, fg=color, err=True)
    answer = prompts.choose(
        f"{path} changed on both sides. Keep the one from (h)ere, from the (b)oard, or (s)kip",
        ["h", "b", "s"],
        "s",
    )
    return {"h": "here", "b": "board", "s": "skip"}[answer]


def show(report: Report) -> None:
    """Print the report for people, without empty parts."""
    would = "would be " if report.dry_run else ""
    plan = report.code
    size = sum(map(len, plan.write.values()))
    if plan:
        parts = [f"{len(plan.write)} {would}written ({size / 1024:.1f} KB)"] if plan.write else []
        parts += [f"{len(plan.remove)} {would}removed"] if plan.remove else []
        echo(f"code       {', '.join(parts)}, {plan.unchanged} unchanged")
        for path in plan.shadows:
            echo(f"           {path} {would}removed: it hid newer code")
    elif not plan.unchanged:
        echo("code       unchanged: it comes by `tenner update`, on Linux by `tenner deploy`")
    else:
        echo(f"code       up to date ({plan.unchanged} files)")
    if plan.foreign:
        echo(f"           your own {', '.join(plan.foreign)} {would}moved to .tenner/replaced/")
    steps = report.steps if report.dry_run else report.outcome.done
    for step in steps:
        if step.action not in (Action.RECORD, Action.FORGET):
            echo(f"workspace  {step.path}: {step.action.value}")
    if not steps:
        echo("workspace  nothing to do")
    for step in report.outcome.kept:
        echo(f"workspace  {step.path}: {step.action.value}, kept on the other side (see --delete)")
    for path in report.outcome.conflicts:
        echo(f"workspace  {path}: changed on both sides, left unchanged")
    if report.outcome.saved:
        echo(f"           the replaced files are in {report.outcome.saved}")
    if report.started is not None and report.started.running:
        echo(f"agent      running: {report.started.text}; {report.seconds:.1f} s in all")
    if not report.configured and not report.dry_run:
        echo("settings   none on the board yet: `tenner setup`")
