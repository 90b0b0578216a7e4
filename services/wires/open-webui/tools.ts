import type { Method } from '../../http/route.ts'

type Type = 'string' | 'integer' | 'number' | 'boolean' | 'strings' | 'replacements' | 'variables'
/** Type and description of an argument; the name of one that is required ends with `!`. */
type Arguments = Readonly<Record<string, readonly [Type, string]>>

interface Tool {
  readonly name: string
  readonly method: Method
  /** Names of arguments in braces are those of its path. */
  readonly path: string
  readonly description: string
  readonly query?: Arguments
  readonly body?: Arguments
}

const PATH = ['string', 'Absolute path, or relative to the current folder.'] as const
const FOLDER = ['string', 'Folder to search in. Default: the current folder.'] as const
const MAX_RESULTS = ['integer', 'Maximum number of results, 1 to 500. Default: 50.'] as const
const PROCESS = ['string', 'The id that run_command answered.'] as const
const WAIT = ['number', 'Seconds to wait for the end, at most 300. Default: answer at once.'] as const
const TAIL = ['integer', 'Only the last so many pieces of output.'] as const

/** The calls that a model makes: it reads this text, and nothing else, to use the terminal. */
export const TOOLS: readonly Tool[] = [
  {
    name: 'run_command',
    method: 'post',
    path: '/execute',
    description:
      'Runs a command line with bash in a Linux sandbox that has Python with libraries for data, plots and documents. Without wait it answers at once with an id, and the command runs on. Files in /home/user are kept.',
    query: { wait: WAIT, tail: TAIL },
    body: {
      'command!': ['string', 'The command line; pipes, redirections and several lines are fine.'],
      cwd: ['string', 'Folder to run in. Default: the current folder.'],
      env: ['variables', 'Environment variables of this command.'],
    },
  },
  {
    name: 'get_process_status',
    method: 'get',
    path: '/execute/{process_id}/status',
    description: 'Output and state of a command. Pass next_offset of the answer before to get only new output.',
    query: { 'process_id!': PROCESS, wait: WAIT, offset: ['integer', 'next_offset of the answer before.'], tail: TAIL },
  },
  {
    name: 'send_process_input',
    method: 'post',
    path: '/execute/{process_id}/input',
    description: 'Types text into a running command. End lines with \\n; \\x03 is Ctrl-C.',
    query: { 'process_id!': PROCESS },
    body: { 'input!': ['string', 'The text.'] },
  },
  {
    name: 'kill_process',
    method: 'delete',
    path: '/execute/{process_id}',
    description: 'Ends a running command.',
    query: { 'process_id!': PROCESS, force: ['boolean', 'Kills it, also when it refuses to end.'] },
  },
  { name: 'list_processes', method: 'get', path: '/execute', description: 'The commands of this chat that run.' },
  {
    name: 'list_files',
    method: 'get',
    path: '/files/list',
    description: 'The entries of a folder.',
    query: { directory: ['string', 'Folder. Default: the current one.'] },
  },
  {
    name: 'read_file',
    method: 'get',
    path: '/files/read',
    description: 'The text of a file, or of some of its lines. Images come as images.',
    query: {
      'path!': PATH,
      start_line: ['integer', 'First line, from 1.'],
      end_line: ['integer', 'Last line.'],
    },
  },
  {
    name: 'display_file',
    method: 'get',
    path: '/files/display',
    description: 'Shows a file to the user, such as a plot or a document. You do not get its content.',
    query: { 'path!': PATH },
  },
  {
    name: 'write_file',
    method: 'post',
    path: '/files/write',
    description: 'Writes a text file with its folders, in the place of one that is there.',
    body: { 'path!': PATH, 'content!': ['string', 'The whole text.'] },
  },
  {
    name: 'replace_file_content',
    method: 'post',
    path: '/files/replace',
    description: 'Replaces exact pieces of a text file, one after another. Nothing is changed when one of them is not found.',
    body: { 'path!': PATH, 'replacements!': ['replacements', 'What to replace.'] },
  },
  {
    name: 'grep_search',
    method: 'get',
    path: '/files/grep',
    description: 'Lines of text files that match a pattern.',
    query: {
      'query!': ['string', 'A regular expression of Python.'],
      path: ['string', 'Folder or file. Default: the current folder.'],
      regex: ['boolean', 'False: the pattern is plain text.'],
      case_insensitive: ['boolean', 'Ignores case.'],
      include: ['strings', 'Only files whose name matches one of these, such as *.py.'],
      match_per_line: ['boolean', 'False: only the names of files.'],
      max_results: MAX_RESULTS,
    },
  },
  {
    name: 'glob_search',
    method: 'get',
    path: '/files/glob',
    description: 'Files and folders whose name or path matches a pattern such as *.csv.',
    query: {
      'pattern!': ['string', 'The pattern.'],
      path: FOLDER,
      exclude: ['strings', 'Patterns of names that are left out.'],
      type: ['string', 'file, directory or any.'],
      max_results: MAX_RESULTS,
    },
  },
]

const object = (properties: object, required: readonly string[] = []): object => ({
  type: 'object',
  properties,
  ...(required.length > 0 && { required }),
})

const schemaOf = (type: Type): object => {
  if (type === 'strings') return { type: 'array', items: { type: 'string' } }
  if (type === 'variables') return { type: 'object', additionalProperties: { type: 'string' } }
  if (type !== 'replacements') return { type }
  const line = { type: 'integer' }
  const properties = {
    target: { type: 'string', description: 'The exact text.' },
    replacement: { type: 'string' },
    start_line: { ...line, description: 'Look only from this line on.' },
    end_line: { ...line, description: 'Look only up to this line.' },
    allow_multiple: { type: 'boolean', description: 'Replaces every occurrence. Otherwise there must be one.' },
  }
  return { type: 'array', items: object(properties, ['target', 'replacement']) }
}

interface Argument {
  readonly name: string
  readonly isRequired: boolean
  readonly schema: object
}

const argumentsOf = (given: Arguments = {}): readonly Argument[] =>
  Object.entries(given).map(([name, [type, description]]) => ({
    name: name.replace('!', ''),
    isRequired: name.endsWith('!'),
    schema: { ...schemaOf(type), description },
  }))

function operationOf({ name, path, description, query, body }: Tool): object {
  const fields = argumentsOf(body)
  const properties = Object.fromEntries(fields.map((field) => [field.name, field.schema]))
  const required = fields.filter(({ isRequired }) => isRequired).map((field) => field.name)
  return {
    operationId: name,
    summary: name,
    description,
    parameters: argumentsOf(query).map((argument) => ({
      name: argument.name,
      in: path.includes(`{${argument.name}}`) ? 'path' : 'query',
      required: argument.isRequired,
      schema: argument.schema,
    })),
    ...(fields.length > 0 && {
      requestBody: { required: true, content: { 'application/json': { schema: object(properties, required) } } },
    }),
    responses: { 200: { description: 'Done.' } },
  }
}

/** What Open WebUI makes the tools of a model of. */
export function toolDocument(): object {
  const paths: Record<string, Record<string, object>> = {}
  for (const tool of TOOLS) paths[tool.path] = { ...paths[tool.path], [tool.method]: operationOf(tool) }
  return { openapi: '3.1.0', info: { title: 'Cellblock', version: '1', description: 'A Linux sandbox of the user.' }, paths }
}
