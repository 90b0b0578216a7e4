const WELL_FORMED = /^[\w!#$&^.+-]{1,127}\/[\w!#$&^.+-]{1,127}(;[ -~]{1,256})?$/

/** A type that a header can carry: what code calls its displays is its own word, and no name of one may keep its bytes from being stored. */
export const headerType = (named: string): string => (WELL_FORMED.test(named) ? named : 'application/octet-stream')
