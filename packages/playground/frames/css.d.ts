/** Frames contain their style sheets as text. */
declare module '*.css' {
  const text: string
  // oxlint-disable-next-line import/no-default-export -- the form of an imported text
  export default text
}
