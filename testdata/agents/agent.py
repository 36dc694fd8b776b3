"""An agent for Foreman's queue, in Python's standard library alone.

On the wire it behaves like the published reference agent. At its start it claims waiting
tasks until the harness answers 204, and only then serves HTTP. Then it claims one task for
each nudge, and sends a heartbeat every 25 seconds while it works. It skips issues on which
a comment was posted before. Its decision is simple: an issue about a crash gets a label. It is
sure if the title has the word. Otherwise it sends a low confidence, and people are asked first.

    FOREMAN_HARNESS_URL=http://agent:SECRET@localhost:8000 AGENT_URL=http://localhost:9001 python3 agent.py
"""

import base64
import json
import os
import re
import threading
import urllib.error
import urllib.parse
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

BEAT = 25.0  # seconds
ANSWERED = ("comment was posted", "commented", "a comment", "responded")
CRASH = re.compile(r"\b(crash\w*|panic\w*)\b", re.IGNORECASE)
MAX_BODY = 32 << 20


class Harness:
    """The calls to the harness. Userinfo of its address becomes Basic auth."""

    def __init__(self, address, agent_url):
        url = urllib.parse.urlsplit(address)
        self.agent_url = agent_url
        self.headers = {"Content-Type": "application/json"}
        if url.username is not None:
            user, password = (urllib.parse.unquote(s or "") for s in (url.username, url.password))
            token = base64.b64encode(f"{user}:{password}".encode()).decode()
            self.headers["Authorization"] = "Basic " + token
        netloc = url.netloc.rpartition("@")[2]
        self.base = urllib.parse.urlunsplit((url.scheme, netloc, url.path.rstrip("/"), "", ""))

    def post(self, path, body):
        data = json.dumps(body, separators=(",", ":")).encode()
        request = urllib.request.Request(self.base + path, data, self.headers, method="POST")
        with urllib.request.urlopen(request, timeout=5) as answer:
            return answer.status, answer.read()

    def next_task(self):
        status, data = self.post("/queue/next", {"agent_url": self.agent_url})
        return None if status == 204 else json.loads(data)

    def complete(self, decision):
        self.post("/queue/complete", decision)
        self.post("/harness/result", {"task_id": decision["task_id"]})

    def heartbeat(self, task_id):
        self.post("/queue/heartbeat", {"task_id": task_id})


def decide(task):
    """Return the decision on a task."""
    answer = {"task_id": task["task_id"], "decision": "skip", "rationale": "", "actions": []}
    memory = (task.get("context") or {}).get("memory_summary") or ""
    if any(phrase in memory.lower() for phrase in ANSWERED):
        answer["rationale"] = "it was answered before"
        return answer
    payload = task.get("payload") or {}
    for part, confidence in (("title", "high"), ("body", "low")):
        if CRASH.search(payload.get(part) or ""):
            why = f"The {part} speaks of a crash."
            answer.update(decision="label_and_respond", rationale=why)
            answer["actions"] = [{"type": "add_label", "label": "bug", "confidence": confidence, "rationale": why}]
            break
    else:
        answer["rationale"] = "nothing to do"
    return answer


def work(harness):
    """Claim one task and do it. Return whether there was one."""
    task = harness.next_task()
    if task is None:
        return False
    done = threading.Event()

    def beat():
        while not done.wait(BEAT):
            try:
                harness.heartbeat(task["task_id"])
            except (OSError, ValueError):
                pass  # the next one may get through

    threading.Thread(target=beat, daemon=True).start()
    try:
        harness.complete(decide(task))
    finally:
        done.set()
    return True


def quietly(harness):
    try:
        work(harness)
    except (OSError, ValueError) as error:
        print(f"a task was left for later: {error}", flush=True)


class Handler(BaseHTTPRequestHandler):
    harness = None

    def do_GET(self):
        if self.path == "/health":
            self.reply(200, {"status": "ok"})
        else:
            self.reply(404, {"detail": "Not Found"})

    def do_POST(self):
        if self.path != "/task":
            return self.reply(404, {"detail": "Not Found"})
        try:
            size = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(size)) if 0 <= size <= MAX_BODY else None
        except ValueError:
            body = None
        if not isinstance(body, dict) or not isinstance(body.get("task_id"), str):
            problem = {"type": "missing", "loc": ["body", "task_id"], "msg": "Field required", "input": None}
            return self.reply(422, {"detail": [problem]})
        # The id is a hint that there is work; which task it is, the harness says.
        threading.Thread(target=quietly, args=(self.harness,), daemon=True).start()
        return self.reply(202, {"status": "accepted"})

    def reply(self, status, body):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


def main():
    agent_url = os.environ["AGENT_URL"]
    harness = Harness(os.environ["FOREMAN_HARNESS_URL"], agent_url)
    while work(harness):
        pass
    Handler.harness = harness
    port = int(os.environ.get("PORT") or urllib.parse.urlsplit(agent_url).port or 8000)
    ThreadingHTTPServer((os.environ.get("HOST", "127.0.0.1"), port), Handler).serve_forever()


if __name__ == "__main__":
    main()
