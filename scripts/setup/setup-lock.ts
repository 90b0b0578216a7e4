import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Progress } from './progress.ts'

/** A takeover that lasts longer was abandoned, milliseconds. */
const TAKEOVER_MS = 10_000

/** Runs `work` under a lock of this clone's set-up. Takes over a lock whose owner has died. */
export async function withSetupLock<T>(folder: string, progress: Progress, work: () => Promise<T>): Promise<T> {
  mkdirSync(dirname(folder), { recursive: true })
  for (let announced = false; !acquire(folder); announced = true) {
    if (!announced) progress(`Another command (process ${readOwner(folder)}) is setting up this clone: waiting`)
    await wait(300)
  }
  const release = (): void => removeAtomically(folder)
  process.once('exit', release)
  try {
    return await work()
  } finally {
    process.off('exit', release)
    release()
  }
}

/** Renames a prepared folder with our pid into place: a rename onto a non-empty folder fails. */
function acquire(folder: string): boolean {
  const aside = mkdtempSync(`${folder}-`)
  writeFileSync(join(aside, 'pid'), String(process.pid))
  try {
    renameSync(aside, folder)
    return true
  } catch {
    rmSync(aside, { recursive: true, force: true })
  }
  if (isDead(readOwner(folder))) removeStaleLock(folder)
  return false
}

/** Serialised by a second folder: without it, a process could remove the lock that another one has just taken over. */
function removeStaleLock(folder: string): void {
  const turn = `${folder}-takeover`
  try {
    mkdirSync(turn)
  } catch {
    // The owner of the takeover died as well.
    if (Date.now() - (statSync(turn, { throwIfNoEntry: false })?.mtimeMs ?? Infinity) > TAKEOVER_MS)
      rmSync(turn, { force: true, recursive: true })
    return
  }
  try {
    if (isDead(readOwner(folder))) removeAtomically(folder)
  } finally {
    rmSync(turn, { force: true, recursive: true })
  }
}

/** Removes in one step, so that no process sees a lock without its owner. */
function removeAtomically(folder: string): void {
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

/** False without a lock: another process may acquire it at any moment, and a dead owner's lock stays until its takeover. */
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
