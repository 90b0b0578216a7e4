import { expect, it } from 'vitest'
import { startReadySandbox } from './start-sandbox.ts'

const WORKER = 10001

// The profile decides what the sandbox asks of its kernel, not which kernel it is: the host's kernel can do what gVisor can.
it('with the profile of gVisor, the files helper gets the rights of the worker without setfsuid', async () => {
  await using sandbox = await startReadySandbox({ profile: 'gvisor' })
  await expect(sandbox.supervisor.call('GET', '/files')).resolves.toMatchObject({ status: 200 })

  const ids = await sandbox.docker('exec', sandbox.name, 'sh', '-c', 'grep -h ^Uid: /proc/[0-9]*/status')
  const users = ids.split('\n').map((line) => line.split('\t').slice(1).map(Number))
  expect(users).toContainEqual([expect.any(Number), WORKER, expect.not.closeTo(WORKER, 0), WORKER])
})
