/** Encrypts values with a key that is not in the table. */
export interface SecretCipher {
  /** The text can be opened with the same context only, so a row that is copied to another tenant is useless. */
  seal(value: string, context: string): Promise<string>
  /** Throws when the key or the context is another one, or the text was changed. */
  open(sealed: string, context: string): Promise<string>
}
