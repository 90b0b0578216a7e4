import { call, messageOf } from '../api/call.ts'
import { isSignedIn, scopes } from '../session.ts'
import { forgetAll } from './preferences.ts'

const FRAGMENT = /^#sign-in=([\w-]+)$/

/** Uses the one-time link if the page was opened by one, then asks whether there is a session. Returns a sentence about a link that failed. */
export async function openSession(): Promise<string | null> {
  const token = FRAGMENT.exec(location.hash)?.[1]
  let failure: string | null = null
  if (token !== undefined) {
    // The token works once; it does not stay in the address or the history.
    history.replaceState(null, '', '/')
    failure = await call('/session', { body: { token } }).then(startFresh, messageOf)
  }
  return (await readSession()) ? null : failure
}

async function readSession(): Promise<boolean> {
  const session = await call<{ readonly signed_in: boolean; readonly scopes?: readonly string[] }>('/session')
  scopes.value = session.scopes ?? []
  isSignedIn.value = session.signed_in
  return session.signed_in
}

export async function signInWithKey(apiKey: string): Promise<void> {
  await call('/session', { body: { api_key: apiKey } })
  startFresh()
}

export async function signOut(): Promise<void> {
  await call('/session', { method: 'DELETE' })
  history.replaceState(null, '', '/')
  startFresh()
}

/** Another person may come or have gone: nothing of the one before stays, neither in the browser nor in the memory of the document. */
function startFresh(): null {
  forgetAll()
  location.reload()
  return null
}
