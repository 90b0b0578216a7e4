const WELL_FORMED = /^[\w!#$&^.+-]{1,127}\/[\w!#$&^.+-]{1,127}(;[ -~]{1,256})?$/

/** A content type that a header can contain. User code chooses the types of its displays, and no type may prevent the bytes from being stored. */
export const headerType = (named: string): string => (WELL_FORMED.test(named) ? named : 'application/octet-stream')
