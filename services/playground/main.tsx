import { render } from 'preact'
import { messageOf } from './api/call.ts'
import { isSignedIn } from './state/session.ts'
import { openSession } from './state/sign-in.ts'
import { Shell } from './view/shell.tsx'
import { SignInView } from './view/sign-in-view.tsx'

function App({ failure }: { readonly failure: string | null }) {
  return isSignedIn.value === true ? <Shell /> : <SignInView failure={failure} />
}

const place = document.querySelector('#app')
const failure = await openSession().catch(messageOf)
if (place !== null) {
  place.textContent = ''
  render(<App failure={failure} />, place)
}
