// `npm run doctor`: whether this machine can run the service. It needs no packages, because they may be what is missing.
import { runOperation, readFlags } from '../operate/flags.ts'
import { readDoctorConfig } from './config.ts'
import { findingsText } from './finding.ts'
import { checkLocally } from './local-checks.ts'

const USAGE = `Usage: npm run doctor [-- --json]

Looks at this machine: Node, packages, Docker and its walls, the sandbox image, the port, the disk. Changes nothing.
PORT, HOST and DOCKER_HOST are read as npm start reads them. Exit code 1 when a check fails.
`

await runOperation(USAGE, async (args) => {
  const flags = readFlags(args, [], ['json'])
  const { setup: config, host, port } = readDoctorConfig()
  const findings = await checkLocally({ config, host, port })
  process.stdout.write(flags.json === true ? `${JSON.stringify(findings)}\n` : findingsText(findings))
  return findings.some(({ outcome }) => outcome === 'fail') ? 1 : 0
})
