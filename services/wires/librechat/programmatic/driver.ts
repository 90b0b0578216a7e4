/**
 * Runs a program in the sandbox until it ends or waits for tools only. Its input is gzip-compressed JSON with `language`, `code`, `tools` (pairs
 * of function and tool name), `results` by call id, and `marker`. A call without a result is reported at the end of stderr, after the marker. The id
 * of a call is a hash of its tool and input and the number of equal calls before it, so that another run of the program finds its results.
 */
export const DRIVER = String.raw`
import ast, asyncio, gzip, hashlib, inspect, json, linecache, os, shlex, shutil, signal, subprocess, sys, tempfile, time, traceback, types

given = json.loads(gzip.decompress(sys.stdin.buffer.read()))

def report(calls):
    sys.stdout.flush()
    sys.stderr.write(given["marker"] + json.dumps(calls))
    sys.stderr.flush()
    os._exit(0)

def run_python(code):
    counts, waiting = {}, []

    def tool(name):
        async def call(*positional, **arguments):
            if positional:
                raise TypeError("tools take keyword arguments only")
            key = hashlib.sha256(json.dumps([name, arguments], sort_keys=True).encode()).hexdigest()[:24]
            counts[key] = counts.get(key, 0) + 1
            call_id = "call_%s_%d" % (key, counts[key])
            if call_id not in given["results"]:
                if not waiting:
                    asyncio.get_running_loop().call_later(0.05, report, waiting)
                waiting.append({"id": call_id, "name": name, "input": arguments})
                await asyncio.Event().wait()
            answer = given["results"][call_id]
            if answer["is_error"]:
                raise RuntimeError(answer["error_message"])
            return answer["result"]
        return call

    def compiled():
        try:
            return compile(code, "main.py", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT), False
        except SyntaxError as error:
            function = ast.parse("async def main(): pass").body[0]
            try:
                function.body = ast.parse(code, "main.py").body
            except SyntaxError:
                raise error from None
            return compile(ast.fix_missing_locations(ast.Module([function], [])), "main.py", "exec"), True

    main = types.ModuleType("__main__")
    main.__dict__.update({function: tool(name) for function, name in given["tools"]}, asyncio=asyncio, json=json)
    sys.modules["__main__"] = main
    linecache.cache["main.py"] = (len(code), None, code.splitlines(True), "main.py")

    async def run():
        program, is_function = compiled()
        result = eval(program, main.__dict__)
        if is_function:
            result = main.__dict__["main"]()
        if inspect.iscoroutine(result):
            await result

    try:
        asyncio.run(run())
    except Exception as error:
        frame = error.__traceback__
        while frame is not None and frame.tb_frame.f_code.co_filename != "main.py":
            frame = frame.tb_next
        traceback.print_exception(type(error), error, frame)
        sys.exit(1)

CALL = '''
import hashlib, json, os, sys, time
folder, name, text = os.path.dirname(__file__), sys.argv[1], sys.argv[2]
try:
    arguments = json.loads(text or "{}")
except ValueError:
    arguments = None
if not isinstance(arguments, dict):
    sys.exit(name + ": the argument is not a JSON object")
key = hashlib.sha256(json.dumps([name, arguments], sort_keys=True).encode()).hexdigest()[:24]
number = 1
while True:
    call_id = "call_%s_%d" % (key, number)
    try:
        os.close(os.open(os.path.join(folder, call_id), os.O_CREAT | os.O_EXCL))
        break
    except FileExistsError:
        number += 1
with open(os.path.join(folder, "results.json")) as file:
    answer = json.load(file).get(call_id)
if answer is None:
    with open(os.path.join(folder, call_id + ".part"), "w") as file:
        json.dump({"id": call_id, "name": name, "input": arguments}, file)
    os.rename(os.path.join(folder, call_id + ".part"), os.path.join(folder, call_id + ".waiting"))
    while True:
        time.sleep(60)
if answer["is_error"]:
    sys.exit(answer["error_message"])
result = answer["result"]
print(result if isinstance(result, str) else json.dumps(result, separators=(",", ":")))
'''

def run_bash(code):
    folder = tempfile.mkdtemp()
    call = os.path.join(folder, "call.py")
    functions = ["%s() { python3 %s %s \"$1\"; }\n" % (function, call, shlex.quote(name)) for function, name in given["tools"]]
    for name, text in (("call.py", CALL), ("results.json", json.dumps(given["results"])), ("main.sh", "".join(functions) + code)):
        with open(os.path.join(folder, name), "w") as file:
            file.write(text)
    child = subprocess.Popen(["/bin/bash", os.path.join(folder, "main.sh")], stdin=subprocess.DEVNULL, start_new_session=True)
    waiting = lambda: sorted(name for name in os.listdir(folder) if name.endswith(".waiting"))
    while child.poll() is None and not waiting():
        time.sleep(0.02)
    if child.poll() is None:
        time.sleep(0.2)  # parallel calls go into the same report
    if child.poll() is None:
        os.killpg(child.pid, signal.SIGKILL)
        calls = []
        for name in waiting():
            with open(os.path.join(folder, name)) as file:
                calls.append(json.load(file))
        shutil.rmtree(folder, ignore_errors=True)
        report(calls)
    shutil.rmtree(folder, ignore_errors=True)
    sys.exit(child.returncode if child.returncode >= 0 else 128 - child.returncode)

if given["language"] == "bash":
    run_bash(given["code"])
run_python(given["code"])
`
