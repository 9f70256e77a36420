"""Tool calls with their results: who asked for what, and where in the messages the answer stands.

Tools are known by what they are called and given, so that transcripts of other harnesses are
understood too.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from foundry.schema.base import strings
from foundry.schema.messages import Block, Message

Kind = Literal["read", "write", "edit", "search", "command", "other"]

_READS = {"read_file", "read", "view", "view_file", "open", "open_file", "cat", "get_file"}
_WRITES = {"write_file", "write", "create", "create_file", "save_file"}
_EDITS = {"edit_file", "edit", "str_replace", "insert", "apply_patch", "replace", "multiedit",
          "str_replace_editor", "str_replace_based_edit_tool", "update_file"}  # fmt: skip
_SEARCHES = {"list_files", "search_text", "grep", "glob", "ls", "find", "search", "find_file",
             "search_dir", "search_file", "search_files", "list_dir"}  # fmt: skip
_COMMANDS = {"run_command", "bash", "execute_bash", "shell", "run", "execute", "run_ipython",
             "execute_ipython_cell", "terminal"}  # fmt: skip
_SHOWING = re.compile(
    r"^\s*(?:cd \S+ && )?(?:cat|head|tail|sed -n|nl|less|bat|open|goto|scroll_\w+|view|grep|rg|"
    r"find|ls|tree|git (?:show|diff|log|grep)|search_\w+|find_file|edit|create)\b"
)
_CAT = re.compile(r"\s*(?:cat|open)\s+(?:-n\s+)?['\"]?([\w./~@+-]+)['\"]?\s*$")
_EXIT = re.compile(
    r"(?:exit(?:ed)?(?: with)?(?: code| status)?[ :=]{1,2}|returncode>\s*)(-?\d{1,3})\b", re.I
)


@dataclass(frozen=True, slots=True)
class Exchange:
    """A call and its result, which is block `block` of message `message`."""

    message: int
    block: int
    name: str
    arguments: Any
    text: str
    is_error: bool

    @property
    def kind(self) -> Kind:
        """What the tool does, as far as its name and arguments tell."""
        name = self.name.lower()
        wanted = self._argument("command") if name not in _COMMANDS else ""
        if wanted in ("view", "create"):
            return "read" if wanted == "view" else "write"
        if name in _COMMANDS or self._argument("command", "cmd", "code"):
            return "read" if _CAT.match(self.command) else "command"
        kinds: tuple[tuple[set[str], Kind], ...] = (
            (_READS, "read"), (_WRITES, "write"), (_EDITS, "edit"), (_SEARCHES, "search"),
        )  # fmt: skip
        return next((kind for names, kind in kinds if name in names), "other")

    @property
    def path(self) -> str:
        """The file that the call is about, or nothing."""
        named = self._argument("path", "file_path", "filename", "file", "target_file")
        found = None if named else _CAT.match(self.command)
        return found[1] if found else named

    @property
    def command(self) -> str:
        """The command line, or the code, that was run; nothing for other tools."""
        return self._argument("command", "cmd", "code") if self._runs else ""

    @property
    def shows_source(self) -> bool:
        """Whether the result is the content of files rather than the output of a program."""
        if self.kind in ("read", "search", "write", "edit"):
            return True
        return _SHOWING.match(self.command) is not None

    @property
    def exit_code(self) -> int | None:
        """What a command ended with, where its result says so near its end."""
        found = _EXIT.findall(self.text[-300:]) or _EXIT.findall(self.text[:100])
        return int(found[-1]) if found else None

    @property
    def key(self) -> str:
        """The same for two calls of the same tool with the same arguments."""
        return self.name + json.dumps(self.arguments, sort_keys=True, default=str)

    @property
    def whole_file(self) -> bool:
        """Whether a read has no offset, range or the like."""
        if self.kind != "read" or not isinstance(self.arguments, Mapping):
            return False
        said = {key for key, value in self.arguments.items() if value not in (None, "", [])}
        return not said - {"path", "file_path", "filename", "file", "target_file", "command",
                           "security_risk"}  # fmt: skip

    @property
    def _runs(self) -> bool:
        named = self.name.lower() in _COMMANDS
        return named or not self._argument("path", "file_path", "filename", "file", "target_file")

    def _argument(self, *names: str) -> str:
        if not isinstance(self.arguments, Mapping):
            return ""
        given = (self.arguments.get(name) for name in names)
        return next((each for each in given if isinstance(each, str) and each), "")


def exchanges(messages: Sequence[Message]) -> Iterator[Exchange]:
    """Every result with its call, in their order; a result without a call has an empty name."""
    calls: dict[Any, Block] = {}
    for number, message in enumerate(messages):
        for position, block in enumerate(blocks_of(message)):
            if block.get("type") == "tool_use":
                calls[block.get("id")] = block
            elif block.get("type") == "tool_result":
                call = calls.get(block.get("tool_use_id"), {})
                yield Exchange(
                    number,
                    position,
                    str(call.get("name", "")),
                    call.get("input"),
                    text_of(block),
                    bool(block.get("is_error")),
                )


def blocks_of(message: Message) -> list[Block]:
    """A message's content as blocks; plain text is one."""
    content: Any = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def text_of(block: Block) -> str:
    """The words of a text block or of a tool's result, without its images."""
    if block.get("type") == "text":
        return str(block["text"])
    content = block.get("content") or ""
    if isinstance(content, str):
        return content
    return "\n".join(str(each.get("text", "")) for each in content if each.get("type") == "text")


def words_of(block: Block) -> str:
    """What a block says: its text, its result, or the arguments of its call."""
    match block.get("type"):
        case "text" | "tool_result":
            return text_of(block)
        case "tool_use":
            return "\n".join(strings(block.get("input")))
        case _:
            return ""
