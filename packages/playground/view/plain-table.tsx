import type { ComponentChildren } from 'preact'

/** A table of the page itself, which scrolls when it is wider than its place. `label` names it; `children` are its rows. */
export function PlainTable(props: { readonly label: string; readonly titles: readonly string[]; readonly children: ComponentChildren }) {
  return (
    <div class="scroll" tabIndex={0} role="group" aria-label={props.label}>
      <table>
        <thead>
          <tr>
            {props.titles.map((title) => (
              <th key={title} scope="col">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{props.children}</tbody>
      </table>
    </div>
  )
}
