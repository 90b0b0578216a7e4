import { signal } from '@preact/signals'
import { FencedText } from '../render/fenced-text.tsx'
import { sharedToken } from '../session.ts'
import { isBusy } from '../state/conversation.ts'
import { ask, rewindTo } from '../state/turns.ts'
import type { MessageFile, UserEntry } from '../state/timeline.ts'
import { CopyButton } from '../render/copy-button.tsx'
import { focusOnce } from './focus-once.ts'
import { Icon } from '../render/icons.tsx'

/** The message that is being changed. */
const edited = signal<string | null>(null)

export function UserMessage({ message }: { readonly message: UserEntry }) {
  return (
    <article class="message user" aria-label="You">
      {message.attachments.length > 0 && <Attached files={message.attachments} />}
      {edited.value === message.key ? <Editor message={message} /> : <FencedText text={message.text} foldedLines={3} />}
      {edited.value !== message.key && sharedToken === null && (
        <div class="actions">
          <CopyButton text={message.text} label="Copy the message" />
          <button
            type="button"
            class="icon-button small"
            disabled={isBusy.value}
            onClick={() => (edited.value = message.key)}
            title="Edit and send again"
          >
            <Icon name="edit" />
            <span class="hidden">Edit and send again</span>
          </button>
        </div>
      )}
    </article>
  )
}

/** The changed message takes the place of the old one and of everything after it. */
function Editor({ message }: { readonly message: UserEntry }) {
  const send = async (text: string): Promise<void> => {
    if (text.trim() === '' || isBusy.value) return
    edited.value = null
    isBusy.value = true
    await rewindTo(message.key)
    await ask(text, { attachments: message.attachments })
  }
  return (
    <form
      class="message-editor"
      onSubmit={(event) => {
        event.preventDefault()
        const text = new FormData(event.currentTarget).get('text')
        if (typeof text === 'string') void send(text)
      }}
    >
      <textarea
        name="text"
        aria-label="Change the message"
        rows={Math.min(12, message.text.split('\n').length + 1)}
        defaultValue={message.text}
        ref={focusOnce}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void send(event.currentTarget.value)
          if (event.key !== 'Escape') return
          event.stopPropagation()
          edited.value = null
        }}
      />
      <small>What follows this message is replaced. Files and variables stay as they are.</small>
      <div class="buttons">
        <button type="button" class="plain" onClick={() => (edited.value = null)}>
          Cancel
        </button>
        <button type="submit" class="wide">
          Send
        </button>
      </div>
    </form>
  )
}

function Attached({ files }: { readonly files: readonly MessageFile[] }) {
  return (
    <ul class="attachments" aria-label="Attached files">
      {files.map(({ name, picture }, at) => (
        <li key={at} class="attachment">
          {picture === null ? <Icon name="file" /> : <img src={picture} alt="" />} <span>{name}</span>
        </li>
      ))}
    </ul>
  )
}
