import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { explainFailure, runCommand } from '../../../scripts/setup/command.ts'
import { BENCH_LABEL } from './docker.ts'
import { NBCONVERT } from './nbconvert.ts'

const notebookOf = (code: string): unknown => ({
  nbformat: 4,
  nbformat_minor: 5,
  metadata: { kernelspec: { name: 'python3', display_name: 'Python 3', language: 'python' } },
  cells: [{ cell_type: 'code', id: 'cell', metadata: {}, execution_count: null, outputs: [], source: code }],
})

/** The image contains a font cache. Without it, each plot would build one first. */
const ENVIRONMENT = {
  PATH: `${NBCONVERT}/bin:/usr/local/bin:/usr/bin:/bin`,
  PYTHONPATH: NBCONVERT,
  MPLCONFIGDIR: '/opt/cellblock/mplcache',
}

/** The sandbox image, and the mounted folder with nbconvert. */
export interface ReplacedWay {
  readonly image: string
  readonly nbconvert: string
}

/** The reference without the service: write a notebook, `docker run --rm` with `jupyter nbconvert --execute`, read the result. */
export async function runReplacedWay({ image, nbconvert }: ReplacedWay, code: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'cellblock-bench-notebook-'))
  try {
    await writeFile(join(folder, 'in.ipynb'), JSON.stringify(notebookOf(code)))
    const environment = Object.entries(ENVIRONMENT).flatMap(([name, value]) => ['--env', `${name}=${value}`])
    const volumes = ['--volume', `${folder}:/notebook`, '--volume', `${nbconvert}:${NBCONVERT}:ro`]
    const docker = ['run', '--rm', '--label', BENCH_LABEL, ...environment, ...volumes, '--entrypoint', 'jupyter', image]
    const execute = ['nbconvert', '--to', 'notebook', '--execute', '--output', 'out.ipynb', '/notebook/in.ipynb']
    const result = await runCommand('docker', [...docker, ...execute])
    if (result.code !== 0) throw explainFailure('The replaced way failed: the reason is above.', result)
    const done = JSON.parse(await readFile(join(folder, 'out.ipynb'), 'utf8')) as {
      readonly cells: readonly { readonly outputs: readonly unknown[] }[]
    }
    if (done.cells[0]?.outputs.length === 0) throw new Error('nbconvert ran and left no output in the notebook.')
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
