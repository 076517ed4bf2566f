"""Headless Chromium on a pipe: open a page, evaluate scripts, print. Only the browser is required."""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
from itertools import count
from pathlib import Path
from urllib.parse import quote

# Seconds of silence after which a test fails instead of hanging.
PATIENCE = 300
LOOKS = Path(__file__).with_name("looks.js")
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find_browser() -> str | None:
    """Return the path of the browser on this machine."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Chromium:
    """Browser with one page; a context manager.

    Attributes
    ----------
    requests : list of str
        URLs that the page requested.
    complaints : list of str
        Messages of the console, and exceptions.
    """

    def __init__(self) -> None:
        self._numbers = count(1)
        self.requests: list[str] = []
        self.complaints: list[str] = []

    def __enter__(self) -> "Chromium":
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        down, self._out = os.pipe()
        self._in, up = os.pipe()

        def hand_over() -> None:
            # Chromium reads commands from descriptor 3 and answers on 4.
            spare = [os.dup(down), os.dup(up)]
            for target, source in zip((3, 4), spare, strict=True):
                os.dup2(source, target)

        self._process = subprocess.Popen(
            [
                str(find_browser()),
                *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
                *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
                *("--hide-scrollbars", "--remote-debugging-pipe", f"--user-data-dir={self._profile.name}"),
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            preexec_fn=hand_over,
            close_fds=False,
        )
        os.close(down)
        os.close(up)
        self._buffer, self._session, self._loaded = b"", None, False
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self._call(f"{domain}.enable")
        return self

    def __exit__(self, *error: object) -> None:
        self._process.terminate()
        self._process.wait(timeout=30)
        os.close(self._out)
        os.close(self._in)
        self._profile.cleanup()

    def open(
        self,
        page: Path,
        *,
        width: int = 1280,
        height: int = 900,
        dark: bool = False,
        media: str = "",
        query: str = "",
    ) -> None:
        """Load a page with a width, colour scheme, medium (screen or print) and query string."""
        self.requests.clear()
        self.complaints.clear()
        self._call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._call("Emulation.setEmulatedMedia", media=media, features=[scheme])
        self._loaded = False  # the event may come before the answer
        self._call("Page.navigate", url=page.as_uri() + (f"?q={quote(query)}" if query else ""))
        while not self._loaded:
            self._message()

    def run(self, script: str) -> object:
        """Return the value of an expression; promises are awaited."""
        answer = self._call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def look(self, name: str, *arguments: object) -> object:
        """Return the result of a function of `looks.js` in the page."""
        values = ", ".join(map(json.dumps, arguments))
        return self.run(f"(() => {{ {LOOKS.read_text(encoding='utf-8')} return {name}({values}); }})()")

    def picture(self) -> bytes:
        """Return the whole page as PNG."""
        answer = self._call("Page.captureScreenshot", captureBeyondViewport=True)
        return base64.b64decode(answer["data"])

    def printed(self) -> bytes:
        """Return the page as PDF, with the paper size of its style sheet."""
        answer = self._call("Page.printToPDF", preferCSSPageSize=True, printBackground=True)
        return base64.b64decode(answer["data"])

    def _call(self, method: str, **parameters: object) -> dict:
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._message()
            if answer.get("id") == number:
                assert "error" not in answer, answer
                return answer["result"]

    def _message(self) -> dict:
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._in], [], [], PATIENCE)
            assert ready, f"the browser has said nothing for {PATIENCE} seconds"
            part = os.read(self._in, 1 << 20)
            assert part, "the browser is gone"
            self._buffer += part
        text, _, self._buffer = self._buffer.partition(b"\0")
        message = json.loads(text)
        self._note(message.get("method"), message.get("params", {}))
        return message

    def _note(self, method: str | None, told: dict) -> None:
        if method == "Network.requestWillBeSent":
            self.requests.append(told["request"]["url"])
        elif method == "Page.loadEventFired":
            self._loaded = True
        elif method == "Log.entryAdded":
            self.complaints.append(told["entry"]["text"])
        elif method == "Runtime.consoleAPICalled":
            self.complaints.append(str(told["args"]))
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(told["exceptionDetails"]["text"])
