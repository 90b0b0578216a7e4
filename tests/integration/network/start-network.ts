import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ChildGateway } from '../../../services/adapters/gateway/child-gateway.ts'
import type { PrivateHost } from '../../../services/adapters/gateway/messages.ts'
import { createSandboxLink } from '../../../services/adapters/link/create-sandbox-link.ts'
import { createSupervisorClient } from '../../../services/adapters/supervisor-client/supervisor-client.ts'
import { networkVariables } from '../../../services/model/network/sandbox-variables.ts'
import type { NetworkAttachment, NetworkRequestReport } from '../../../services/ports/network-gateway.ts'
import { internetAuthority } from '../../support/mirror.ts'
import { ATTACHMENT } from '../../support/start-proxy.ts'
import { startReadySandbox, type SandboxOptions, type TestSandbox } from '../supervisor/start-sandbox.ts'
import type { Run } from '../supervisor/supervisor-caller.ts'

const PROCESS = join(import.meta.dirname, '../../../services/entries/local/network-gateway-process.ts')

export interface TestNetwork extends AsyncDisposable {
  readonly sandbox: TestSandbox
  readonly gateway: ChildGateway
  readonly reports: readonly NetworkRequestReport[]
  /** Replaces the policy. */
  attach(attachment: Partial<NetworkAttachment>): Promise<void>
  /** Runs code with the variables of a container that has a network. */
  run(code: string, language?: 'python' | 'bash' | 'javascript', env?: Readonly<Record<string, string>>): Promise<Run>
}

/** A sandbox and the gateway in its own process, as a server has them. */
export async function startNetwork(
  attachment: Partial<NetworkAttachment>,
  privateHosts: Readonly<Record<string, PrivateHost>>,
  options: SandboxOptions = {},
): Promise<TestNetwork> {
  const folder = await mkdtemp(join(tmpdir(), 'cellblock-network-'))
  const sandbox = await startReadySandbox(options)
  const link = createSandboxLink({ kinds: ['unix'] })
  const reports: NetworkRequestReport[] = []
  const gateway = new ChildGateway({
    module: PROCESS,
    env: {},
    settings: {
      driver: 'docker',
      authorityFile: join(folder, 'authority.json'),
      extraCa: [(await internetAuthority()).certificate],
      privateHosts,
    },
    supervisor: createSupervisorClient({ link }),
    onReport: (report) => reports.push(report),
    onExit: () => undefined,
  })
  const session = {
    sandboxId: sandbox.id,
    address: { kind: 'unix', socketPath: sandbox.socketPath },
    privateKey: sandbox.privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64url'),
  } as const
  const attach = (changed: Partial<NetworkAttachment>): Promise<void> =>
    gateway.attach({ ...ATTACHMENT, session, ...attachment, ...changed })
  await attach({})
  return {
    ...{ sandbox, gateway, reports, attach },
    run: (code, language = 'python', env = {}) => sandbox.supervisor.run(code, { language, env: { ...networkVariables([]), ...env } }),
    async [Symbol.asyncDispose]() {
      await gateway.close()
      await link.close()
      await sandbox[Symbol.asyncDispose]()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
