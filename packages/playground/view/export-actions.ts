import type { Output } from '../api/types.ts'
import type { Chat } from '../state/chats.ts'
import { entries } from '../state/conversation.ts'
import { executionSignal } from '../state/executions.ts'
import type { CodeRun, Entry, Part } from '../state/timeline.ts'

/** The chat as a file: Markdown, a notebook, or a document that opens without this server. */
export const exportActions = (chat: Chat) =>
  [
    {
      label: 'Export as Markdown',
      icon: 'download',
      onSelect: () => save(nameOf(chat, 'md'), 'text/markdown', markdownOf(chat.title, entries.value)),
    },
    {
      label: 'Export as notebook',
      icon: 'notebook',
      onSelect: () => follow(`/v1/conversations/${chat.id}/notebook.ipynb`, nameOf(chat, 'ipynb')),
    },
    { label: 'Export as HTML', icon: 'download', onSelect: () => save(nameOf(chat, 'html'), 'text/html', documentOf(chat.title)) },
  ] as const

const nameOf = ({ title }: Chat, ending: string): string => `${title.replaceAll(/[^\p{L}\p{N} ._-]/gu, '').trim() || 'chat'}.${ending}`

function follow(url: string, name: string): void {
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
}

function save(name: string, type: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }))
  follow(url, name)
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}

export function markdownOf(title: string, list: readonly Entry[]): string {
  const sections = list.map((entry): string => {
    switch (entry.kind) {
      case 'user':
        return `## You\n\n${entry.text}`
      case 'notice':
        return `> ${entry.text}`
      case 'cell':
        return runText(entry.run)
      default:
        return `## Answer\n\n${[
          ...entry.parts.map(partText).filter((text) => text !== ''),
          ...(entry.error === null ? [] : [`> ${entry.error}`]),
        ].join('\n\n')}`
    }
  })
  return `# ${title}\n\n${sections.join('\n\n')}\n`
}

/** Reasoning is no part of the answer. */
function partText(part: Part): string {
  switch (part.kind) {
    case 'text':
      return part.text
    case 'code':
      return runText(part.run)
    default:
      return part.kind === 'tool' ? part.title : ''
  }
}

/** Code, and the text that it printed or showed. */
function runText(run: CodeRun): string {
  const printed = printedBy(run).trimEnd()
  return `${fenced(run.language, run.code)}${printed === '' ? '' : `\n\n${fenced('text', printed)}`}`
}

function printedBy({ executionId, logs, live }: CodeRun): string {
  const loaded = executionId === null ? 'loading' : executionSignal(executionId).value
  if (loaded === 'loading' || !('id' in loaded)) return logs === '' ? live.map(({ text }) => text).join('') : logs
  return (loaded.outputs ?? []).map(outputText).join('')
}

function outputText(output: Output): string {
  if (output.output_type === 'stream') return typeof output.text === 'string' ? output.text : output.text.join('')
  if (output.output_type === 'error') return `${output.ename}: ${output.evalue}\n`
  const text = output.data['text/plain']
  return typeof text === 'string' ? `${text}\n` : Array.isArray(text) ? `${text.join('')}\n` : ''
}

/** The fence is longer than every one in the code. */
function fenced(language: string, code: string): string {
  const longest = Math.max(2, ...[...code.matchAll(/`+/g)].map(([run]) => run.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}${language}\n${code}\n${fence}`
}

/** What the page shows, without what needs a click or a server. */
function documentOf(title: string): string {
  const copy = document.querySelector('.entries')?.cloneNode(true) as HTMLElement | undefined
  for (const frame of copy?.querySelectorAll('iframe') ?? []) {
    const line = document.createElement('p')
    line.className = 'notice'
    line.textContent = `${frame.title}: only the chat itself shows it.`
    frame.replaceWith(line)
  }
  for (const element of copy?.querySelectorAll('button, select, .actions, .hidden, .forms') ?? []) element.remove()
  const styles = [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules].map(({ cssText }) => cssText)).join('\n')
  const page = document.implementation.createHTMLDocument(title)
  page.documentElement.dataset['theme'] = document.documentElement.dataset['theme'] ?? 'system'
  const style = page.createElement('style')
  style.textContent = `${styles}\nhtml, body { height: auto; }`
  const heading = page.createElement('h1')
  heading.textContent = title
  heading.className = 'exported-title'
  page.head.append(style)
  page.body.append(heading, ...(copy === undefined ? [] : [page.importNode(copy, true)]))
  return `<!doctype html>\n${page.documentElement.outerHTML}`
}
