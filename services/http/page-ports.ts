/** One file of the built playground. */
export interface PageFile {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly contentType: string
}

/** The dependencies of the playground that an entry file provides. */
export interface PagePorts {
  /** A built file by its path, for example `index.html`. Null: no such file. The whole reader is null where another server has the files. */
  readonly readFile: ((path: string) => Promise<PageFile | null>) | null
  /** A file of the built documentation. Null or absent: it was not built, or another server has it. */
  readonly readGuide?: ((path: string) => Promise<PageFile | null>) | null
  /** 32 bytes that encrypt session cookies. */
  readonly sessionSecret: () => Promise<Uint8Array>
  /** Exchanges the token of a one-time sign-in link for the API key that it stands for. Null: used, expired or unknown. */
  readonly redeemSignIn: (token: string) => string | null
  /** Origins of presigned URLs, where they differ from the API's own. */
  readonly objectOrigins: readonly string[]
  /** Origins of published ports, which the page may frame; absent: none. */
  readonly frameOrigins?: readonly string[]
}
