import { useEffect, useRef } from 'preact/hooks'
import { Markdown } from '../render/markdown.tsx'
import { ask, connection, entries, historyFailure, isBusy } from '../state/conversation.ts'
import { hasEnded, type Answer, type Entry } from '../state/timeline.ts'
import { Icon } from './icons.tsx'
import { RunView } from './run-view.tsx'
import { Welcome } from './welcome.tsx'

/** Closer to the end than this, new content keeps the end in view, pixels. */
const NEAR_END = 120

export function Timeline() {
  const place = useRef<HTMLDivElement>(null)
  const content = useRef<HTMLDivElement>(null)
  const isAtEnd = useRef(true)
  const shown = useRef(0)
  const list = entries.value
  const isEmpty = list.length === 0
  useEffect(() => {
    // What a person has just sent is always brought into view.
    if (list.slice(shown.current).some(({ kind }) => kind !== 'answer')) isAtEnd.current = true
    shown.current = list.length
    keepEnd(place.current, isAtEnd.current && !isEmpty)
  }, [list])
  useEffect(() => {
    // Pictures and charts grow after they were added.
    const observer = new ResizeObserver(() => keepEnd(place.current, isAtEnd.current))
    if (content.current !== null) observer.observe(content.current)
    return () => observer.disconnect()
  }, [isEmpty])
  const onScroll = ({ currentTarget: { scrollHeight, scrollTop, clientHeight } }: { readonly currentTarget: HTMLElement }): void => {
    isAtEnd.current = scrollHeight - scrollTop - clientHeight < NEAR_END
  }
  return (
    <div class="timeline" ref={place} onScroll={onScroll} tabIndex={0} role="region" aria-label="Conversation">
      {historyFailure.value !== null && (
        <p class="notice" role="alert">
          {historyFailure.value}
        </p>
      )}
      {isEmpty && historyFailure.value === null ? (
        <Welcome />
      ) : (
        <div class="entries" ref={content}>
          {list.map((entry) => (
            <EntryView key={entry.key} entry={entry} />
          ))}
        </div>
      )}
      <p class="hidden" role="status">
        {connection.value === 'lost' ? 'Connection lost. Reconnecting.' : isBusy.value ? 'Working.' : 'Ready.'}
      </p>
    </div>
  )
}

function keepEnd(element: HTMLElement | null, isWanted: boolean): void {
  if (element !== null && isWanted) element.scrollTop = element.scrollHeight
}

function EntryView({ entry }: { readonly entry: Entry }) {
  if (entry.kind === 'cell') return <RunView run={entry.run} />
  if (entry.kind === 'answer') return <AnswerView answer={entry} />
  return (
    <article class="message user" aria-label="You">
      <Markdown text={entry.text} foldedLines={3} />
    </article>
  )
}

function AnswerView({ answer }: { readonly answer: Answer }) {
  const isOver = hasEnded(answer)
  return (
    <article class="message answer" aria-label="Answer" aria-busy={!isOver}>
      {answer.parts.map((part, at) => {
        if (part.kind === 'code') return <RunView key={at} run={part.run} />
        if (part.kind === 'text') return <Markdown key={at} text={part.text} />
        return (
          <details key={at} class="tool">
            <summary>{part.title}</summary>
            <pre>{part.detail}</pre>
          </details>
        )
      })}
      {!isOver && answer.parts.at(-1)?.kind !== 'code' && (
        <p class="working">
          <span class="spinner" aria-hidden="true" /> {answer.parts.length === 0 ? 'Thinking …' : 'Working …'}
        </p>
      )}
      {answer.status === 'cancelled' || answer.status === 'incomplete' ? <p class="notice">Stopped before the end.</p> : null}
      {answer.status === 'failed' && (
        <p class="failure" role="alert">
          {answer.error ?? 'The turn failed.'}
        </p>
      )}
      {isOver && answer.status !== 'completed' && <Retry answer={answer} />}
    </article>
  )
}

/** Asks the message before this answer again. */
function Retry({ answer }: { readonly answer: Answer }) {
  const at = entries.value.findIndex(({ key }) => key === answer.key)
  const before = entries.value[at - 1]
  if (before?.kind !== 'user' || isBusy.value) return null
  return (
    <button type="button" class="plain" onClick={() => void ask(before.text)}>
      <Icon name="retry" /> Try again
    </button>
  )
}
