/** Bytes of a result. Longer ones are cut, and say so. */
const MAX_RESULT_BYTES = 100 * 1024
const MAX_FILE_BYTES = 256 * 1024
const MAX_MATCHES = 200

/**
 * The file tools of the toolset `agent_toolset_20260401`, as a program in the sandbox: it gets a call as JSON and prints the result as JSON. One run
 * of code is one effect, so an interrupted `edit` is either done or not done.
 */
const PROGRAM = `
import fnmatch, glob, json, os, re, tempfile
WORK, MAX_RESULT, MAX_FILE, MAX_MATCHES = "/mnt/data", ${MAX_RESULT_BYTES}, ${MAX_FILE_BYTES}, ${MAX_MATCHES}
SKIPPED = {".git", "node_modules"}
class Refused(Exception): pass
def path_of(given):
    return os.path.normpath(os.path.join(WORK, given))
def text_of(given):
    path = path_of(given)
    if not os.path.isfile(path): raise Refused(f"{given} is not a regular file" if os.path.exists(path) else f"{given}: no such file")
    if os.path.getsize(path) > MAX_FILE: raise Refused(f"{given} has {os.path.getsize(path)} bytes, more than {MAX_FILE}. Use bash to read or change a part of it.")
    with open(path, encoding="utf-8", errors="replace", newline="") as file: return file.read()
def put(given, content):
    path = path_of(given)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(dir=os.path.dirname(path))
    with os.fdopen(descriptor, "w", encoding="utf-8", errors="surrogatepass", newline="") as file: file.write(content)
    os.chmod(temporary, os.stat(path).st_mode & 0o7777 if os.path.exists(path) else 0o644)
    os.replace(temporary, path)
def files_below(folder):
    if os.path.isfile(folder): yield folder
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(set(folders) - SKIPPED)
        for name in sorted(names):
            path = os.path.join(parent, name)
            if os.path.isfile(path) and not os.path.islink(path): yield path
def read(file_path, view_range=None):
    if view_range is None: return text_of(file_path)
    first, last = view_range
    with open(path_of(file_path), encoding="utf-8", errors="replace", newline="") as file:
        lines = [line for number, line in enumerate(file, 1) if number >= first and (last < 1 or number <= last)]
    if sum(map(len, lines)) > MAX_FILE: raise Refused(f"These lines of {file_path} have more than {MAX_FILE} characters. Read fewer.")
    return "".join(lines)
def write(file_path, content=""):
    put(file_path, content)
    return f"wrote {len(content.encode(errors='surrogatepass'))} bytes to {file_path}"
def edit(file_path, old_string, new_string, replace_all=False):
    if old_string == "": raise Refused("old_string is empty. Give the text to replace.")
    text = text_of(file_path)
    count = text.count(old_string)
    if count == 0: raise Refused(f"old_string was not found in {file_path}")
    if count > 1 and not replace_all: raise Refused(f"old_string occurs {count} times in {file_path}. Give more text around it, or set replace_all.")
    put(file_path, text.replace(old_string, new_string))
    return f"edited {file_path} ({count} replacement{'' if count == 1 else 's'})"
def glob_files(pattern, path="."):
    if pattern.startswith("/") or ".." in pattern.split("/"): raise Refused("Give a pattern relative to path, without ..")
    root = path_of(path)
    found = [os.path.join(root, one) for one in glob.iglob(pattern, root_dir=root, recursive=True, include_hidden=True) if not SKIPPED & set(one.split("/"))]
    found = sorted(filter(os.path.isfile, found), key=lambda one: -os.path.getmtime(one))
    return "\\n".join(found[:MAX_MATCHES]) or "no matches"
def grep(pattern, path="."):
    wanted, found, size = re.compile(pattern), [], 0
    for file_path in files_below(path_of(path)):
        with open(file_path, encoding="utf-8", errors="replace") as file:
            for number, line in enumerate(file, 1):
                if "\\0" in line: break
                if len(line) <= 2000 and wanted.search(line):
                    found.append(f"{file_path}:{number}:{line.rstrip(chr(10))}")
                    size += len(found[-1]) + 1
                    if size > MAX_RESULT: return "\\n".join(found)
    return "\\n".join(found) or "no matches"
TOOLS = {"read": read, "write": write, "edit": edit, "glob": glob_files, "grep": grep}
try: result = {"text": TOOLS[CALL["name"]](**CALL["input"])}
except Refused as refusal: result = {"error": str(refusal)}
except (OSError, TypeError, ValueError, re.error) as error: result = {"error": f"{type(error).__name__}: {error}"}
print(json.dumps(result))
`

/** Code for a Python session of the container, which leaves no name in it. JSON text is also a string of Python. */
export const fileToolCode = (name: string, input: unknown): string =>
  `import json as _json; exec(compile(${JSON.stringify(PROGRAM)}, "tool", "exec"), {"CALL": _json.loads(${JSON.stringify(JSON.stringify({ name, input }))})}); del _json`
