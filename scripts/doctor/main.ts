// `npm run doctor` checks whether this machine can run the service; with --aws it checks a deployment and its isolation. Without --aws it needs
// no packages, because they may be missing.
import { runOperation, readFlags, UsageError } from '../operate/flags.ts'
import { readDoctorConfig } from './config.ts'
import { findingLine, findingsText, type Finding } from './finding.ts'
import { transcriptOf } from './transcript.ts'
import { checkLocally } from './local-checks.ts'

const USAGE = `Usage: npm run doctor [-- --json]
       npm run doctor -- --aws [--stage NAME] [--long] [--json | --transcript]

Without --aws it checks this machine: Node, packages, the kernel, the Docker engine and its isolation features, the sandbox image, the port, the disk.
It changes nothing. PORT, HOST and DOCKER_HOST have the meaning that they have for npm start.

With --aws it checks the deployment in the account of your credentials: quotas, stacks, endpoints, image. It starts a sandbox and a
network probe as Fargate tasks (about two minutes and one cent) and stops them. With CELLBLOCK_URL and CELLBLOCK_API_KEY of the
deployment it also runs hostile programs as a tenant, and checks streams, page, session and uploads (about two minutes more).

--long also makes a call that takes more than two minutes, longer than the distribution waits for a byte.

--transcript prints text for a bug report on standard output, without account numbers and keys, and the progress on standard error:
npm run doctor -- --aws --transcript > doctor.txt

Exit code 1 if a check fails.
`

await runOperation(USAGE, async (args) => {
  const flags = readFlags(args, ['stage'], ['json', 'aws', 'transcript', 'long'])
  if (flags.aws !== true && (flags.stage !== undefined || flags.transcript === true || flags.long === true))
    throw new UsageError('--stage, --transcript and --long belong to a deployment: add --aws.')
  const config = readDoctorConfig()
  const isJson = flags.json === true
  const began = Date.now()
  const seconds: number[] = []
  const report = (finding: Finding): void => {
    seconds.push((Date.now() - began) / 1000)
    if (!isJson) (flags.transcript === true ? process.stderr : process.stdout).write(findingLine(finding))
  }
  const stage = flags.stage as string | undefined
  const { findings, environment } =
    flags.aws === true
      ? await (await import('./account/own-account.ts')).checkOwnAccount(config, { stage, isLong: flags.long === true }, report)
      : { findings: await checkLocally({ config: config.setup, host: config.host, port: config.port }), environment: {} }
  if (flags.aws !== true) for (const finding of findings) report(finding)
  if (isJson) process.stdout.write(`${JSON.stringify(findings)}\n`)
  else process.stdout.write(flags.transcript === true ? transcriptOf({ findings, seconds, environment }) : findingsText(findings))
  return findings.some(({ outcome }) => outcome === 'fail') ? 1 : 0
})
