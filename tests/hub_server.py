"""A small Hub on loopback: takes uploads as the Hugging Face Hub does, and serves what it took.

Uploads are of data sets; models are served, too. Large files go through the LFS protocol, all others inside
the commit. Only the standard library is used, so that it also runs where `datasets` is tested alone.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote, urlsplit

LARGE = (".parquet", ".pack")


@dataclass
class Repository:
    """Commits from the first to the last, each with all its files; `tags` and branches name commits."""

    private: bool = False
    commits: list[tuple[str, dict[str, bytes]]] = field(default_factory=list)
    tags: dict[str, str] = field(default_factory=dict)
    messages: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.commit({".gitattributes": b"*.parquet filter=lfs\n"}, "initial commit")

    def commit(self, files: dict[str, bytes], message: str) -> str:
        content = json.dumps(sorted((p, hashlib.sha256(d).hexdigest()) for p, d in files.items()))
        name = hashlib.sha1(f"{len(self.commits)} {content}".encode()).hexdigest()
        self.commits.append((name, files))
        self.messages.append(message)
        return name

    @property
    def head(self) -> str:
        return self.commits[-1][0]

    @property
    def files(self) -> dict[str, bytes]:
        return self.commits[-1][1]

    def at(self, revision: str) -> tuple[str, dict[str, bytes]] | None:
        name = self.head if revision in ("main", "refs/heads/main") else self.tags.get(revision, revision)
        return next(((n, files) for n, files in self.commits if n.startswith(name)), None)


def git_sha1(data: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


def entry(path: str, data: bytes) -> dict:
    row = {"type": "file", "path": path, "size": len(data), "oid": git_sha1(data)}
    if path.endswith(LARGE):
        sha256 = hashlib.sha256(data).hexdigest()
        row["lfs"] = {"oid": sha256, "size": len(data), "pointerSize": 130}
    return row


class HubServer:
    """`repositories` by name, `objects` by sha256 (large files that have arrived), `requests` as asked.

    `token`: requests that change something need this one. `fail(method, part, status, times)` answers the
    next matching requests with an error that echoes the request's headers. `altered` maps paths to what is
    sent in the place of their content.
    """

    def __init__(self, token: str = "hf_SecretOfTheTests1") -> None:
        self.token = token
        self.repositories: dict[str, Repository] = {}
        self.objects: dict[str, bytes] = {}
        self.requests: list[tuple[str, str]] = []
        self.altered: dict[str, bytes] = {}
        self._failures: list[list] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_any(self):
                server.answer(self)

            do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = handle_any

            def log_message(self, *args):
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._http.server_port}"
        threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True).start()

    def environment(self, home: str) -> dict[str, str]:
        """What a process needs to use this Hub: no other place, no Xet, a cache of its own."""
        return {
            "HF_ENDPOINT": self.url, "HF_HOME": home, "HF_TOKEN": self.token, "HF_HUB_DISABLE_XET": "1",
            "HF_HUB_OFFLINE": "0", "HF_DATASETS_OFFLINE": "0", "HF_HUB_DISABLE_TELEMETRY": "1",
            "NO_PROXY": "127.0.0.1,localhost",
        }  # fmt: skip

    def fail(self, method: str, part: str, status: int = 500, times: int = 1) -> None:
        self._failures.append([method, part, status, times])

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()

    # -- answers -------------------------------------------------------------------------------------

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        body = handler.rfile.read(int(handler.headers.get("Content-Length") or 0))
        path = unquote(urlsplit(handler.path).path)
        method = handler.command
        self.requests.append((method, path))
        for failure in self._failures:
            if failure[3] and failure[0] == method and failure[1] in path:
                failure[3] -= 1
                echo = f"you sent {handler.headers.get('Authorization')}"
                return self._send(handler, failure[2], {"error": echo}, {"X-Error-Message": echo})
        changes = method in ("POST", "PUT") and "/paths-info/" not in path and "validate-yaml" not in path
        if changes and not self._allowed(handler, path):
            return self._send(handler, 401, {"error": "Invalid username or password."})
        for verb, pattern, answer in _ROUTES:
            if verb in (method, "GET" if method == "HEAD" else method) and (
                found := re.fullmatch(pattern, path)
            ):
                return answer(self, handler, body, *found.groups())
        return self._send(handler, 404, {"error": "Not Found"})

    def _allowed(self, handler: BaseHTTPRequestHandler, path: str) -> bool:
        if path.startswith("/objects/"):  # its address was given to somebody who was allowed
            return True
        return handler.headers.get("Authorization") == f"Bearer {self.token}"

    def _send(self, handler, status: int, value=None, headers=None, raw: bytes | None = None) -> None:
        data = json.dumps(value).encode() if raw is None else raw
        handler.send_response(status)
        for name, text in (headers or {}).items():
            handler.send_header(name, text)
        if raw is None:
            handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", str(len(data)))
        handler.end_headers()
        if handler.command != "HEAD":
            handler.wfile.write(data)

    def _missing(self, handler, code: str) -> None:
        self._send(handler, 404, {"error": code}, {"X-Error-Code": code})

    def create(self, handler, body) -> None:
        asked = json.loads(body)
        name = f"{asked.get('organization') or 'me'}/{asked['name']}"
        private = bool(asked.get("private")) or asked.get("visibility") == "private"
        url = f"{self.url}/datasets/{name}"
        if name in self.repositories:
            return self._send(handler, 409, {"error": "You already created this dataset repo", "url": url})
        self.repositories[name] = Repository(private)
        return self._send(handler, 200, {"url": url, "name": name, "id": name})

    def whoami(self, handler, body) -> None:
        self._send(handler, 200, {"type": "user", "name": "me", "orgs": [], "auth": {}})

    def valid_yaml(self, handler, body) -> None:
        self._send(handler, 200, {"errors": [], "warnings": []})

    def info(self, handler, body, name, revision="main") -> None:
        found = self._find(handler, name, revision)
        if found is None:
            return
        commit, files = found
        siblings = [{"rfilename": path} for path in sorted(files)]
        self._send(handler, 200, {
            "id": name, "_id": "1", "sha": commit, "private": self.repositories[name].private,
            "siblings": siblings, "tags": [], "downloads": 0, "likes": 0, "disabled": False, "gated": False,
            "lastModified": "2026-01-01T00:00:00.000Z", "createdAt": "2026-01-01T00:00:00.000Z",
        })  # fmt: skip

    def _find(self, handler, name, revision):
        if name not in self.repositories:
            return self._missing(handler, "RepoNotFound")
        return self.repositories[name].at(revision) or self._missing(handler, "RevisionNotFound")

    def tree(self, handler, body, name, revision, folder="") -> None:
        found = self._find(handler, name, revision)
        if found is None:
            return
        folder = folder.strip("/")
        deep = "recursive=True" in handler.path or "recursive=true" in handler.path
        inside = f"{folder}/" if folder else ""
        rows, folders = [], set()
        for path, data in sorted(found[1].items()):
            if not path.startswith(inside):
                continue
            rest = path[len(inside) :]
            parents = rest.split("/")[:-1]
            folders |= {
                inside + "/".join(parents[: i + 1])
                for i in range(len(parents) if deep else min(1, len(parents)))
            }
            if deep or not parents:
                rows.append(entry(path, data))
        if folder and not rows and not folders:
            return self._missing(handler, "EntryNotFound")
        rows = [{"type": "directory", "path": f, "oid": "0" * 40, "size": 0} for f in sorted(folders)] + rows
        self._send(handler, 200, rows)

    def paths_info(self, handler, body, name, revision) -> None:
        found = self._find(handler, name, revision)
        if found is None:
            return
        text = body.decode()
        if text.startswith("{"):
            asked = json.loads(text)["paths"]
        else:
            from urllib.parse import parse_qs

            asked = parse_qs(text)["paths"]
        rows = []
        for path in asked:
            if path in found[1]:
                rows.append(entry(path, found[1][path]))
            elif any(p.startswith(f"{path}/") for p in found[1]):
                rows.append({"type": "directory", "path": path, "oid": "0" * 40, "size": 0})
        self._send(handler, 200, rows)

    def refs(self, handler, body, name) -> None:
        if name not in self.repositories:
            return self._missing(handler, "RepoNotFound")
        repository = self.repositories[name]
        tags = [{"name": n, "ref": f"refs/tags/{n}", "targetCommit": c} for n, c in repository.tags.items()]
        branches = [{"name": "main", "ref": "refs/heads/main", "targetCommit": repository.head}]
        return self._send(handler, 200, {"branches": branches, "tags": tags, "converts": []})

    def preupload(self, handler, body, name, revision) -> None:
        rows = []
        for file in json.loads(body)["files"]:
            mode = "lfs" if file["path"].endswith(LARGE) else "regular"
            rows.append({"path": file["path"], "uploadMode": mode, "shouldIgnore": False})
        self._send(handler, 200, {"files": rows})

    def batch(self, handler, body, name) -> None:
        objects = []
        for thing in json.loads(body)["objects"]:
            row = {"oid": thing["oid"], "size": thing["size"]}
            if thing["oid"] not in self.objects:
                row["actions"] = {"upload": {"href": f"{self.url}/objects/{thing['oid']}"}}
            objects.append(row)
        self._send(handler, 200, {"transfer": "basic", "objects": objects})

    def put(self, handler, body, oid) -> None:
        if hashlib.sha256(body).hexdigest() != oid:
            return self._send(handler, 400, {"error": "other content"})
        self.objects[oid] = body
        return self._send(handler, 200, {})

    def commit(self, handler, body, name, revision) -> None:
        repository = self.repositories[name]
        files, message = dict(repository.files), ""
        for line in body.decode().splitlines():
            item = json.loads(line)
            key, value = item["key"], item["value"]
            if key == "header":
                message = value["summary"]
                if value.get("parentCommit") not in (None, repository.head):
                    return self._send(handler, 412, {"error": "A commit has happened since."})
            elif key == "file":
                files[value["path"]] = base64.b64decode(value["content"])
            elif key == "lfsFile":
                if value["oid"] not in self.objects:
                    return self._send(handler, 400, {"error": f"{value['path']} was not uploaded"})
                files[value["path"]] = self.objects[value["oid"]]
            elif key == "deletedFile":
                del files[value["path"]]
        made = repository.commit(files, message)
        url = f"{self.url}/datasets/{name}/commit/{made}"
        return self._send(handler, 200, {"commitUrl": url, "commitOid": made, "success": True})

    def tag(self, handler, body, name, revision) -> None:
        repository = self.repositories[name]
        wanted = json.loads(body)["tag"]
        if wanted in repository.tags:
            return self._send(handler, 409, {"error": "tag exists"})
        repository.tags[wanted] = repository.at(revision)[0]
        return self._send(handler, 200, {})

    def resolve(self, handler, body, name, revision, path) -> None:
        found = self._find(handler, name, revision)
        if found is None:
            return
        commit, files = found
        if path not in files:
            self._send(
                handler, 404, {"error": "Entry not found"},
                {"X-Error-Code": "EntryNotFound", "X-Repo-Commit": commit},
            )  # fmt: skip
            return
        data = files[path]
        sent = self.altered.get(path, data)
        tag = hashlib.sha256(data).hexdigest() if path.endswith(LARGE) else git_sha1(data)
        headers = {"ETag": f'"{tag}"', "X-Repo-Commit": commit, "Accept-Ranges": "bytes"}
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", handler.headers.get("Range") or "")
        if asked:
            first, last = int(asked[1]), int(asked[2] or len(data) - 1)
            part = data[first : last + 1]
            headers["Content-Range"] = f"bytes {first}-{first + len(part) - 1}/{len(data)}"
            self._send(handler, 206, headers=headers, raw=part)
            return
        self._send(handler, 200, headers=headers, raw=sent)


_NAME = r"([\w.-]+/[\w.-]+)"
_ROUTES = [
    ("POST", r"/api/repos/create", HubServer.create),
    ("GET", r"/api/whoami-v2", HubServer.whoami),
    ("POST", r"/api/validate-yaml", HubServer.valid_yaml),
    ("GET", rf"/api/(?:datasets|models)/{_NAME}", HubServer.info),
    ("GET", rf"/api/(?:datasets|models)/{_NAME}/revision/(.+)", HubServer.info),
    (
        "GET",
        rf"/api/(?:datasets|models)/{_NAME}/tree/([^/]+)(/.*)?",
        lambda s, h, b, n, r, f: s.tree(h, b, n, r, f or ""),
    ),
    ("POST", rf"/api/datasets/{_NAME}/paths-info/([^/]+)", HubServer.paths_info),
    ("GET", rf"/api/datasets/{_NAME}/refs", HubServer.refs),
    ("POST", rf"/api/datasets/{_NAME}/preupload/([^/]+)", HubServer.preupload),
    ("POST", rf"/datasets/{_NAME}\.git/info/lfs/objects/batch", HubServer.batch),
    ("PUT", r"/objects/([0-9a-f]{64})", HubServer.put),
    ("POST", rf"/api/datasets/{_NAME}/commit/([^/]+)", HubServer.commit),
    ("POST", rf"/api/datasets/{_NAME}/tag/([^/]+)", HubServer.tag),
    ("GET", rf"/(?:datasets/)?{_NAME}/resolve/([^/]+)/(.+)", HubServer.resolve),
]
