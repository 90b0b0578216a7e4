import * as z from 'zod'
import { isDeepStrictEqual } from 'node:util'
import { MEMORY_TIERS, TIERS } from '../../../model/limits.ts'
import type { SandboxSpec } from '../../../ports/sandbox-driver.ts'
import {
  containerOptions,
  SANDBOX_LABEL,
  SHARES_WHEN_READY,
  STAGE_LABEL,
  WORKER_UID_LABEL,
  type ContainerPlan,
} from './container-options.ts'
import { END_UID, FIRST_UID } from './create-sandbox-container.ts'
import { memoryLimitBytes } from './limits.ts'
import { SERVER_LABEL } from './remove-orphaned-sandboxes.ts'

const count = z.int().min(1)
const MODULE = /^[\w.]{1,100}$/

/** The variables of a request; everything else in it follows from them. */
const Variables = z.object({
  name: z.string().regex(/^[a-z]+_[0-9A-Za-z]{1,60}$/),
  Image: z.string(),
  Labels: z.record(z.string(), z.string()),
  Env: z.array(z.string()),
  HostConfig: z.object({
    Memory: count,
    PidsLimit: count,
    NanoCpus: count,
    CpuShares: count,
    Ulimits: z.tuple([z.object({ Soft: count })], z.unknown()),
    Tmpfs: z.record(z.string(), z.string()),
    Runtime: z.string().optional(),
  }),
})

const Limits = z.object({ memory_bytes: count, file_bytes: count, preload: z.array(z.string().regex(MODULE)).max(100).optional() })

const LABELS: readonly string[] = [SANDBOX_LABEL, STAGE_LABEL, WORKER_UID_LABEL, SERVER_LABEL]

export interface SandboxRequest {
  readonly spec: SandboxSpec
  readonly plan: Omit<ContainerPlan, 'controlFolder'>
}

/**
 * Reads the body with which the driver creates a sandbox. Null if it differs in anything from what the driver of this version makes of the same
 * variables: a privileged container, a mount, a capability or another command have no variable here.
 */
export function readSandboxRequest(
  body: unknown,
  fixed: { readonly controlFolderOf: (sandboxId: string) => string; readonly seccompProfile: string },
): SandboxRequest | null {
  const parsed = Variables.safeParse(body)
  if (!parsed.success) return null
  const { name: sandboxId, Image: image, Labels, Env, HostConfig } = parsed.data
  const env = new Map(Env.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]))
  const stated = Limits.safeParse(jsonOf(env.get('CELLBLOCK_LIMITS')))
  const memoryTier = MEMORY_TIERS.find((tier) => TIERS[tier].memoryBytes === stated.data?.memory_bytes)
  const workerUid = Number(Labels[WORKER_UID_LABEL])
  const isUidFree = Number.isSafeInteger(workerUid) && workerUid >= FIRST_UID && workerUid < END_UID
  if (!stated.success || memoryTier === undefined || !isUidFree) return null
  if (Object.keys(Labels).some((label) => !LABELS.includes(label))) return null

  const { file_bytes: fileBytes, preload } = stated.data
  const size = (path: string, option: string): number =>
    Number(new RegExp(`,${option}=(\\d{1,15})(?:,|$)`).exec(HostConfig.Tmpfs[path] ?? '')?.[1])
  const sizes = {
    dataBytes: size('/mnt/data', 'size'),
    inodes: size('/mnt/data', 'nr_inodes'),
    tmpBytes: size('/tmp', 'size'),
    homeBytes: size('/home/worker', 'size'),
    shmBytes: size('/dev/shm', 'size'),
    cpus: HostConfig.NanoCpus / 1e9,
    processes: HostConfig.PidsLimit,
    openFiles: HostConfig.Ulimits[0].Soft,
    fileBytes,
    reserveBytes: 0,
  }
  const server = Labels[SERVER_LABEL]
  const isAwaited = HostConfig.CpuShares === SHARES_WHEN_READY
  const request: SandboxRequest = {
    spec: { sandboxId, memoryTier, publicKey: env.get('CELLBLOCK_PUBLIC_KEY') ?? '', isAwaited },
    plan: {
      image,
      stage: Labels[STAGE_LABEL] ?? '',
      limits: { ...sizes, reserveBytes: HostConfig.Memory - memoryLimitBytes(memoryTier, sizes) },
      workerUid,
      seccompProfile: fixed.seccompProfile,
      labels: server === undefined ? {} : { [SERVER_LABEL]: server },
      runtime: HostConfig.Runtime,
      preload: isAwaited ? undefined : preload,
    },
  }
  const expected = containerOptions(request.spec, { ...request.plan, controlFolder: fixed.controlFolderOf(sandboxId) })
  return isDeepStrictEqual(JSON.parse(JSON.stringify(expected)), body) ? request : null
}

function jsonOf(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? '')
  } catch {
    return null
  }
}
