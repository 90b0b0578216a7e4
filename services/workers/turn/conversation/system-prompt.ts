import { skillPath, type ContainerSkill } from '../../../model/skills/skill.ts'
import { EVERY_HOST } from '../../../model/network/host.ts'
import { hostsOf, isEmptyPolicy, NO_NETWORK, type NetworkPolicy } from '../../../model/network/policy.ts'
import type { ContainerFile } from '../../../model/files/file.ts'

const MAX_LISTED_FILES = 50

const BY_TOOL = 'You can run Python with the tool "python".'
const BY_FENCE =
  'You can run Python: write it as one fenced block that begins with ```python, and stop there. It is run, and what came out is the next message. Blocks in an answer that needs no run begin with plain ```.'
const interpreter = (network: string): string => `It is a notebook: variables, imports and files stay between calls.
- The work folder is /mnt/data. Read the user's files there and save there whatever the user should get.
- ${network} numpy, pandas, scipy, scikit-learn, matplotlib, seaborn, pillow, openpyxl, plotly, sympy and networkx are there; \`!pip list\` shows every library.
- Print what you need to see. Pictures that you show are seen by the user.
- When you name a file that you made, link to it as [name](sandbox:/mnt/data/name).
- When code fails, read the error, correct the code and run it again. Never claim a result that no run has shown.`

const shellRules = (network: string): string => `You can run command lines in a Linux container with the tool "shell".
- The work folder is /mnt/data. Read the user's files there and save there whatever the user should get.
- ${network}
- When you name a file that you made, link to it as [name](sandbox:/mnt/data/name).
- Never claim a result that no command has shown.`

/** The system prompt before the conversation; null when there is none. */
export function systemPrompt(options: {
  readonly hasInterpreter: boolean
  /** Commands run in a container, and no interpreter is offered. */
  readonly hasShell?: boolean
  /** The model cannot call tools. */
  readonly fencesCode: boolean
  readonly files: readonly Pick<ContainerFile, 'path' | 'bytes' | 'source'>[]
  readonly skills?: readonly ContainerSkill[]
  /** What code may reach. */
  readonly network?: NetworkPolicy
  readonly instructions: string | null
}): string | null {
  const parts: string[] = []
  const network = announceNetwork(options.network ?? NO_NETWORK)
  if (options.hasInterpreter) parts.push(`${options.fencesCode ? BY_FENCE : BY_TOOL} ${interpreter(network)}`)
  if (options.hasShell === true) parts.push(shellRules(network))
  const { files, skills = [] } = options
  const hasContainer = options.hasInterpreter || options.hasShell === true
  if (hasContainer && skills.length > 0) parts.push(announceSkills(skills))
  if (hasContainer && files.length > 0) parts.push(announceFiles(files))
  if (options.instructions !== null && options.instructions !== '') parts.push(options.instructions)
  return parts.length === 0 ? null : parts.join('\n\n')
}

const MAX_LISTED_HOSTS = 20

/** Hosts come from a checked policy, so they are no text of a user. */
function announceNetwork(policy: NetworkPolicy): string {
  if (isEmptyPolicy(policy)) return 'There is no network and nothing can be installed.'
  const hosts = hostsOf(policy)
  const more = hosts.length - MAX_LISTED_HOSTS
  const named = hosts.includes(EVERY_HOST)
    ? 'any host'
    : `only ${hosts.slice(0, MAX_LISTED_HOSTS).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
  const secrets = (policy.secrets ?? []).length === 0 ? '' : ` ${announceSecrets(policy.secrets ?? [])}`
  return `Code reaches ${named} over HTTPS and HTTP. A request to another host fails with the reason: tell the user then which host is needed, and do not try others.${secrets}`
}

const announceSecrets = (names: readonly string[]): string =>
  `The environment variables ${names.join(', ')} hold placeholders: send them in a header as they are, and the service replaces them.`

/** The model opens `SKILL.md` itself. Names and descriptions are quoted, because they are data. */
const announceSkills = (skills: readonly ContainerSkill[]): string =>
  [
    'Skills: folders with instructions and scripts for some tasks, read-only. When a task matches a description, read SKILL.md in its folder before you start.',
    ...skills.map((skill) => `- ${JSON.stringify(skill.name)}: ${JSON.stringify(skill.description)}, in ${skillPath(skill)}`),
  ].join('\n')

/** Names are quoted, because they are data. */
function announceFiles(files: readonly Pick<ContainerFile, 'path' | 'bytes' | 'source'>[]): string {
  const lines = files
    .slice(0, MAX_LISTED_FILES)
    .map(
      (file) => `- ${JSON.stringify(file.path)} (${file.bytes} bytes, ${file.source === 'user' ? 'uploaded by the user' : 'made by code'})`,
    )
  if (files.length > MAX_LISTED_FILES) lines.push(`- and ${files.length - MAX_LISTED_FILES} more`)
  return `Files in /mnt/data:\n${lines.join('\n')}`
}

/** The model's instruction after too many consecutive failures. */
export const EXPLAIN = (failures: number): string =>
  `The last ${failures} tool calls failed, so no more code can be run in this answer. Explain to the user in plain words what you tried, what went wrong and what would help. Do not claim a result.`

/** Asks for the summary that replaces a conversation. */
export const SUMMARIZE = `[Not from the user: this conversation becomes too long. Write a summary that replaces it, for the assistant who continues it. The user's messages are kept beside it, everything else is lost. State:
- what the user wants, and what is decided or excluded;
- what was done and found: results with their numbers, names and units, and the errors with their causes;
- files and variables that exist, with their paths and contents;
- what remains to be done.
Write plain text. Add nothing that the conversation does not contain.]`
