import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import * as z from 'zod'
import type { ServerTool, Tool } from '../../ports/tool.ts'
import { argumentChecker } from '../../model/tools/check-arguments.ts'
import { OWN_ITEM_TOOLS } from '../../model/responses/items/item-types.ts'

const NAME = /^[a-zA-Z][\w-]{0,63}$/

/** What a tool file has to export as `tool`. Limits have defaults. */
const ToolFile = z.object({
  type: z
    .string()
    .regex(/^[a-z][a-z0-9_]{0,63}$/, 'has to be 1 to 64 lower-case letters, digits or _, beginning with a letter')
    .refine((type) => type !== 'function', 'may not be "function": that type is reserved for functions of the caller'),
  aliases: z.array(z.string().min(1)).optional(),
  name: z.string().regex(NAME, 'has to be 1 to 64 letters, digits, _ or -, beginning with a letter'),
  description: z.string().min(1, 'has to tell the model what the tool does').max(2_000),
  parameters: z.looseObject({ type: z.literal('object', 'has to be "object": a JSON schema of the arguments') }),
  limits: z
    .object({ timeoutMs: z.int().min(1).max(600_000).default(30_000), maxResultChars: z.int().min(1).max(100_000).default(10_000) })
    .prefault({}),
  answeredBy: z.literal('server', 'has to be "server"').optional(),
  execute: z.custom<ServerTool['execute']>((value) => typeof value === 'function', 'has to be a function'),
})

/** A tool whose calls have a separate item type has the same type and name. */
const CheckedTool = ToolFile.superRefine((tool, context) => {
  const name = OWN_ITEM_TOOLS.find((own) => (tool.type === own) !== (tool.name === own))
  if (name !== undefined) context.addIssue(`with type "${name}" has to have the name "${name}" too, and only it may`)
})

/**
 * The tools in the files of a folder, in the order of their names. Throws an Error with a sentence for each thing that is wrong, so that a
 * server with a bad tool does not start.
 */
export async function loadTools(folder: string): Promise<readonly ServerTool[]> {
  return Promise.all((await toolFiles(folder)).map(loadTool))
}

/** The files of a folder that hold a tool each, whole paths in order: modules that are neither types nor tests. */
export async function toolFiles(folder: string): Promise<readonly string[]> {
  const names = await readdir(folder).catch((cause: unknown) => {
    throw new Error(`The folder of tools ${folder} cannot be read. Make it, or name another in CELLBLOCK_TOOLS.`, { cause })
  })
  const files = names.filter((name) => /\.m?[jt]s$/.test(name) && !/\.(d|test)\.m?ts$/.test(name))
  return files.toSorted().map((name) => join(folder, name))
}

async function loadTool(path: string): Promise<ServerTool> {
  let exported: { readonly tool?: unknown }
  try {
    exported = (await import(pathToFileURL(path).href)) as typeof exported
  } catch (cause) {
    throw new Error(`The tool file ${path} cannot be loaded: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
  }
  if (exported.tool === undefined) throw new Error(`The tool file ${path} has no export named "tool". Write \`export const tool = { … }\`.`)
  const parsed = CheckedTool.safeParse(exported.tool)
  if (!parsed.success) throw new Error(parsed.error.issues.map((issue) => faultOf(path, issue)).join('\n'))
  const { aliases, ...rest } = parsed.data
  // The exported object stays what `this` is, whatever was copied.
  const execute = rest.execute.bind(exported.tool)
  const tool: ServerTool = { ...rest, answeredBy: 'server', ...(aliases === undefined ? {} : { aliases }), execute }
  try {
    argumentChecker(tool)
  } catch (cause) {
    throw new Error(`The tool file ${path} is wrong: parameters is no JSON schema that can be checked: ${String(cause)}`, { cause })
  }
  return tool
}

const faultOf = (path: string, issue: z.core.$ZodIssue): string =>
  `The tool file ${path} is wrong: ${issue.path.length === 0 ? 'tool' : issue.path.join('.')} ${issue.message}.`

/** Throws an Error that names two tools of one name or type. */
export function refuseDoubles(tools: readonly Pick<Tool, 'name' | 'type' | 'aliases'>[]): void {
  const seen = new Set<string>()
  for (const tool of tools)
    for (const word of [`name ${tool.name}`, ...[tool.type, ...(tool.aliases ?? [])].map((type) => `type ${type}`)]) {
      if (seen.has(word)) throw new Error(`Two tools have the ${word}. Rename one of them, or take its file or its key away.`)
      seen.add(word)
    }
}
