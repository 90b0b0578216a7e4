import { join } from 'node:path'
import { runCommand } from '../../../scripts/setup/command.ts'
import { copyProject } from '../../security/copy-project.ts'
import type { ChaosMutant, ChaosStorageKind } from './mutants.ts'

/** Larger than the short form, so that mutants which need a race fail reliably. */
const SCALE = '0.02'
const TIMEOUT_SECONDS = 600

/** Runs each mutant's scenario on this storage in a copy of the project with that edit. Returns the mutants for which the scenario passed. */
export async function runChaosMutants(
  mutants: readonly ChaosMutant[],
  storage: ChaosStorageKind,
  log: (line: string) => void,
): Promise<readonly string[]> {
  const survivors: string[] = []
  for (const { what, edit, scenario, only = storage } of mutants) {
    if (only !== storage) continue
    await using copy = await copyProject('', [edit])
    const args = [
      join(copy.root, 'tests/chaos/main.ts'),
      '--only',
      scenario,
      '--storage',
      storage,
      '--scale',
      SCALE,
      '--json',
      '--fail-fast',
    ]
    const { code } = await runCommand(process.execPath, args, { cwd: copy.root, timeoutSeconds: TIMEOUT_SECONDS })
    if (code === 0) survivors.push(what)
    log(`${code === 0 ? 'SURVIVES' : 'killed  '} ${what} (${scenario})`)
  }
  return survivors
}
