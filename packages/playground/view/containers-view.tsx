import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { call, messageOf } from '../api/call.ts'
import type { Container, List } from '../api/types.ts'
import { currentChat, startChat } from '../state/chats.ts'
import { refreshContainer } from '../state/workspace.ts'
import { ConfirmButton } from './confirm-button.tsx'
import { isAwake } from './container-line.tsx'

const list = signal<readonly Container[] | null>(null)
const failure = signal<string | null>(null)

async function refresh(): Promise<void> {
  try {
    list.value = (await call<List<Container>>('/v1/containers?limit=100&order=desc')).data
    failure.value = null
  } catch (error) {
    failure.value = messageOf(error)
  }
}

async function remove(id: string): Promise<void> {
  await call(`/v1/containers/${id}`, { method: 'DELETE' }).catch((error: unknown) => void (failure.value = messageOf(error)))
  await Promise.all([refresh(), currentChat.value.containerId === id ? refreshContainer() : null])
}

/** Every container of the key, also those of the API and the command line. */
export function ContainersView() {
  useEffect(() => void refresh(), [])
  if (list.value === null && failure.value === null) return <p>Loading …</p>
  return (
    <>
      {failure.value !== null && <p class="failure">{failure.value}</p>}
      <p>A container that is not used hibernates. Its files and variables stay, and the next run wakes it.</p>
      <ul class="container-list">
        {list.value?.map((container) => (
          <li key={container.id}>
            <span class={`dot ${isAwake(container) ? 'awake' : ''}`} aria-hidden="true" />
            <span class="name">{container.name}</span>
            <small>
              {isAwake(container) ? 'awake' : 'hibernated'} · {container.memory_limit.replace('g', ' GB')} · {container.id}
            </small>
            <button
              type="button"
              class="plain"
              onClick={({ currentTarget }) => (startChat(container.id), currentTarget.closest('dialog')?.close())}
            >
              New chat in it
            </button>
            <ConfirmButton
              label="Delete"
              question="Delete with its files?"
              of={container.name}
              icon="trash"
              onConfirm={() => void remove(container.id)}
            />
          </li>
        ))}
        {list.value?.length === 0 && <li class="empty">None yet. The first message or file of a chat makes one.</li>}
      </ul>
    </>
  )
}
