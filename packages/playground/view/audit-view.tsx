import { audit, keys, type AuditEntry } from '../state/admin.ts'

const FIRST_ERROR = 400

/** The latest changes that keys of the tenant requested; those that were refused also in a separate list before them. */
export function AuditView() {
  const refused = audit.value.filter(({ status }) => status >= FIRST_ERROR)
  return (
    <>
      <Entries title="Recent errors" empty="None of the latest changes was refused." entries={refused} />
      <Entries title="Audit" empty="No key of this tenant has changed anything yet." entries={audit.value} />
    </>
  )
}

function Entries({ title, empty, entries }: { readonly title: string; readonly empty: string; readonly entries: readonly AuditEntry[] }) {
  return (
    <section aria-label={title}>
      <h2>{title}</h2>
      {entries.length === 0 ? (
        <p>{empty}</p>
      ) : (
        <div class="table-box">
          <div class="scroll" tabIndex={0} role="group" aria-label={`${title}, table`}>
            <table>
              <thead>
                <tr>
                  {['Time', 'Operation', 'Status', 'Key', 'User', 'Request'].map((head) => (
                    <th key={head} scope="col">
                      {head}
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {entries.map((entry) => (
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
              </tbody>
            </table>
          </div>
        </div>
      )}
    </section>
  )
}
