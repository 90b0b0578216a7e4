import * as z from 'zod'
import { json } from '../../http/responses.ts'
import { defineRoute, runContext, type AnyRoute, type WireDescription } from '../../http/route.ts'
import { manifest, pluginDocument } from './documents.ts'
import { runProgram, type ProgramLimits } from '../../operations/programs/run-program.ts'
import { loadResult } from '../../operations/executions/load-result.ts'
import { RUN_ANSWER_BYTES } from '../../operations/executions/result-budget.ts'
import { storedBytes } from '../../operations/executions/stored-bytes.ts'
import { scriptResult } from './script-result.ts'

/** The logo: PNG, 64 by 64 pixels. It is code and not a file, because a function's bundle is one file. */
const LOGO_PNG: Uint8Array<ArrayBuffer> = Uint8Array.from(
  Buffer.from(
    [
      'iVBORw0KGgoAAAANSUhEUgAAAEAAAABACAMAAACdt4HsAAAADFBMVEX///8YIDD///9YxIxnE+3YAAAAAXRSTlMAQObYZgAAAMVJREFUeNrt1zESwyAMRFGW',
      '3P/OTpEGY1lavh03Vs8bEEKDWhtChWhByAq4fCYkJkhMkJggMUGCAgUkKLwAXP8VbgD6L9Z3gAFLOM6BIQRJrAvRLZSF8BqrQlwHReGkkGrCWSWWhALQ198C',
      'BipC8hpzIXvOqZD2g0zIG0oi3L4DmgN6C7QOaCX2i4DH+gHtSOP6zxh+V7aB/f5dYDq/Ccz584CD/FtAp8B/P0nvR5N/168ZOPDIw4cuPvbxwZOPvnz4Xh7/',
      'NwVbENobZwEAAAAAAElFTkSuQmCC',
    ].join(''),
    'base64',
  ),
)

export const pluginWire: WireDescription = {
  name: 'Plugin',
  description: 'The classic plugin surface: one call that runs a program.',
}

const pluginManifestRoute = defineRoute({
  method: 'get',
  path: '/.well-known/ai-plugin.json',
  auth: 'public',
  operationId: 'getPluginManifest',
  tag: 'Plugin',
  summary: 'Get the plugin manifest',
  answers: {
    200: { description: 'The manifest.', schema: () => z.looseObject({ schema_version: z.literal('v1') }).openapi('PluginManifest') },
  },
  handle: ({ publicUrl }) => json(200, manifest(publicUrl), { 'cache-control': 'public, max-age=300' }),
})

const pluginDocumentRoute = defineRoute({
  method: 'get',
  path: '/plugin/openapi.yaml',
  auth: 'public',
  operationId: 'getPluginDocument',
  tag: 'Plugin',
  summary: 'Get the OpenAPI document of the plugin',
  answers: {
    200: {
      description: 'A small OpenAPI document of `/execute`.',
      schema: () => z.looseObject({ openapi: z.string() }),
      contentType: 'application/yaml',
    },
  },
  handle: ({ publicUrl }) =>
    new Response(pluginDocument(publicUrl), {
      headers: { 'content-type': 'application/yaml; charset=utf-8', 'cache-control': 'public, max-age=300' },
    }),
})

const pluginLogoRoute = defineRoute({
  method: 'get',
  path: '/logo.png',
  auth: 'public',
  operationId: 'getLogo',
  tag: 'Plugin',
  summary: 'Get the logo of the plugin',
  answers: { 200: { description: 'PNG, 64 by 64 pixels.', schema: () => z.string(), contentType: 'image/png' } },
  handle: () =>
    new Response(LOGO_PNG, {
      // Pages of other origins show it.
      headers: { 'content-type': 'image/png', 'cache-control': 'public, max-age=86400', 'cross-origin-resource-policy': 'cross-origin' },
    }),
})

/** A chat site waits 45 seconds for an answer. */
const PROGRAM_LIMITS: ProgramLimits = { runSeconds: 30, answerMs: 40_000, stopMs: 3_500 }

const executeRoute = defineRoute({
  method: 'post',
  path: '/execute',
  auth: 'key',
  scope: 'run',
  operationId: 'execute',
  tag: 'Plugin',
  summary: 'Run a program, once',
  description:
    'In a fresh container that is deleted afterwards: no state, no files. Answers within 45 seconds. `/v1/containers` keeps variables and files.',
  body: () => z.object({ code: z.string('give the program as a string').openapi({ example: 'print(6 * 7)' }) }).openapi('Execute'),
  answers: {
    200: {
      description: 'The program ended. Failing code is a result, not an error.',
      schema: () =>
        z
          .object({
            stdout: z.string(),
            stderr: z.string(),
            returncode: z.int().openapi({
              description:
                'The exit code as in a shell: 0 for success, 1 for an uncaught exception, the argument of `sys.exit`, 124 after the time limit, 137 when the process was killed.',
            }),
          })
          .openapi('ScriptResult'),
    },
  },
  errors: ['sandbox_unavailable', 'too_many_queued', 'concurrency_limit_reached'],
  async handle(call) {
    const { objects, results } = call.deps
    results.reserve(RUN_ANSWER_BYTES)
    const { execution, isCutOff } = await runProgram(runContext(call), call.body.code, PROGRAM_LIMITS)
    return results.hold(storedBytes(execution), async () =>
      json(200, scriptResult(execution, await loadResult(objects, execution), isCutOff)),
    )
  },
})

export const pluginRoutes: readonly AnyRoute[] = [executeRoute, pluginManifestRoute, pluginDocumentRoute, pluginLogoRoute]
