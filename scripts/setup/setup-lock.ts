import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Progress } from './progress.ts'

/** A takeover that lasts longer is nobody's, milliseconds. */
const TAKEOVER_MS = 10_000

/** Runs `work` while no other command of the same clone sets up; a lock whose owner is dead is taken over. */
export async function withSetupLock<T>(folder: string, progress: Progress, work: () => Promise<T>): Promise<T> {
  mkdirSync(dirname(folder), { recursive: true })
  for (let announced = false; !take(folder); announced = true) {
    if (!announced) progress(`Another command (process ${readOwner(folder)}) is setting up this clone: waiting for it to end`)
    await wait(300)
  }
  const release = (): void => removeWhole(folder)
  process.once('exit', release)
  try {
    return await work()
  } finally {
    process.off('exit', release)
    release()
  }
}

/** A folder with our pid inside is made aside and renamed into place: a rename onto a folder that has content fails. */
function take(folder: string): boolean {
  const aside = mkdtempSync(`${folder}-`)
  writeFileSync(join(aside, 'pid'), String(process.pid))
  try {
    renameSync(aside, folder)
    return true
  } catch {
    rmSync(aside, { recursive: true, force: true })
  }
  if (isDead(readOwner(folder))) removeDead(folder)
  return false
}

/** One at a time: whoever looked before another one took the lock over would remove that one's. */
function removeDead(folder: string): void {
  const turn = `${folder}-takeover`
  try {
    mkdirSync(turn)
  } catch {
    // Its owner died as well, in the blink of an eye that it needs.
    if (Date.now() - (statSync(turn, { throwIfNoEntry: false })?.mtimeMs ?? Infinity) > TAKEOVER_MS)
      rmSync(turn, { force: true, recursive: true })
    return
  }
  try {
    if (isDead(readOwner(folder))) removeWhole(folder)
  } finally {
    rmSync(turn, { force: true, recursive: true })
  }
}

/** In one step, so that nobody sees a lock without its owner. */
function removeWhole(folder: string): void {
  const aside = mkdtempSync(`${folder}-`)
  try {
    renameSync(folder, aside)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  } finally {
    rmSync(aside, { force: true, recursive: true })
  }
}

function readOwner(folder: string): number | undefined {
  try {
    return Number(readFileSync(join(folder, 'pid'), 'utf8'))
  } catch {
    return undefined
  }
}

/** False where there is no lock: the next moment somebody may have it, and a dead one's stays until it is taken over. */
function isDead(pid: number | undefined): boolean {
  if (pid === undefined) return false
  if (!Number.isInteger(pid) || pid <= 0) return true
  try {
    process.kill(pid, 0)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'EPERM'
  }
}
