import { changeChat, currentChat } from '../state/chats.ts'
import { isBusy } from '../state/conversation.ts'
import { models } from '../state/models.ts'
import { model } from '../state/preferences.ts'
import { ask } from '../state/turns.ts'
import { EXAMPLES, messageOf, type Example } from './examples.ts'
import { Logo } from '../render/icons.tsx'

/** What an empty chat shows: what this is, and examples that run at a click. */
export function Welcome() {
  const run = (example: Example): void => {
    isBusy.value = true
    // Before the upload makes a container, which is named after the chat.
    void changeChat(currentChat.value, { title: example.title })
    void messageOf(example, model.value).then(
      (text) => ask(text),
      () => (isBusy.value = false),
    )
  }
  return (
    <div class="welcome">
      <Logo />
      <h2>Ask, and watch the code run</h2>
      <p>Drop a file, ask a question about it, and get tables, charts and files back. Code runs in a sandbox without a network.</p>
      <ul class="examples" aria-label="Examples">
        {EXAMPLES.map((example) => (
          <li key={example.title}>
            <button type="button" disabled={isBusy.value || models.value.length === 0} onClick={() => run(example)}>
              <strong>{example.title}</strong>
              <span>{example.detail}</span>
            </button>
          </li>
        ))}
      </ul>
      {model.value === 'demo' && (
        <p class="hint">
          The model <code>demo</code> is no language model: it runs the Python blocks of a message, so everything works without a model key.
          Start the server with <code>OPENAI_API_KEY</code> to ask a language model.
        </p>
      )}
    </div>
  )
}
