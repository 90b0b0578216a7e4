/**
 * Searches, changes and packs files in the sandbox. Its argument is JSON with `op` and the fields of the request; it prints one JSON object: the result, or `{"error": {"code", "message"}}`.
 * Patterns of clients are matched only here, under the limits of the sandbox.
 */
export const SEARCH_PROGRAM = String.raw`
import fnmatch, heapq, json, os, re, sys

given = json.loads(sys.argv[1])
MAX_BYTES, MAX_LINE, MAX_FILE, MAX_ARCHIVE = 400_000, 2_000, 16 * 2**20, 64 * 2**20
size = 0

class Refused(Exception):
    pass

def fits(match):
    global size
    size += len(json.dumps(match)) + 1
    return size < MAX_BYTES

def shown(path):
    return path.encode(errors="surrogateescape").decode(errors="replace")

def entries(root):
    for folder, folders, files in os.walk(root):
        folders.sort()
        if not given.get("show_hidden", True):
            folders[:] = [name for name in folders if not name.startswith(".")]
            files = [name for name in files if not name.startswith(".")]
        for name, kind in sorted([(name, "directory") for name in folders] + [(name, "file") for name in files]):
            yield os.path.join(folder, name), name, kind

def text_of(path):
    if not os.path.isfile(path) or os.path.getsize(path) > MAX_FILE:
        raise ValueError
    with open(path, encoding="utf-8", newline="") as file:
        return file.read()

def grep():
    query = given["query"] if given["regex"] else re.escape(given["query"])
    try:
        pattern = re.compile(query, re.IGNORECASE if given["case_insensitive"] else 0)
    except re.error as error:
        raise Refused("invalid", f"The regular expression is not valid: {error}.")
    root, include, matches = given["path"], given["include"], []
    if not os.path.exists(root):
        raise Refused("not_found", f"There is nothing at {shown(root)}.")
    paths = [root] if os.path.isfile(root) else (path for path, name, kind in entries(root)
        if kind == "file" and (not include or any(fnmatch.fnmatch(name, one) for one in include)))
    for path in paths:
        try:
            lines = text_of(path).splitlines()
        except (OSError, ValueError):
            continue
        for number, line in enumerate(lines, 1):
            if pattern.search(line) is None:
                continue
            match = {"file": shown(path)}
            if given["match_per_line"]:
                match |= {"line": number, "content": line[:MAX_LINE]}
            if len(matches) >= given["max_results"] or not fits(match):
                return {"matches": matches, "truncated": True}
            matches.append(match)
            if not given["match_per_line"]:
                break
    return {"matches": matches, "truncated": False}

def glob():
    root, matches = given["path"], []
    for path, name, kind in entries(folder_of(root)):
        relative = os.path.relpath(path, root)
        hits = lambda one: fnmatch.fnmatch(name, one) or fnmatch.fnmatch(relative, one)
        if given["type"] not in ("any", kind) or not hits(given["pattern"]) or any(map(hits, given["exclude"])):
            continue
        match = described(path, kind, shown(relative))
        if len(matches) >= given["max_results"] or not fits(match):
            return {"matches": matches, "truncated": True}
        matches.append(match)
    return {"matches": matches, "truncated": False}

def described(path, kind, name):
    try:
        status = os.stat(path)
    except OSError:
        status = os.lstat(path)
    return {"path": name, "type": kind, "size": status.st_size, "modified": status.st_mtime}

def folder_of(path):
    if not os.path.isdir(path):
        raise Refused("not_found", f"There is no folder {shown(path)}.")
    return path

def rank_of(query, name, relative):
    name, relative = name.lower(), relative.lower()
    return 0 if name == query else 1 if name.startswith(query) else 2 if query in name else 3 if query in relative else 4

def search():
    root, query, found = given["path"], given["query"].strip().lower(), []
    for path, name, kind in entries(folder_of(root)):
        rank = rank_of(query, name, "")
        if rank < 3 and given["type"] in ("any", kind):
            found.append((rank, len(name), path, name, kind))
    best = heapq.nsmallest(given["max_results"], found)
    return {"results": [described(path, kind, shown(path)) | {"name": shown(name)} for _, _, path, name, kind in best]}

def matches():
    root, query, found = given["path"], given["query"].strip().lower(), []
    for path, name, kind in entries(folder_of(root)):
        relative = os.path.relpath(path, root)
        rank, lines = rank_of(query, name, relative), []
        try:
            text = text_of(path) if kind == "file" and os.path.getsize(path) <= 2**20 else ""
        except (OSError, ValueError):
            text = ""
        if query in text.lower():
            for number, line in enumerate(text.splitlines(), 1):
                at = line.lower().find(query)
                if at >= 0 and len(lines) < 3:
                    lines.append({"line": number, "column": at + 1, "text": line[:MAX_LINE]})
        if rank < 4 or lines:
            found.append((rank, len(relative), relative, {"path": shown(path), "relative_path": shown(relative), "name": shown(name),
                "type": kind, "name_match": rank < 4, "content_matches": lines}))
    found.sort(key=lambda one: one[:3])
    end = given["offset"] + given["max_results"]
    page = []
    for one in found[given["offset"]:end]:
        if not fits(one[3]):
            end = given["offset"] + len(page)
            break
        page.append(one[3])
    return {"results": page, "next_offset": end if len(found) > end else None}

def replace():
    path = given["path"]
    if not os.path.isfile(path):
        raise Refused("not_found", f"There is no file {shown(path)}.")
    try:
        text = text_of(path)
    except ValueError:
        raise Refused("invalid", "The file is no text, or too large.")
    for piece in given["replacements"]:
        start, end = 0, len(text)
        if piece.get("start_line") or piece.get("end_line"):
            lines = text.splitlines(keepends=True)
            first, last = (piece.get("start_line") or 1) - 1, piece.get("end_line") or len(lines)
            start = len("".join(lines[:first]))
            end = max(start, len("".join(lines[:last])))
        region, target = text[start:end], piece["target"]
        number = region.count(target)
        if number == 0:
            raise Refused("invalid", f"The text was not found: {target[:100]!r}. Nothing was changed.")
        if number > 1 and not piece.get("allow_multiple"):
            raise Refused("invalid", f"The text occurs {number} times, and allow_multiple is false. Nothing was changed.")
        text = text[:start] + region.replace(target, piece["replacement"]) + text[end:]
        if len(text) > MAX_FILE:
            raise Refused("invalid", "The file would become too large. Nothing was changed.")
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write(text)
    return {"size": os.path.getsize(path)}

def archive():
    import zipfile
    total = 0
    with zipfile.ZipFile(given["path"], "x", zipfile.ZIP_DEFLATED, strict_timestamps=False) as packed:
        for root in given["paths"]:
            if not os.path.exists(root):
                raise Refused("not_found", f"There is nothing at {shown(root)}.")
            for path in [root] if os.path.isfile(root) else (path for path, name, kind in entries(root) if kind == "file"):
                # A pipe would wait for its other end.
                if not os.path.isfile(path):
                    continue
                total += os.path.getsize(path)
                if total > MAX_ARCHIVE:
                    raise Refused("invalid", "The files are too large for one archive. Download them in parts.")
                packed.write(path, shown(os.path.relpath(path, os.path.dirname(root.rstrip("/")) or "/")))
    return {"size": os.path.getsize(given["path"])}

OPERATIONS = {"archive": archive, "grep": grep, "glob": glob, "search": search, "matches": matches, "replace": replace}
try:
    result = OPERATIONS[given["op"]]()
except Refused as refused:
    result = {"error": {"code": refused.args[0], "message": refused.args[1]}}
except OSError as error:
    result = {"error": {"code": "not_found" if isinstance(error, FileNotFoundError) else "failed", "message": f"{shown(str(error.filename))}: {error.strerror}."}}
print(json.dumps(result))
`
