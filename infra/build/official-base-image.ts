/**
 * Debian's official image that the sandbox image starts from, with the digest of its index for all architectures. The Dockerfile's argument BASE has
 * the same default.
 */
export const OFFICIAL_BASE_IMAGE = 'debian:trixie-slim@sha256:a29215f6a35e51e22adffa17f89e9d2ef06214e64a2bad10d765c46aea49f11f'
