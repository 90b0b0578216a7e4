import { signal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { chatNotice, currentChat } from '../state/chats.ts'
import { connection, entries, historyFailure, isBusy, isLoading } from '../state/conversation.ts'
import { loadChat } from '../state/history.ts'
import { Icon } from '../render/icons.tsx'
import { lazily } from './lazily.tsx'
import { Welcome } from './welcome.tsx'

/** Closer to the end than this, new content keeps the end in view, pixels. */
const NEAR_END = 120

const EntryView = lazily(async () => (await import('./entry-view.tsx')).EntryView)

/** Whether something below the visible part is newer than what the person reads. */
const isBelow = signal(false)

export function Timeline() {
  const place = useRef<HTMLDivElement>(null)
  const content = useRef<HTMLDivElement>(null)
  const isAtEnd = useRef(true)
  const shown = useRef(0)
  const list = entries.value
  const isEmpty = list.length === 0
  useEffect(() => {
    // What a person has just sent is always brought into view, and a chat opens at its end.
    if (list.length < shown.current || list.slice(shown.current).some(({ kind }) => kind !== 'answer')) isAtEnd.current = true
    shown.current = list.length
    keepEnd(place.current, isAtEnd.current && !isEmpty)
    isBelow.value = !isAtEnd.current && !isEmpty
  }, [list])
  useEffect(() => {
    // Pictures and charts grow after they were added.
    const observer = new ResizeObserver(() => keepEnd(place.current, isAtEnd.current))
    if (content.current !== null) observer.observe(content.current)
    return () => observer.disconnect()
  }, [isEmpty])
  const onScroll = ({ currentTarget: { scrollHeight, scrollTop, clientHeight } }: { readonly currentTarget: HTMLElement }): void => {
    isAtEnd.current = scrollHeight - scrollTop - clientHeight < NEAR_END
    isBelow.value = !isAtEnd.current
  }
  const toEnd = (): void => {
    isAtEnd.current = true
    keepEnd(place.current, true)
  }
  return (
    <div class="timeline-box">
      <div class="timeline" ref={place} onScroll={onScroll} tabIndex={0} role="region" aria-label="Conversation">
        <Notices />
        {isEmpty ? (
          <Empty />
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
      {isBelow.value && (
        <button type="button" class="to-end" onClick={toEnd}>
          <Icon name="down" /> {isBusy.value ? 'New output below' : 'To the end'}
        </button>
      )}
    </div>
  )
}

function Notices() {
  return (
    <>
      {historyFailure.value !== null && (
        <p class="failure page-notice" role="alert">
          {historyFailure.value}{' '}
          <button type="button" class="plain" onClick={() => void loadChat(currentChat.value)}>
            <Icon name="retry" /> Read the chat again
          </button>
        </p>
      )}
      {chatNotice.value !== null && (
        <p class="notice page-notice" role="alert">
          {chatNotice.value}
        </p>
      )}
    </>
  )
}

function Empty() {
  if (isLoading.value) return <p class="boot">Reading the chat …</p>
  return historyFailure.value === null ? <Welcome /> : null
}

function keepEnd(element: HTMLElement | null, isWanted: boolean): void {
  if (element !== null && isWanted) element.scrollTop = element.scrollHeight
}
