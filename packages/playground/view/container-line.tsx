import { useEffect } from 'preact/hooks'
import type { Container } from '../api/types.ts'
import { container, refreshContainer } from '../state/workspace.ts'

const REFRESH_MS = 20_000

export const isAwake = ({ status, last_active_at: lastActive, expires_after: after }: Container): boolean =>
  status === 'running' && lastActive + after.minutes * 60 > Date.now() / 1000

/** What the sandbox of the chat is and does, in one line. */
export function ContainerLine() {
  useEffect(() => {
    const timer = setInterval(() => document.visibilityState === 'visible' && void refreshContainer(), REFRESH_MS)
    return () => clearInterval(timer)
  }, [])
  const found = container.value
  if (found === null) return null
  if (found === 'gone') return <span class="container-line gone">Container deleted. The next run makes a new one.</span>
  const size = found.memory_limit.replace('g', ' GB')
  return (
    <span class="container-line" title="The container of this chat. Files and variables stay while it hibernates.">
      <span class={`dot ${isAwake(found) ? 'awake' : ''}`} aria-hidden="true" />{' '}
      {isAwake(found) ? `${size}, awake; keeps variables when idle` : `${size}, hibernated; keeps variables and files`}
    </span>
  )
}
