/** Takes `--name VALUE` or `--name=VALUE` out of the arguments, at any position. Every command has this option. */
export function takeOption(args: readonly string[], name: string): { readonly value: string | null; readonly rest: readonly string[] } {
  const at = args.findIndex((argument) => argument === `--${name}` || argument.startsWith(`--${name}=`))
  const found = args[at]
  if (found === undefined) return { value: null, rest: args }
  return found.includes('=')
    ? { value: found.slice(found.indexOf('=') + 1), rest: args.toSpliced(at, 1) }
    : { value: args[at + 1] ?? '', rest: args.toSpliced(at, 2) }
}
