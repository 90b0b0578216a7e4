import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { call, messageOf } from '../api/call.ts'
import type { List, WireItem } from '../api/types.ts'
import { sharedToken } from '../session.ts'
import { readExecutionsFrom } from '../state/executions.ts'
import { entriesOf } from '../state/history-entries.ts'
import type { Entry } from '../state/timeline.ts'
import { EntryView } from './entry-view.tsx'
import { Logo } from '../render/icons.tsx'

interface SharedChat {
  readonly title: string | null
  readonly shared_at: string
}

const chat = signal<SharedChat | null>(null)
const shown = signal<readonly Entry[]>([])
const failure = signal<string | null>(null)
const PATH = `/v1/shares/${sharedToken}`

async function load(): Promise<void> {
  try {
    const found = await call<SharedChat>(PATH)
    const items: WireItem[] = []
    for (let after = ''; ;) {
      const page = await call<List<WireItem>>(`${PATH}/items?limit=100&order=asc${after}`)
      items.push(...page.data)
      if (!page.has_more || page.last_id === null) break
      after = `&after=${page.last_id}`
    }
    const places = new Map(
      items.flatMap((item) => (item.type === 'code_interpreter_call' ? [[item.x_cellblock?.execution_id, item.id] as const] : [])),
    )
    readExecutionsFrom((id) => `${PATH}/items/${places.get(id)}/execution`)
    shown.value = entriesOf(items)
    chat.value = found
    document.title = `${found.title ?? 'Shared chat'} · Cellblock`
  } catch (error) {
    failure.value = messageOf(error)
  }
}

/** A chat as one of its links shows it: without a key, and without anything that changes it. */
export function SharedView() {
  useEffect(() => void load(), [])
  return (
    <main class="shared" id="main">
      <header class="bar">
        <Logo />
        <div class="bar-title">
          <h1>{chat.value?.title ?? 'Shared chat'}</h1>
          {chat.value !== null && (
            <span class="container-line">Shared on {chat.value.shared_at.slice(0, 10)}, read only. Files are not part of the link.</span>
          )}
        </div>
        <a class="plain" href="/">
          Cellblock
        </a>
      </header>
      <div class="timeline" tabIndex={0} role="region" aria-label="Conversation">
        {failure.value !== null && (
          <p class="failure page-notice" role="alert">
            {failure.value}
          </p>
        )}
        {chat.value === null && failure.value === null && <p class="boot">Reading the chat …</p>}
        <div class="entries">
          {shown.value.map((entry) => (
            <EntryView key={entry.key} entry={entry} />
          ))}
        </div>
      </div>
    </main>
  )
}
