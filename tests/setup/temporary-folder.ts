import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Short, because paths of sockets below it have at most 107 bytes. */
const PREFIX = 'cbt-'

/**
 * One folder for the temporary files of a run, whatever process makes them: tests, servers, CDK. It is removed at the end, also what a test
 * that failed or was killed left behind. Each project calls this; the first one makes the folder.
 */
export function setup(): (() => void) | undefined {
  const before = process.env['TMPDIR']
  if (before !== undefined && before.includes(PREFIX)) return undefined
  const folder = mkdtempSync(join(tmpdir(), PREFIX))
  process.env['TMPDIR'] = folder
  return () => {
    if (before === undefined) delete process.env['TMPDIR']
    else process.env['TMPDIR'] = before
    removeFolder(folder)
  }
}

/** A folder that stays is named and fails nothing: the tests have already said what works. */
function removeFolder(folder: string): void {
  try {
    for (const point of mountPointsBelow(folder)) execFileSync('umount', ['--lazy', point])
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  } catch (error) {
    console.error(`Could not remove ${folder}, the temporary folder of this run: ${String(error)}. Remove it by hand.`)
  }
}

/** A server that a test killed leaves the tmpfs of its control folders mounted; its successor would unmount them, and a test may have none. */
function mountPointsBelow(folder: string): readonly string[] {
  const points = readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[4] ?? '')
  return points.filter((point) => point.startsWith(`${folder}/`))
}
