import { readFile } from 'node:fs/promises'
import { docker } from './docker.ts'

const MEGABYTE = 1_000_000

/** Resident memory of a process, MB; null without /proc. */
export async function residentMegabytes(pid: number): Promise<number | null> {
  return megabytes(await readFile(`/proc/${pid}/status`, 'utf8').catch(() => ''), 'VmRSS')
}

/** Proportional memory of all processes of a sandbox, MB; null without the rights to read it. */
export async function sandboxPssMegabytes(sandboxId: string): Promise<number | null> {
  const [found] = await docker.listContainers({ filters: { label: [`cellblock.sandbox=${sandboxId}`] } })
  if (found === undefined) return null
  const { Titles, Processes } = (await docker.getContainer(found.Id).top()) as { readonly Titles: string[]; readonly Processes: string[][] }
  const column = Titles.indexOf('PID')
  let sum = 0
  for (const process of Processes) {
    const size = megabytes(await readFile(`/proc/${process[column]}/smaps_rollup`, 'utf8').catch(() => ''), 'Pss')
    if (size === null) return null
    sum += size
  }
  return sum
}

function megabytes(text: string, field: string): number | null {
  const value = new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(text)?.[1]
  return value === undefined ? null : (Number(value) * 1024) / MEGABYTE
}
