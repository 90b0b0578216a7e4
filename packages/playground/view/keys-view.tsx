import { useState } from 'preact/hooks'
import { createKey, keys, newKey, revokeKey, type ApiKey } from '../state/admin.ts'
import { CopyButton } from '../render/copy-button.tsx'
import { Icon } from '../render/icons.tsx'
import { ConfirmButton } from './confirm-button.tsx'
import { PlainTable } from './plain-table.tsx'

export function KeysView() {
  return (
    <section aria-label="API keys">
      <h2>API keys</h2>
      {newKey.value !== null && (
        <p class="notice" role="status">
          Copy the new key now; it is not shown again: <code>{newKey.value}</code> <CopyButton text={newKey.value} label="Copy the key" />
        </p>
      )}
      <div class="table-box">
        <PlainTable label="Keys" titles={['Name', 'User', 'Scopes', 'Last used', 'State']}>
          {keys.value.map((key) => (
            <tr key={key.id}>
              <td>{key.name ?? key.id}</td>
              <td>{key.subject ?? 'every user'}</td>
              <td>{key.scopes.join(', ')}</td>
              <td>{key.last_used_at === null ? 'never' : key.last_used_at.slice(0, 16).replace('T', ' ')}</td>
              <td>
                <KeyState apiKey={key} />
              </td>
            </tr>
          ))}
        </PlainTable>
      </div>
      <NewKeyForm />
    </section>
  )
}

/** A revoked key works never again. */
function KeyState({ apiKey: { id, name, revoked_at: revokedAt, expires_at: expiresAt } }: { readonly apiKey: ApiKey }) {
  if (revokedAt !== null) return <>revoked {revokedAt.slice(0, 10)}</>
  if (expiresAt !== null && Date.parse(expiresAt) < Date.now()) return <>expired {expiresAt.slice(0, 10)}</>
  return (
    <ConfirmButton label="Revoke" question="Revoke permanently?" of={name ?? id} onConfirm={() => void revokeKey(id)}>
      {expiresAt !== null && <small> until {expiresAt.slice(0, 10)}</small>}
    </ConfirmButton>
  )
}

const SCOPES = ['run', 'read', 'files', 'share'] as const
const DAY_MS = 86_400_000
const EXPIRIES = [
  ['never', ''],
  ['in 7 days', '7'],
  ['in 30 days', '30'],
  ['in a year', '365'],
] as const

function NewKeyForm() {
  const [name, setName] = useState('')
  const submit = (event: Event & { readonly currentTarget: HTMLFormElement }): void => {
    event.preventDefault()
    const fields = new FormData(event.currentTarget)
    const days = Number(fields.get('days'))
    const typed = fields.get('subject')
    const subject = typeof typed === 'string' ? typed.trim() : ''
    setName('')
    void createKey({
      name: name.trim(),
      scopes: SCOPES.filter((scope) => fields.has(scope)),
      ...(subject === '' ? {} : { subject }),
      ...(days > 0 && { expires_at: new Date(Date.now() + days * DAY_MS).toISOString() }),
    })
  }
  return (
    <form class="name-form" onSubmit={submit}>
      <input
        aria-label="Name of the new key"
        placeholder="New key"
        required
        maxLength={100}
        value={name}
        onInput={(event) => setName(event.currentTarget.value)}
      />
      <input name="subject" aria-label="End user of the new key" placeholder="User (every user)" maxLength={200} />
      <span class="scopes" role="group" aria-label="Scopes of the new key">
        {SCOPES.map((scope) => (
          <label key={scope}>
            <input type="checkbox" name={scope} defaultChecked /> {scope}
          </label>
        ))}
      </span>
      <label class="picker">
        Expires
        <select name="days">
          {EXPIRIES.map(([label, value]) => (
            <option key={label} value={value}>
              {label}
            </option>
          ))}
        </select>
      </label>
      <button type="submit" class="plain" disabled={name.trim() === ''}>
        <Icon name="plus" /> <span class="hidden">New key: </span>Create
      </button>
    </form>
  )
}
