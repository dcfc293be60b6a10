"""Do the classes have all that the protocols ask for? mypy reads this; nothing runs it."""

from tenner import types
from tenner.agent import types as agent
from tenner.agent.tool_calls import ToolContext
from tenner.agent.turn import Turn
from tenner.app import App
from tenner.channels.mqtt import types as mqtt
from tenner.channels.mqtt.channel import Mqtt
from tenner.channels.telegram import types as telegram
from tenner.channels.telegram.channel import Telegram
from tenner.page import types as page
from tenner.page.channel import Page
from tenner.page.chip import ChipPage
from tenner.page.sealed import Computer
from tenner.remote.types import Carrier
from tenner.schedule import types as schedule
from tenner.schedule.occurrences import Occurrences
from tenner.schedule.service import CronJobs, Heartbeat
from tenner.tools import types as tools


def application(
    app: App,
) -> "tuple[types.Starting, types.Reporting, types.Sleeping, page.Application, types.Shown]":
    return app, app, app, app, app


def turn(
    one: Turn, context: ToolContext
) -> "tuple[agent.Asking, agent.Calling, tools.ToolContext]":
    return one, one, context


def services(
    beat: Heartbeat, cron: CronJobs, look: Occurrences
) -> "tuple[schedule.Service, agent.Sending, schedule.Service, tools.Jobs, schedule.Look]":
    return beat, beat, cron, cron, look


def channels(
    bot: Telegram, broker: Mqtt
) -> "tuple[telegram.Receiving, telegram.Asking, mqtt.Inbox, mqtt.Connecting, mqtt.Announced]":
    return bot, bot, broker, broker, broker


def pages(
    chip: ChipPage, one: Page, computer: Computer, broker: Mqtt
) -> (
    "tuple[page.Served, page.Opening, page.Streaming, page.Guarded, Carrier, Carrier, mqtt.Images]"
):
    return chip, chip, one, one, computer, broker, broker
