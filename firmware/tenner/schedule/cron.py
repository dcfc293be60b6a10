# tenner schedule.cron: the service that runs the jobs of CRON.json.
# MIT license; Copyright (c) 2026 the tenner authors
"""
The definitions belong to the owner and the agent (workspace/CRON.json), the state to the board:

    state/cron.json     [last, failures, off since, why, interrupted] by job id
    state/cron.a/.b     the run under way: a restart finds it and calls it interrupted

Texts of jobs stay on flash until they run.
"""

from tenner.schedule.alarm import Service


class CronJobs(Service):
    """
    It is given what every Service needs; `deliver` is await deliver(text, channel, chat), where
    channel and chat None are the owner's. Its `tasks` are the jobs.
    """

    def __init__(self, port, clock, part, lane, run_turn, deliver, notify, online, rest=None):
        Service.__init__(
            self, "cron", port, "CRON.json", clock, part, lane, run_turn, deliver, notify, online, rest
        )  # fmt: skip

    async def step(self, aside=False):
        """Collect the jobs that are due, then run them one after the other."""
        from tenner.schedule.cronbook import CronBook, run

        # All of them first: what one job takes must not move the times of the others.
        due = CronBook(self).collect()
        if self.running_s is not None:
            return
        self.running_s = self.clock.mono_ms() // 1000
        try:
            for job in due:
                if job in self.tasks:
                    await run(self, job)
        finally:
            self.running_s = None
        self.wake_at_s = CronBook(self).next_wake()

    def lines(self):
        """One line for each job, for `/cron` and the tool."""
        from tenner.schedule import jobedit

        return jobedit.lines(self)

    def add(self, entry):
        """Add or replace a job; ValueError with a sentence when it is wrong."""
        from tenner.schedule import jobedit

        jobedit.add(self, entry)

    def remove(self, job_id):
        """Take a job out; ValueError when there is none of that id."""
        from tenner.schedule import jobedit

        jobedit.change(self, job_id, None)

    def enable(self, job_id, enabled=True):
        """Switch a job on, whatever switched it off, or off."""
        from tenner.schedule import jobedit

        jobedit.change(self, job_id, enabled)
