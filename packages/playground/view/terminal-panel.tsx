import { useEffect, useRef, useState } from 'preact/hooks'
import { assetUrl } from '../assets.ts'
import { isTerminalOpen, TerminalSession, type TerminalSize, type TerminalState } from '../state/terminal.ts'
import { ConfirmButton } from './confirm-button.tsx'
import { Icon } from '../render/icons.tsx'

const MAX_CELLS = 1_000

/** What the frame may say. It shows untrusted programs, so every field is checked. */
type FrameMessage =
  | { readonly type: 'ready' | 'resize'; readonly size: TerminalSize }
  | { readonly type: 'input'; readonly data: string }
  | { readonly type: 'leave' }

function readMessage(value: unknown): FrameMessage | null {
  if (typeof value !== 'object' || value === null || !('type' in value)) return null
  const { type, data, cols, rows } = value as Readonly<Record<string, unknown>>
  if (type === 'leave') return { type }
  if (type === 'input') return typeof data === 'string' ? { type, data: data.toWellFormed() } : null
  if ((type !== 'ready' && type !== 'resize') || !isCells(cols) || !isCells(rows)) return null
  return { type, size: { cols, rows } }
}

const isCells = (value: unknown): value is number => Number.isInteger(value) && Number(value) >= 1 && Number(value) <= MAX_CELLS

function stateText(state: TerminalState): string {
  switch (state.kind) {
    case 'starting':
      return 'Starting …'
    case 'open':
      return 'Ctrl+Shift+Escape leaves the terminal'
    case 'lost':
      return 'Connection lost. Reconnecting …'
    case 'ended':
      return state.exitCode === null ? 'Ended' : `Ended with exit code ${state.exitCode}`
    default:
      return state.message
  }
}

/** Keys that the keyboard of a phone lacks, and what a terminal receives for them. */
const TOUCH_KEYS = [
  ['Esc', '\u001b'],
  ['Tab', '\t'],
  ['Ctrl+C', '\u0003'],
  ['Ctrl+D', '\u0004'],
  ['↑', '\u001b[A'],
  ['↓', '\u001b[B'],
] as const

/** A shell beside the code of the chat, in the same container. */
export function TerminalPanel() {
  const frame = useRef<HTMLIFrameElement>(null)
  const closer = useRef<HTMLButtonElement>(null)
  const [session, setSession] = useState<TerminalSession | null>(null)
  // Another number is another frame, and with it another shell.
  const [run, setRun] = useState(0)
  useEffect(() => {
    let made: TerminalSession | null = null
    const post = (message: unknown): void => frame.current?.contentWindow?.postMessage(message, '*')
    const onMessage = ({ source, data }: MessageEvent<unknown>): void => {
      if (source === null || source !== frame.current?.contentWindow) return
      const message = readMessage(data)
      if (message?.type === 'ready' && made === null) {
        made = new TerminalSession(message.size, post)
        setSession(made)
        void made.run()
        frame.current.focus()
        post({ focus: true })
      } else if (message?.type === 'input') made?.type(message.data)
      else if (message?.type === 'resize') made?.resize(message.size)
      else if (message?.type === 'leave') closer.current?.focus()
    }
    addEventListener('message', onMessage)
    return () => (removeEventListener('message', onMessage), made?.leave())
  }, [run])
  const state: TerminalState = session?.state.value ?? { kind: 'starting' }
  const isOver = state.kind === 'ended' || state.kind === 'failed'
  return (
    <section class="terminal" aria-label="Terminal">
      <header>
        <h2>Terminal</h2>
        <span role="status" class={state.kind === 'open' ? 'key-hint' : ''}>
          {stateText(state)}
        </span>
        {isOver ? (
          <button type="button" class="plain" onClick={() => (setSession(null), setRun(run + 1))}>
            Start again
          </button>
        ) : (
          <ConfirmButton label="End" question="End it with its programs?" onConfirm={() => void session?.end().catch(() => undefined)} />
        )}
        <button ref={closer} type="button" class="icon-button" onClick={() => (isTerminalOpen.value = false)} title="Hide the terminal">
          <Icon name="close" />
          <span class="hidden">Hide the terminal</span>
        </button>
      </header>
      <div class="touch-keys" role="group" aria-label="Keys of the terminal">
        {TOUCH_KEYS.map(([label, text]) => (
          <button key={label} type="button" disabled={isOver} onClick={() => session?.type(text)}>
            {label}
          </button>
        ))}
      </div>
      <iframe key={run} ref={frame} title="Terminal of the container" src={assetUrl('frame-terminal')} sandbox="allow-scripts" />
    </section>
  )
}
