# tenner schedule.cron: the service that runs the jobs of CRON.json.
# MIT license; Copyright (c) 2026 the tenner authors
"""
The definitions belong to the owner and the agent (workspace/CRON.json), the state to the board. Texts of jobs
stay on flash until they run.
"""

from tenner.schedule.alarm import Service, later


class CronJobs(Service):
    """Its `tasks` are the jobs."""

    def __init__(self, app):
        Service.__init__(self, app, "cron", "CRON.json")

    async def step(self, aside=False):
        """Collect the jobs that are due, then run them one after the other."""
        from tenner.schedule.cronwake import step

        await step(self)

    #: lines(): one for each job; add(entry), remove(id), enable(id, enabled=True): ValueError says what is wrong
    lines = later("jobedit", "lines")
    add = later("jobedit", "add")
    remove = later("jobedit", "remove")
    enable = later("jobedit", "enable")
