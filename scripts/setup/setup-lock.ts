import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Progress } from './progress.ts'

/** Runs `work` while no other command of the same clone sets up; a lock whose owner is dead is taken over. */
export async function withSetupLock<T>(folder: string, progress: Progress, work: () => Promise<T>): Promise<T> {
  mkdirSync(dirname(folder), { recursive: true })
  for (let announced = false; !take(folder); announced = true) {
    if (!announced) progress(`Another command (process ${readOwner(folder)}) is setting up this clone: waiting for it to end`)
    await wait(300)
  }
  const release = (): void => rmSync(folder, { force: true, recursive: true })
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
  if (isAlive(readOwner(folder))) return false
  rmSync(folder, { recursive: true, force: true })
  return take(folder)
}

function readOwner(folder: string): number | undefined {
  try {
    return Number(readFileSync(join(folder, 'pid'), 'utf8'))
  } catch {
    return undefined
  }
}

function isAlive(pid: number | undefined): boolean {
  if (pid === undefined || !Number.isInteger(pid) || pid <= 0) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
