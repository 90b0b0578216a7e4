// The official conformance suite of MCP against /mcp, for both revisions that the endpoint serves.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createMcpRoute } from '../../services/wires/mcp/routes.ts'
import { startApi } from '../support/start-api.ts'
import { conformanceFixtures } from './mcp-fixtures.ts'

const SUITE = join(import.meta.dirname, 'node_modules/@modelcontextprotocol/conformance/dist/index.js')
/** Required scenarios that pass, of those that the revision requires. */
const REVISIONS = [
  { revision: '2026-07-28', required: 37, failing: [] },
  // These scenarios let the server call the client, for which the older revisions need a session. The endpoint has none, and its tools never do so.
  {
    revision: '2025-11-25',
    required: 30,
    failing: ['tools-call-sampling', 'tools-call-elicitation', 'elicitation-sep1034-defaults', 'elicitation-sep1330-enums'],
  },
] as const

/** Returns the rows of the pass table. A row starts with `FAILED` when other scenarios fail, or others pass, than expected. */
export async function runMcpConformance(): Promise<readonly string[]> {
  const api = await startApi({ routes: [createMcpRoute(conformanceFixtures)] })
  const folder = await mkdtemp(join(tmpdir(), 'cellblock-mcp-conformance-'))
  try {
    const rows: string[] = []
    for (const { revision, required, failing } of REVISIONS) {
      const failed = failedScenarios(await runSuite(folder, `${api.url}/mcp`, revision))
      const isExpected = failed !== null && failed.toSorted().join() === failing.toSorted().join()
      const result = `MCP ${revision}: ${required - (failed?.length ?? required)} of ${required} required scenarios`
      rows.push(isExpected ? result : `FAILED ${result}; failing: ${failed?.join(', ') ?? 'the suite did not run'}`)
    }
    return rows
  } finally {
    await Promise.all([api.stop(), rm(folder, { recursive: true, force: true })])
  }
}

async function runSuite(cwd: string, url: string, revision: string): Promise<string> {
  const child = spawn(process.execPath, [SUITE, 'server', '--url', url, '--requirements', revision], { cwd })
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()))
  await once(child, 'close')
  return output
}

/** Null when the output has no summary. */
function failedScenarios(output: string): readonly string[] | null {
  const [, summary = ''] = output.split('=== SUMMARY ===')
  const [scored = '', rest = ''] = summary.split(/^Not scored/m)
  const notCounted = new Set([...rest.matchAll(/[✓✗] ([\w-]+)/g)].map(([, name]) => name))
  if (!scored.includes('Total:')) return null
  return [...scored.matchAll(/^✗ ([\w-]+):/gm)].flatMap(([, name]) => (name !== undefined && !notCounted.has(name) ? [name] : []))
}
