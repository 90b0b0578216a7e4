import { mkdtempSync, rmSync } from 'node:fs'
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
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}
