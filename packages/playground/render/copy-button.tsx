import { useState } from 'preact/hooks'
import { Icon } from './icons.tsx'

const SHOWN_MS = 1_500

/** Copies a text, and says so for a moment. */
export function CopyButton({ text, label }: { readonly text: string; readonly label: string }) {
  const [isDone, setDone] = useState(false)
  const copy = async (): Promise<void> => {
    await writeClipboard(text)
    setDone(true)
    setTimeout(() => setDone(false), SHOWN_MS)
  }
  return (
    <button type="button" class="icon-button small" onClick={() => void copy()} title={label}>
      <Icon name={isDone ? 'check' : 'copy'} />
      <span class="hidden" role="status">
        {isDone ? 'Copied' : label}
      </span>
    </button>
  )
}

/** Browsers offer their clipboard only to pages on HTTPS or on this machine. */
async function writeClipboard(text: string): Promise<void> {
  const clipboard = navigator.clipboard as Clipboard | undefined
  if (clipboard !== undefined) return clipboard.writeText(text)
  const area = document.createElement('textarea')
  area.value = text
  document.body.append(area)
  area.select()
  document.execCommand('copy')
  area.remove()
}
