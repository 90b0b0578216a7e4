import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect } from 'vitest'
import type { Execution } from '../../../services/model/executions/execution.ts'
import type { Sandbox } from '../../../services/model/sandboxes/sandbox.ts'
import { openAccount, type Account, type AccountTenant } from './emulated-account.ts'

const run = promisify(execFile)

/** A deployed service with one tenant, and ways to look behind it. */
export interface DeploymentFixture {
  readonly account: Account
  /** What the first deployment showed once. */
  readonly adminKey: string | null
  readonly acme: AccountTenant
  /** A container that all suites share. */
  readonly session: string
  /** Throws when none holds it. */
  sandboxOf(containerId: string): Promise<Sandbox>
  /** The engine's container behind a sandbox. Throws when there is none. */
  engineContainer(sandbox: Sandbox): Promise<string>
  /** Sandboxes of the pool that wait. */
  warm(): Promise<readonly Sandbox[]>
  rowOf(executionId: string): Promise<Execution>
  isRunning(executionId: string): Promise<void>
}

/** An emulated account with the service in it, nothing warm. `image` is the local sandbox image. */
export async function createFixture(image: string): Promise<DeploymentFixture> {
  const account = await openAccount(image)
  try {
    const { adminKey } = await account.deploy({ warm: 0 })
    const acme = await account.createTenant('acme')
    const session = await acme.native.createContainer('session')
    return { account, adminKey, acme, session, ...behind(account, acme.id) }
  } catch (error) {
    await account.stop()
    throw error
  }
}

function behind(account: Account, tenant: string): Omit<DeploymentFixture, 'account' | 'adminKey' | 'acme' | 'session'> {
  const rowOf = async (executionId: string): Promise<Execution> => {
    const row = await account.table().executions.get(tenant, executionId)
    if (row === null) throw new Error(`There is no execution ${executionId}`)
    return row
  }
  return {
    rowOf,
    isRunning: async (executionId) => expect.poll(async () => (await rowOf(executionId)).status).toBe('running'),
    warm: async () => (await account.table().sandboxes.ready('1g', 10)).filter(({ readyAt }) => readyAt !== null),
    async sandboxOf(containerId) {
      const found = (await account.table().sandboxes.all()).find(({ claimedBy }) => claimedBy?.containerId === containerId)
      if (found === undefined) throw new Error(`No sandbox holds ${containerId}`)
      return found
    },
    async engineContainer({ address }) {
      // The task has its address.
      for (const id of await account.ministack.tasks()) {
        // A task of the pool may have ended since it was listed.
        const { stdout: ip } = await run('docker', ['inspect', '--format', '{{.NetworkSettings.IPAddress}}', id]).catch(() => ({
          stdout: '',
        }))
        if (address?.kind === 'tcp' && ip.trim() === address.host) return id
      }
      throw new Error('No container has the address of the sandbox')
    },
  }
}
