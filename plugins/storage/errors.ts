import { defineErrors, FileNotFoundError } from '../../kernel/index.ts'

/** The error for a key without an object. */
export const missing = (key: string): Error => Object.assign(FileNotFoundError(key), { key })

export const { StorageKeyError, StorageProviderError, StorageDataError, StorageUrlError } = defineErrors({
  // Status 400, because keys are often made from a client's input; the message does not show the key, but `error.key` does.
  StorageKeyError: [400, (why: string) => `a storage key must ${why}`],
  // The other errors have status 500: details about an application are not for its clients.
  StorageProviderError: (name: string, names: readonly string[]) =>
    `there is no storage provider "${name}". Known providers: ${names.join(', ')}; add it to the option providers`,
  StorageDataError: (what: string) =>
    `the storage cannot keep ${what}. It takes text, bytes, a Blob or a stream of bytes`,
  StorageUrlError: (provider: string, method: string, remedy: string) =>
    `the storage provider "${provider}" has no ${method}. ${remedy}`,
})

export const { StorageUnavailableError, StorageRefusedError } = defineErrors({
  StorageUnavailableError: (backend: string, why: string) => `${backend} cannot be reached: ${why}`,
  StorageRefusedError: (backend: string, why: string) => `${backend} refuses: ${why}`,
})
