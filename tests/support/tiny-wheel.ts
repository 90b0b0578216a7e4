import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runCommand } from '../../scripts/setup/command.ts'

const PROGRAM = `
import sys, zipfile
folder, name = sys.argv[1:]
info = f"{name}-1.0.dist-info"
files = {
    f"{name}.py": "ANSWER = 42\\n",
    f"{info}/METADATA": f"Metadata-Version: 2.1\\nName: {name.replace('_', '-')}\\nVersion: 1.0\\n",
    f"{info}/WHEEL": "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
}
files[f"{info}/RECORD"] = "".join(f"{path},,\\n" for path in [*files, f"{info}/RECORD"])
with zipfile.ZipFile(f"{folder}/{name}-1.0-py3-none-any.whl", "w") as wheel:
    for path, text in files.items():
        wheel.writestr(path, text)
`

/** Writes a wheel of one module, in which ANSWER is 42, and returns its line for a requirements file with hashes. */
export async function writeTinyWheel(folder: string, name: string): Promise<string> {
  const { code, output } = await runCommand('python3', ['-c', PROGRAM, folder, name], { timeoutSeconds: 30 })
  if (code !== 0) throw new Error(output)
  const wheel = await readFile(join(folder, `${name}-1.0-py3-none-any.whl`))
  return `${name}==1.0 --hash=sha256:${createHash('sha256').update(wheel).digest('hex')}\n`
}
