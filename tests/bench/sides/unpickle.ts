import { runCommand, explainFailure } from '../../../scripts/setup/command.ts'
import { BENCH_LABEL } from './docker.ts'

const PROGRAM = `
import json, pickle, subprocess, sys, time
exec(sys.argv[1])
with open("/tmp/frame.pickle", "wb") as file:
    pickle.dump(frame, file, protocol=pickle.HIGHEST_PROTOCOL)
plain = "import pickle, time; at = time.perf_counter(); pickle.load(open('/tmp/frame.pickle', 'rb')); print(time.perf_counter() - at)"
whole, load = [], []
for _ in range(int(sys.argv[2])):
    started = time.perf_counter()
    subprocess.run([sys.executable, "-c", plain], check=True, stdout=subprocess.DEVNULL)
    whole.append((time.perf_counter() - started) * 1000)
    warm = "import pandas; " + plain
    load.append(float(subprocess.run([sys.executable, "-c", warm], check=True, capture_output=True).stdout) * 1000)
print(json.dumps({"whole": whole, "load": load}))
`

/** Milliseconds, one for each run. */
export interface UnpickleTimes {
  /** From the start of a plain process until it has the variable, imports included. */
  readonly whole: readonly number[]
  /** Only the call of `pickle.load`, in a process with pandas imported. */
  readonly load: readonly number[]
}

/** Unpickles the variable `frame` of `code` in plain processes of the sandbox image, without the service. */
export async function timeUnpickle(image: string, code: string, runs: number): Promise<UnpickleTimes> {
  const docker = ['run', '--rm', '--network', 'none', '--tmpfs', '/tmp', '--label', BENCH_LABEL, '--entrypoint', 'python3', image]
  const result = await runCommand('docker', [...docker, '-c', PROGRAM, code, String(runs)])
  if (result.code !== 0) throw explainFailure('The plain process could not unpickle: the reason is above.', result)
  return JSON.parse(result.stdout) as UnpickleTimes
}
