/** `cpuSeconds` as wires, metrics and the command line write it: `cpu_seconds`. */
export const snakeCase = (name: string): string => name.replaceAll(/(?<=[a-z0-9])[A-Z]/g, (letter) => `_${letter}`).toLowerCase()
