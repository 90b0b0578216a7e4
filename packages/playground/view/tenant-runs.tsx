import { useState } from 'preact/hooks'
import { tenantRuns } from '../state/admin.ts'
import { textsOf } from '../state/runs.ts'
import { PlainTable } from './plain-table.tsx'

/** Rows that are shown at first. */
const ROWS = 10

/** That the code of a tenant ran and how it ended. Code and output are the tenant's: its own people see them in "Runs". */
export function TenantRuns() {
  const [isWhole, setWhole] = useState(false)
  const [onlyFailed, setOnlyFailed] = useState(false)
  const found = tenantRuns.value.filter(({ status }) => !onlyFailed || status === 'failed' || status === 'timed_out')
  return (
    <section aria-label="Runs">
      <h2>Runs</h2>
      <label class="only-failed">
        <input type="checkbox" checked={onlyFailed} onChange={(event) => setOnlyFailed(event.currentTarget.checked)} /> Only failed ones
      </label>
      {found.length === 0 ? (
        <p>{onlyFailed ? 'None of the newest runs failed.' : 'No code has run yet.'}</p>
      ) : (
        <div class="table-box">
          <PlainTable label="Runs, table" titles={['Time', 'Language', 'End', 'Duration', 'User', 'Run', 'Container']}>
            {found.slice(0, isWhole ? found.length : ROWS).map((run) => {
              const { at, language, end, time } = textsOf(run)
              return (
                <tr key={run.id}>
                  <td>{at}</td>
                  <td>{language}</td>
                  <td>
                    <span class={`state ${run.status}`}>{end}</span>
                  </td>
                  <td>{time}</td>
                  <td>{run.subject ?? ''}</td>
                  <td>
                    <code>{run.id}</code>
                  </td>
                  <td>
                    <code>{run.container_id}</code>
                  </td>
                </tr>
              )
            })}
          </PlainTable>
          {!isWhole && found.length > ROWS && (
            <button type="button" class="plain" onClick={() => setWhole(true)}>
              Show older ({found.length - ROWS} more)
            </button>
          )}
        </div>
      )}
    </section>
  )
}
