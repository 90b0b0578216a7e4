// `npm run doctor`: whether this machine can run the service; with --aws whether a deployment is whole and keeps its sandboxes in. The first
// needs no packages, because they may be what is missing.
import { runOperation, readFlags, UsageError } from '../operate/flags.ts'
import { readDoctorConfig } from './config.ts'
import { findingLine, findingsText, type Finding } from './finding.ts'
import { checkLocally } from './local-checks.ts'

const USAGE = `Usage: npm run doctor [-- --json]
       npm run doctor -- --aws [--stage NAME] [--json]

Without --aws it looks at this machine: Node, packages, Docker and its walls, the sandbox image, the port, the disk. It changes nothing.
PORT, HOST and DOCKER_HOST are read as npm start reads them.

With --aws it looks at the deployment in the account of your credentials: quotas, stacks, endpoints, image. It starts a sandbox and a
probe of the network as Fargate tasks, about two minutes and a cent, and stops them. With CELLBLOCK_URL and CELLBLOCK_API_KEY of the
deployment it also runs hostile programs as a tenant.

Exit code 1 when a check fails.
`

await runOperation(USAGE, async (args) => {
  const flags = readFlags(args, ['stage'], ['json', 'aws'])
  if (flags.stage !== undefined && flags.aws !== true) throw new UsageError('--stage is for a deployment: say --aws too.')
  const config = readDoctorConfig()
  const isJson = flags.json === true
  const say = (finding: Finding): void => void (isJson || process.stdout.write(findingLine(finding)))
  const findings =
    flags.aws === true
      ? await (await import('./account/own-account.ts')).checkOwnAccount(config, flags.stage as string | undefined, say)
      : await checkLocally({ config: config.setup, host: config.host, port: config.port })
  if (flags.aws !== true) for (const finding of findings) say(finding)
  process.stdout.write(isJson ? `${JSON.stringify(findings)}\n` : findingsText(findings))
  return findings.some(({ outcome }) => outcome === 'fail') ? 1 : 0
})
