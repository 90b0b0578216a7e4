import { startPlainProgram } from './plain-program.ts'

const PROGRAM = `
import json, pickle, subprocess, sys, time
exec(sys.argv[1])
with open("/tmp/frame.pickle", "wb") as file:
    pickle.dump(frame, file, protocol=pickle.HIGHEST_PROTOCOL)
del frame
plain = "import pickle, time; at = time.perf_counter(); pickle.load(open('/tmp/frame.pickle', 'rb')); print(time.perf_counter() - at)"
warm = "import pandas; " + plain
for _ in sys.stdin:
    started = time.perf_counter()
    subprocess.run([sys.executable, "-c", plain], check=True, stdout=subprocess.DEVNULL)
    whole = (time.perf_counter() - started) * 1000
    load = float(subprocess.run([sys.executable, "-c", warm], check=True, capture_output=True).stdout) * 1000
    print(json.dumps({"whole": whole, "load": load}), flush=True)
`

/** Milliseconds of one run. */
export interface UnpickleTime {
  /** From the start of a plain process until it has the variable, imports included. */
  readonly whole: number
  /** Only the call of `pickle.load`, in a process with pandas imported. */
  readonly load: number
}

export interface Unpickler extends AsyncDisposable {
  unpickle(): Promise<UnpickleTime>
}

/** Unpickles the variable `frame` of `code` in plain processes of the sandbox image, without the service. */
export function startUnpickler(image: string, code: string): Unpickler {
  const program = startPlainProgram(image, PROGRAM, { options: ['--tmpfs', '/tmp'], args: [code] })
  return {
    unpickle: async () => JSON.parse(await program.measure()) as UnpickleTime,
    [Symbol.asyncDispose]: () => program[Symbol.asyncDispose](),
  }
}
