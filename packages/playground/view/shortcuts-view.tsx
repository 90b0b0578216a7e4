const SHORTCUTS = [
  ['Enter', 'Send the message'],
  ['Shift+Enter', 'New line in a message; run the code'],
  ['Ctrl+Enter', 'Send the message, or run the code'],
  ['Escape', 'Stop what runs'],
  ['Ctrl+K', 'Search the chats'],
  ['Ctrl+B', 'Show or hide the chats'],
  ['Ctrl+Shift+O', 'New chat'],
  ['↑ and ↓', 'In an empty field: what was sent before in this chat'],
  ['Ctrl+Space', 'Complete names in code, from the variables of the chat'],
  ['Escape, then Tab', 'Leave the code editor'],
  ['Ctrl+Shift+Escape', 'Leave the terminal'],
  ['Ctrl+/', 'This list'],
] as const

export function ShortcutsView() {
  return (
    <dl class="shortcuts">
      {SHORTCUTS.map(([keys, meaning]) => (
        <div key={keys}>
          <dt>
            <kbd>{keys}</kbd>
          </dt>
          <dd>{meaning}</dd>
        </div>
      ))}
    </dl>
  )
}
