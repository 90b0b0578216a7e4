import { Markdown } from '../render/markdown.tsx'
import { sharedToken } from '../session.ts'
import { elapsedText, now } from '../state/clock.ts'
import { currentChat } from '../state/chats.ts'
import { entries, isBusy } from '../state/conversation.ts'
import { models } from '../state/models.ts'
import { hasEnded, type Answer, type Part } from '../state/timeline.ts'
import { ask, regenerate } from '../state/turns.ts'
import { CopyButton } from '../render/copy-button.tsx'
import { Icon } from '../render/icons.tsx'
import { Menu } from './menu.tsx'
import { RunView } from './run-view.tsx'

export function AnswerView({ answer }: { readonly answer: Answer }) {
  const isOver = hasEnded(answer)
  return (
    <article class="message answer" aria-label="Answer" aria-busy={!isOver}>
      {answer.parts.map((part, at) => (
        <PartView key={at} part={part} />
      ))}
      {!isOver && answer.parts.at(-1)?.kind !== 'code' && <Waiting answer={answer} />}
      {answer.status === 'cancelled' || answer.status === 'incomplete' ? <p class="notice">Stopped before the end.</p> : null}
      {answer.status === 'failed' && (
        <p class="failure" role="alert">
          {answer.error ?? 'The turn failed.'}
        </p>
      )}
      {isOver && <Actions answer={answer} />}
    </article>
  )
}

function PartView({ part }: { readonly part: Part }) {
  switch (part.kind) {
    case 'code':
      return <RunView run={part.run} isFoldable />
    case 'text':
      return <Markdown text={part.text} />
    case 'thought':
      return (
        <details class="tool thought">
          <summary>Reasoning</summary>
          <Markdown text={part.text} />
        </details>
      )
    default:
      return (
        <details class="tool">
          <summary>{part.title}</summary>
          <pre>{part.detail}</pre>
        </details>
      )
  }
}

/** What the page waits for, and for how long. */
function Waiting({ answer }: { readonly answer: Answer }) {
  const last = answer.parts.at(-1)
  const what = last === undefined ? 'Asked the model' : last.kind === 'thought' ? 'The model thinks' : 'The model writes'
  return (
    <p class="working">
      <span class="pulse" aria-hidden="true" /> {what}
      {answer.startedAt === null ? ' …' : `, ${elapsedText(answer.startedAt, now.value)}`}
    </p>
  )
}

const textOf = ({ parts }: Answer): string =>
  parts
    .flatMap((part) => (part.kind === 'text' ? [part.text] : part.kind === 'code' ? [`\`\`\`python\n${part.run.code}\n\`\`\``] : []))
    .join('\n\n')

function Actions({ answer }: { readonly answer: Answer }) {
  if (sharedToken !== null) return null
  if (answer.status !== 'completed') return <Retry answer={answer} />
  // Messages after an older answer would be lost.
  const isLast = entries.value.at(-1)?.key === answer.key
  const seconds = answer.startedAt === null || answer.endedAt === null ? null : elapsedText(answer.startedAt, answer.endedAt)
  return (
    <div class="actions">
      <CopyButton text={textOf(answer)} label="Copy the answer" />
      {isLast && (
        <button
          type="button"
          class="icon-button small"
          disabled={isBusy.value}
          onClick={() => void regenerate(answer)}
          title="Answer again"
        >
          <Icon name="retry" />
          <span class="hidden">Answer again</span>
        </button>
      )}
      {isLast && models.value.length > 1 && (
        <Menu
          label="Answer again with another model"
          items={models.value.map((name) => ({ label: name, onSelect: () => void regenerate(answer, name) }))}
        >
          <Icon name="more" />
        </Menu>
      )}
      {seconds !== null && <small>{seconds}</small>}
    </div>
  )
}

/** Asks the message before this answer again. */
function Retry({ answer }: { readonly answer: Answer }) {
  const at = entries.value.findIndex(({ key }) => key === answer.key)
  const before = entries.value[at - 1]
  if (before?.kind !== 'user' || isBusy.value || currentChat.value.isArchived) return null
  return (
    <button type="button" class="plain" onClick={() => void ask(before.text, { attachments: before.attachments })}>
      <Icon name="retry" /> Try again
    </button>
  )
}
