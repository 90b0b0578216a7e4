import { useState } from 'preact/hooks'
import { ApiError, messageOf } from '../api/call.ts'
import { signInWithKey } from '../state/sign-in.ts'
import { focusOnce } from './focus-once.ts'
import { Logo } from '../render/icons.tsx'

/** Asks for an API key, once: the server keeps the session in a cookie that scripts cannot read. */
export function SignInView({ failure }: { readonly failure: string | null }) {
  const [key, setKey] = useState('')
  const [message, setMessage] = useState(failure)
  const submit = (event: Event): void => {
    event.preventDefault()
    setMessage(null)
    signInWithKey(key.trim()).catch((error: unknown) => setMessage(sentenceOf(error)))
  }
  return (
    <main class="sign-in">
      <form onSubmit={submit}>
        <Logo />
        <h1>Cellblock</h1>
        <p>
          Open the link that <code>npm start</code> printed, or sign in with an API key.
        </p>
        <label>
          API key
          <input
            type="password"
            ref={focusOnce}
            autocomplete="current-password"
            required
            value={key}
            placeholder="ck_…"
            onInput={(event) => setKey(event.currentTarget.value)}
          />
        </label>
        {message !== null && (
          <p class="failure" role="alert">
            {message}
          </p>
        )}
        <button type="submit" class="wide">
          Sign in
        </button>
        <p>
          No key? <code>npm start</code> prints one; on another server its operator gives you one. <a href="/docs/guide/">Read the guide</a>
        </p>
      </form>
    </main>
  )
}

/** The server's sentence about a wrong key is for programs. */
const sentenceOf = (error: unknown): string =>
  error instanceof ApiError && error.status === 401
    ? 'This key is not valid here: it was mistyped, revoked, or belongs to another server. Copy it again.'
    : messageOf(error)
