import { useEffect } from 'preact/hooks'
import { scopes } from '../session.ts'
import { createShare, newAddress, openShares, revokeShare, shares, sharesFailure } from '../state/shares.ts'
import { CopyButton } from '../render/copy-button.tsx'
import { ConfirmButton } from './confirm-button.tsx'
import { Icon } from '../render/icons.tsx'

const LIFETIMES = [
  ['a day', 1],
  ['7 days', 7],
  ['30 days', 30],
  ['a year', 365],
] as const

/** Read-only links to the chat: made, copied once, and revoked. */
export function ShareView() {
  useEffect(() => void openShares(), [])
  if (!scopes.value.includes('share'))
    return (
      <p>
        This key lacks the scope <code>share</code>, so it cannot publish a chat. Ask the operator for a key that has it.
      </p>
    )
  return (
    <>
      <p>Anyone with the link reads this chat as it is now, with code and outputs. Later messages, files and variables stay private.</p>
      {sharesFailure.value !== null && (
        <p class="failure" role="alert">
          {sharesFailure.value}
        </p>
      )}
      <form
        class="name-form"
        onSubmit={(event) => {
          event.preventDefault()
          void createShare(Number(new FormData(event.currentTarget).get('days')))
        }}
      >
        <label class="picker">
          Ends after
          <select name="days">
            {LIFETIMES.map(([label, days]) => (
              <option key={days} value={days} selected={days === 30}>
                {label}
              </option>
            ))}
          </select>
        </label>
        <button type="submit" class="plain">
          <Icon name="share" /> Make a link
        </button>
      </form>
      {newAddress.value !== null && (
        <p class="notice" role="status">
          Copy the link now; it is not shown again: <a href={newAddress.value}>{newAddress.value}</a>{' '}
          <CopyButton text={newAddress.value} label="Copy the link" />
        </p>
      )}
      <ShareList />
    </>
  )
}

function ShareList() {
  return (
    <ul class="share-list" aria-label="Links to this chat">
      {shares.value.map(({ id, created_at: madeAt, expires_at: endsAt }) => (
        <li key={id}>
          <span>
            Made {madeAt.slice(0, 16).replace('T', ' ')}, ends {endsAt.slice(0, 10)}
          </span>
          <ConfirmButton
            label="Revoke"
            question="Its readers lose the chat. Revoke?"
            of={`the link of ${madeAt}`}
            icon="trash"
            onConfirm={() => void revokeShare(id)}
          />
        </li>
      ))}
    </ul>
  )
}
