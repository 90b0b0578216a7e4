import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { runCommand } from '../../../scripts/setup/command.ts'
import { readSetupConfig } from '../../../scripts/setup/config.ts'
import { ensureDependencies } from '../../../scripts/setup/dependencies.ts'
import { createTenant } from '../../support/create-tenant.ts'
import { startRestartable } from '../restartable-server.ts'

const HERE = import.meta.dirname

/** E2B's packages as FastGPT locks them. */
export function fastGptPackages(): string {
  const { dependencies } = JSON.parse(readFileSync(join(HERE, 'package.json'), 'utf8')) as { dependencies: Record<string, string> }
  return Object.entries(dependencies)
    .map(([name, version]) => `\`${name}\` ${version}`)
    .join(', ')
}

/** Null when the calls of FastGPT pass; otherwise why not. */
export async function runFastGpt(): Promise<string | null> {
  const onLine = (line: string): void => void process.stdout.write(`${line}\n`)
  await ensureDependencies(HERE, readSetupConfig(), onLine)
  const server = await startRestartable({ SANDBOX_PRELOAD: '' })
  try {
    const env = {
      ...process.env,
      E2B_API_URL: `${server.url}/e2b`,
      E2B_SANDBOX_URL: `${server.url}/e2b`,
      FASTGPT_KEY: await createTenant(server, 'fastgpt'),
      FASTGPT_OTHER_KEY: await createTenant(server, 'other'),
      FASTGPT_RESTART: server.restartUrl,
    }
    const { code } = await runCommand(process.execPath, ['--test', '--test-force-exit', 'fastgpt.test.mjs'], { cwd: HERE, env, onLine })
    return code === 0 ? null : `exit code ${code}`
  } finally {
    await server.stop()
  }
}
