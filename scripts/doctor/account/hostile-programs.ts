import { prelude } from '../../hostile-programs/prelude.ts'
import { names } from '../../hostile-programs/names.ts'
import { network } from '../../hostile-programs/network.ts'
import type { Program } from '../../hostile-programs/program.ts'
import { fail, ok, type Finding } from '../finding.ts'
import { call, reasonOf, type DoctorContainer } from './service-calls.ts'

/** Addresses that a program would reach in AWS if it could make a packet. */
const TARGETS = {
  gateway: '1.1.1.1',
  port: 443,
  flag: '/nonexistent',
  engine: '/var/run/docker.sock',
  metadata: '169.254.169.254',
  credentials: '169.254.170.2',
  resolver: '169.254.169.253',
  sibling: '8.8.8.8',
  siblingPort: 53,
}

/** Tries every socket family and type and prints the families that open. */
const FAMILIES: Program = {
  id: 'doctor/socket-families',
  mechanism: 'socket(2)',
  code: `opened = set()
for family in range(64):
    for kind in (1, 2, 3, 4, 5, 10):
        try: socket.socket(family, kind).close(); opened.add(family)
        except OSError: pass
print(sorted(opened))`,
  expects: { status: 'succeeded', stdout: '[1]\n' },
}

const foreignPut = (region: string): Program => ({
  id: 'doctor/foreign-bucket-put',
  mechanism: 'HTTP client of the standard library',
  code: `import urllib.request
try: urllib.request.urlopen(urllib.request.Request("https://s3.${region}.amazonaws.com/foreign-bucket/probe", data=b"x", method="PUT"), timeout=3); print("went out")
except OSError as e: print("refused" if getattr(e, "reason", None) is not None and not hasattr(e, "code") else "went out")`,
  expects: { status: 'succeeded', stdout: 'refused\n' },
})

/** These check that no network interface exists. A task has one; the network probe checks its isolation. */
const NOT_FOR_TASKS = ['network/interfaces', 'network/routes']

export const programsFor = (region: string): readonly Program[] =>
  [FAMILIES, foreignPut(region), ...network.programs, ...names.programs].filter(({ id }) => !NOT_FOR_TASKS.includes(id))

interface Ended {
  readonly status: string
  readonly stdout: string
  readonly error: { readonly name: string; readonly value: string } | null
}

const isAsExpected = ({ expects }: Program, { status, stdout, error }: Ended): boolean =>
  status === expects.status &&
  (expects.stdout === undefined || (typeof expects.stdout === 'string' ? stdout === expects.stdout : expects.stdout.test(stdout))) &&
  (expects.error === undefined || expects.error.test(`${error?.name}: ${error?.value}`))

/** Runs the hostile programs as a tenant through the service. */
export async function checkPrograms({ api, path }: DoctorContainer, programs: readonly Program[]): Promise<Finding> {
  const what = 'Worker'
  const ended = async (started: Record<string, unknown>): Promise<Ended> => {
    for (let execution = started; ; execution = await call(api, { method: 'GET', path: `/v1/executions/${String(started['id'])}?wait=50` }))
      if (execution['ended_at'] !== null) return execution as unknown as Ended
  }
  try {
    const notBlocked: string[] = []
    for (const program of programs) {
      const code = `${prelude(TARGETS, 'doctor')}\n${program.code}`
      const result = await ended(
        await call(api, { method: 'POST', path: `${path}/executions?wait=50`, body: { code, timeout_seconds: 60 } }),
      )
      if (!isAsExpected(program, result)) notBlocked.push(`${program.id} (${result.status}: ${result.stdout.slice(0, 80).trim()})`)
    }
    return notBlocked.length === 0
      ? ok(what, `${programs.length} programs tried sockets, names, metadata, credentials and uploads: all blocked`)
      : fail(
          what,
          `${notBlocked.length} of ${programs.length} programs were not blocked: ${notBlocked.join(', ')}. Do not use this deployment.`,
        )
  } catch (error) {
    return fail(what, `The service did not answer: ${reasonOf(error)}`)
  }
}
