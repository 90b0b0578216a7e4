import { useState } from 'preact/hooks'
import { messageOf } from '../api/call.ts'
import { signInWithKey } from '../state/sign-in.ts'
import { Logo } from './icons.tsx'

/** Asks for an API key, once: the server keeps the session in a cookie that scripts cannot read. */
export function SignInView({ failure }: { readonly failure: string | null }) {
  const [key, setKey] = useState('')
  const [message, setMessage] = useState(failure)
  const submit = (event: Event): void => {
    event.preventDefault()
    setMessage(null)
    signInWithKey(key.trim()).catch((error: unknown) => setMessage(messageOf(error)))
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
      </form>
    </main>
  )
}
