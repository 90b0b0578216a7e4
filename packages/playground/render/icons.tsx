const PATHS = {
  menu: 'M4 7h16M4 12h16M4 17h16',
  plus: 'M12 5v14M5 12h14',
  send: 'M5 12h13M13 6l6 6-6 6',
  stop: 'M7 7h10v10H7z',
  terminal: 'M4 6h16v12H4zM7 10l3 2.5L7 15M12 15h5',
  files: 'M4 6h6l2 2h8v11H4z',
  close: 'M6 6l12 12M18 6L6 18',
  trash: 'M5 7h14M10 7V5h4v2M7 7l1 13h8l1-13',
  download: 'M12 4v11M7 11l5 5 5-5M5 20h14',
  upload: 'M12 16V5M7 9l5-5 5 5M5 20h14',
  retry: 'M5 12a7 7 0 1 0 2-5M5 4v4h4',
  eye: 'M3 12s3-6 9-6 9 6 9 6-3 6-9 6-9-6-9-6zM12 14a2 2 0 1 0 0-4 2 2 0 0 0 0 4z',
  notebook: 'M6 4h12v16H6zM9 4v16M12 9h4M12 13h4',
  theme: 'M12 4a8 8 0 1 0 8 8 6 6 0 0 1-8-8z',
  leave: 'M10 5H5v14h5M14 8l4 4-4 4M18 12H9',
  play: 'M8 5l11 7-11 7z',
  edit: 'M5 19l1-4L16 5l3 3L9 18zM13 8l3 3',
  book: 'M5 5h6a2 2 0 0 1 2 2v13a2 2 0 0 0-2-2H5zM19 5h-4a2 2 0 0 0-2 2v13a2 2 0 0 1 2-2h4z',
  copy: 'M8 8h11v12H8zM5 16V4h11',
  check: 'M5 12l5 5 9-10',
  more: 'M5 12h.1M12 12h.1M19 12h.1',
  search: 'M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM16 16l4 4',
  archive: 'M4 5h16v4H4zM6 9v10h12V9M10 13h4',
  settings: 'M4 8h9M17 8h3M4 16h3M11 16h9M15 6v4M9 14v4',
  down: 'M12 5v14M6 13l6 6 6-6',
  chevron: 'M9 6l6 6-6 6',
  keyboard: 'M3 6h18v12H3zM7 10h.01M11 10h.01M15 10h.01M8 14h8',
  share: 'M12 15V4M8 8l4-4 4 4M5 13v7h14v-7',
  folder: 'M4 6h6l2 2h8v11H4z',
  file: 'M7 4h7l4 4v12H7zM14 4v4h4',
  sandbox: 'M4 8l8-4 8 4v8l-8 4-8-4zM4 8l8 4 8-4M12 12v8',
  network: 'M12 20a8 8 0 1 0 0-16 8 8 0 0 0 0 16zM4 12h16M12 4c-4 4-4 12 0 16M12 4c4 4 4 12 0 16',
  variables: 'M7 5c-2 3-2 11 0 14M17 5c2 3 2 11 0 14M10 9l4 6M14 9l-4 6',
} as const

export type IconName = keyof typeof PATHS

/** A decorative picture; the button that contains it has the label. */
export const Icon = ({ name }: { readonly name: IconName }) => (
  <svg class={`icon icon-${name}`} viewBox="0 0 24 24" width="20" height="20" aria-hidden="true" focusable="false">
    <path d={PATHS[name]} />
  </svg>
)

export const Logo = () => (
  <svg class="logo" viewBox="0 0 32 32" width="28" height="28" aria-hidden="true" focusable="false">
    <rect x="2" y="2" width="28" height="28" rx="7" />
    <path d="M9 11l6 5-6 5M17 21h7" />
  </svg>
)
