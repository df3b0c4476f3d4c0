"""Web pages of systrace, old and new."""

import base64
import zlib
from io import BytesIO

import pytest

from dfopt.errors import FileError
from dfopt.trace import kernel_text
from dfopt.trace.formats import read_ftrace
from dfopt.trace.kernel_text import read_systrace
from tests.trace.readers.kernel_lines import Switch, dispatches, systrace, text_of

SWITCHES = [
    Switch(0, 10_000_001, (0, b"swapper"), (7, b'a"b\\c')),
    Switch(0, 10_000_009, (7, b'a"b\\c'), (8, b"it's")),
    Switch(0, 10_000_020, (8, b"it's"), (0, b"swapper")),
]
MESSAGE = "              it's-8   [000] 10.000012: 0: B|124|on\"Message\n"
TEXT = "# tracer: nop\n#\n" + text_of(SWITCHES, systrace).decode() + MESSAGE
ODD = "what is this\n"

VIEWER = """<!DOCTYPE HTML>
<html><head><title>Android System Trace</title>
<script>if (/^  var linuxPerfData = "\\\\$/.test(line))
{ s = '<script class="trace-data">'; }</script>
</head>
<body>
"""


def old_page(text):
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n\\\n")
    return (
        f'{VIEWER}  <script>\n  var linuxPerfData = "\\\n{escaped}'
        '           dummy-0000  [000] 0.0: 0: trace_event_clock_sync: parent_ts=0.0\\n";\n'
        "  </script>\n</body>\n</html>\n"
    )


def new_page(text):
    return (
        f"{VIEWER}<!-- BEGIN TRACE -->\n"
        '  <script class="trace-data" type="application/text">\n'
        "PROCESS DUMP\nUSER PID PPID\nroot 1 0\n  </script>\n"
        f'  <script class="trace-data" type="application/text">\n{text}  </script>\n'
        '  <script class="trace-data" type="application/text">\n{"traceEvents": []}\n  </script>\n'
        "<!-- END TRACE -->\n</body>\n</html>\n"
    )


def escaped_ends(text):
    return new_page(text.replace("\n", "\\n\\\n"))


def read(page):
    return read_systrace(BytesIO(page.encode()))


@pytest.mark.parametrize("page", [old_page, new_page, escaped_ends])
@pytest.mark.parametrize("size", [1 << 20, 64, 1])
def test_the_text_in_a_page(monkeypatch, page, size):
    monkeypatch.setattr(kernel_text, "PIECE", size)
    trace = read(page(TEXT))
    assert dispatches(trace) == dispatches(read_ftrace(BytesIO(TEXT.encode())))
    assert len(trace) == 2
    assert trace.quality.unparsed == 0


@pytest.mark.parametrize("page", [old_page, new_page])
@pytest.mark.parametrize("size", [1 << 20, 64])
def test_lines_are_those_of_the_page(monkeypatch, page, size):
    monkeypatch.setattr(kernel_text, "PIECE", size)
    whole = page(TEXT + ODD)
    line = next(n for n, text in enumerate(whole.split("\n"), 1) if text.startswith("what"))
    assert read(whole).quality.first_unparsed == line


@pytest.mark.parametrize("page", [old_page, new_page])
def test_a_page_cut_short(page):
    whole = page(TEXT)
    trace = read(whole[: whole.index("prev_comm=it") + 30])
    assert len(trace) == 1
    assert trace.quality.unparsed == 1


def test_compressed_data_are_refused():
    data = base64.b64encode(zlib.compress(TEXT.encode() * 9)).decode()
    for page in (
        f'{VIEWER}<script>\n  var linuxPerfData = "{data}";\n</script>\n',
        f'{VIEWER}<script class="trace-data" type="application/text">\n{data}\n</script>\n',
    ):
        with pytest.raises(FileError, match=r"compressed.*again"):
            read(page)


def test_a_page_without_a_trace():
    with pytest.raises(FileError, match="web page without"):
        read(VIEWER + "<p>Hello</p>")
