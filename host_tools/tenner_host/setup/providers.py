"""Presets of model servers: their addresses, and a model to start with."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Provider:
    """A preset; `keys` is the place to get a key, "" for a server without keys."""

    name: str
    title: str
    api: str
    base_url: str
    model: str
    keys: str


PROVIDERS = [
    Provider("openai", "OpenAI", "chat", "https://api.openai.com/v1", "gpt-4o-mini", "https://platform.openai.com/api-keys"),
    Provider("anthropic", "Anthropic", "messages", "https://api.anthropic.com/v1", "claude-haiku-4-5", "https://console.anthropic.com/settings/keys"),  # noqa: E501
    Provider("openrouter", "OpenRouter", "chat", "https://openrouter.ai/api/v1", "openai/gpt-4o-mini", "https://openrouter.ai/settings/keys"),  # noqa: E501
    Provider("gemini", "Google Gemini", "chat", "https://generativelanguage.googleapis.com/v1beta/openai", "gemini-2.5-flash", "https://aistudio.google.com/apikey"),  # noqa: E501
    Provider("deepseek", "DeepSeek", "chat", "https://api.deepseek.com/v1", "deepseek-chat", "https://platform.deepseek.com/api_keys"),
    Provider("groq", "Groq", "chat", "https://api.groq.com/openai/v1", "llama-3.3-70b-versatile", "https://console.groq.com/keys"),
    Provider("ollama", "Ollama on a computer of yours", "chat", "http://192.168.1.2:11434/v1", "qwen3:8b", ""),  # noqa: E501
]  # fmt: skip

#: The last choice: any server that speaks one of the two languages.
OTHER = "other"


def by_name(name: str) -> Provider | None:
    return next((one for one in PROVIDERS if one.name == name), None)


def by_url(base_url: str) -> Provider | None:
    """The preset with this address."""
    return next((one for one in PROVIDERS if one.base_url == base_url.rstrip("/")), None)


def by_title(text: str) -> Provider | None:
    """The preset with this word in its title, as Google."""
    word = text.lower()
    return next(
        (one for one in PROVIDERS if word in (*one.title.lower().split(), one.title.lower())), None
    )
