import { signal } from '@preact/signals'
import { useState } from 'preact/hooks'
import { audit, keys, type AuditEntry } from '../state/admin.ts'
import { PlainTable } from './plain-table.tsx'

const FIRST_ERROR = 400
/** Rows that are shown at first, and more at each request. */
const ROWS = 50
/** Single keystrokes and sizes of a terminal: many, and of no interest one by one. */
const TERMINAL: readonly string[] = ['sendCommandStdin', 'resizeCommand']

const wanted = signal('')
const showsTerminal = signal(false)

/** The latest changes that keys of the tenant requested; those that were refused also in a separate list before them. */
export function AuditView() {
  const text = wanted.value.trim().toLowerCase()
  const found = audit.value.filter(
    (entry) =>
      (showsTerminal.value || !TERMINAL.includes(entry.action)) &&
      (text === '' || `${entry.action} ${entry.status} ${entry.subject ?? ''} ${entry.request_id}`.toLowerCase().includes(text)),
  )
  const refused = found.filter(({ status }) => status >= FIRST_ERROR)
  return (
    <>
      <div class="audit-filter">
        <input
          type="search"
          aria-label="Filter the audit"
          placeholder="Filter: operation, status, user, request"
          value={wanted.value}
          onInput={(event) => (wanted.value = event.currentTarget.value)}
        />
        <label>
          <input type="checkbox" checked={showsTerminal.value} onChange={(event) => (showsTerminal.value = event.currentTarget.checked)} />{' '}
          Keystrokes of terminals
        </label>
      </div>
      <Entries title="Recent errors" empty="None of the latest changes was refused." entries={refused} />
      <Entries title="Audit" empty="No key of this tenant has changed anything yet." entries={found} />
    </>
  )
}

function Entries({ title, empty, entries }: { readonly title: string; readonly empty: string; readonly entries: readonly AuditEntry[] }) {
  const [shown, setShown] = useState(ROWS)
  return (
    <section aria-label={title}>
      <h2>{title}</h2>
      {entries.length === 0 ? (
        <p>{empty}</p>
      ) : (
        <div class="table-box">
          <PlainTable label={`${title}, table`} titles={['Time', 'Operation', 'Status', 'Key', 'User', 'Request']}>
            {entries.slice(0, shown).map((entry) => (
              <tr key={entry.request_id}>
                <td>{entry.at.slice(0, 19).replace('T', ' ')}</td>
                <td>{entry.action}</td>
                <td>{entry.status}</td>
                <td>{keys.value.find(({ id }) => id === entry.key_id)?.name ?? entry.key_id}</td>
                <td>{entry.subject ?? ''}</td>
                <td>
                  <code>{entry.request_id}</code>
                </td>
              </tr>
            ))}
          </PlainTable>
          {entries.length > shown && (
            <button type="button" class="plain" onClick={() => setShown(shown + ROWS)}>
              Show older ({entries.length - shown} more)
            </button>
          )}
        </div>
      )}
    </section>
  )
}
