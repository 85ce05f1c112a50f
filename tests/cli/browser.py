# SPDX-License-Identifier: BSD-3-Clause
"""Drives a headless Chromium over its debugging pipe: open a page, ask it things, click, take pictures.

Needs nothing but the browser and Python.  Every request of the page and every error on its console is kept.
"""
import base64
import json
import os
import pathlib
import select
import shutil
import subprocess
import tempfile
import time

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


class Browser:
    def __init__(self, timeout=60):
        self.timeout = timeout
        self.profile = tempfile.mkdtemp(prefix="vhem-browser-")
        read_theirs, self.to = os.pipe()
        self.come, write_theirs = os.pipe()

        def own_pipes():                             # the browser reads descriptor 3 and writes descriptor 4
            here, there = os.dup(read_theirs), os.dup(write_theirs)
            os.dup2(here, 3)
            os.dup2(there, 4)

        command = [CHROMIUM, "--headless", "--remote-debugging-pipe", f"--user-data-dir={self.profile}", "--no-first-run",
                   "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--disable-background-networking",
                   "--force-color-profile=srgb", "--font-render-hinting=none"]
        if os.geteuid() == 0:
            command.append("--no-sandbox")
        self.process = subprocess.Popen(command, preexec_fn=own_pipes, close_fds=False, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
        os.close(read_theirs)
        os.close(write_theirs)
        self.number, self.rest, self.session = 0, b"", None
        self.errors, self.requests, self.loads = [], [], 0
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def close(self):
        for end in (self.to, self.come):
            os.close(end)
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    # -- the protocol: JSON messages that end in a zero byte

    def receive(self, until):
        while b"\0" not in self.rest:
            if not select.select([self.come], [], [], max(0, until - time.monotonic()))[0]:
                raise TimeoutError("the browser does not answer")
            more = os.read(self.come, 1 << 20)
            if not more:
                raise EOFError("the browser has ended")
            self.rest += more
        text, self.rest = self.rest.split(b"\0", 1)
        message = json.loads(text)
        self.note(message.get("method"), message.get("params", {}))
        return message

    def note(self, method, params):
        if method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            self.errors.append(json.dumps(params["exceptionDetails"])[:500])
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
            self.errors.append(json.dumps(params["args"])[:500])
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.errors.append(params["entry"]["text"])
        elif method == "Page.loadEventFired":
            self.loads += 1

    def call(self, method, **params):
        self.number += 1
        number = self.number
        message = {"id": number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + self.timeout
        while True:
            answer = self.receive(until)
            if answer.get("id") == number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]

    # -- pages

    def open(self, path, width=1280, height=900, dark=False):
        self.errors, self.requests = [], []
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme",
                                                           "value": "dark" if dark else "light"}])
        self.resize(width, height)
        url = path if "://" in str(path) else pathlib.Path(path).resolve().as_uri()
        self.call("Page.navigate", url=url)
        until = time.monotonic() + self.timeout
        while self.js("document.readyState + (location.href == 'about:blank')") != "completefalse":
            if time.monotonic() > until:
                raise TimeoutError(f"{path} does not load")
            time.sleep(0.05)

    def reload(self):
        """Until the page is there again, which without scripts it cannot say itself."""
        before = self.loads
        self.call("Page.reload")
        until = time.monotonic() + self.timeout
        while self.loads == before:
            self.receive(until)

    def resize(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def js(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(json.dumps(answer["exceptionDetails"])[:800])
        return answer["result"].get("value")

    def point(self, selector, kind):
        """A real pointer in the middle of the element."""
        x, y = self.js(f"""(async () => {{ const e = document.querySelector({json.dumps(selector)});
            e.scrollIntoView({{block: 'center'}});
            for (let k = 0; k < 3; k++) await new Promise(requestAnimationFrame);
            const b = e.getBoundingClientRect();
            return [b.x + b.width / 2, b.y + b.height / 2]; }})()""")
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        if kind == "click":
            for what in ("mousePressed", "mouseReleased"):
                self.call("Input.dispatchMouseEvent", type=what, x=x, y=y, button="left", clickCount=1)

    def click(self, selector):
        self.point(selector, "click")

    def hover(self, selector):
        self.point(selector, "hover")

    def key(self, name):
        for what in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=what, key=name, code=name,
                      **({"text": "\r", "windowsVirtualKeyCode": 13} if name == "Enter" else
                         {"windowsVirtualKeyCode": 9} if name == "Tab" else {}))

    def screenshot(self, path, whole=False, clip=None):
        more = {"captureBeyondViewport": True} if whole or clip else {}
        if whole:
            size = self.call("Page.getLayoutMetrics")["cssContentSize"]
            clip = (0, 0, size["width"], min(size["height"], 16000))
        if clip:
            more["clip"] = dict(zip(("x", "y", "width", "height"), clip), scale=1)
        answer = self.call("Page.captureScreenshot", format="png", **more)
        pathlib.Path(path).write_bytes(base64.b64decode(answer["data"]))

    def pdf(self, path):
        answer = self.call("Page.printToPDF", printBackground=True)
        pathlib.Path(path).write_bytes(base64.b64decode(answer["data"]))
