// The names that `framework` has as well.
import type { Storage } from './storage.ts'

export type { StorageData } from './data.ts'
export type { DownloadUrlOptions, StorageContents, StorageDisk, StorageMode } from './disk.ts'
export type { StorageOptions, StorageSettings } from './options.ts'
export { type AzureBlobStorageOptions, AzureBlobStorageProvider } from './providers/azure.ts'
export type { CdnOptions } from './providers/cdn.ts'
export type * from './providers/contract.ts'
export { type LocalStorageOptions, LocalStorageProvider } from './providers/local.ts'
export { MemoryStorageProvider } from './providers/memory.ts'
export { type S3StorageOptions, S3StorageProvider } from './providers/s3.ts'
export type { SignedUrlsOptions } from './providers/signed-urls.ts'
export type { StorageSink, StorageSinkOptions, StoredUpload } from './sink.ts'
export { Storage } from './storage.ts'

declare module '../../kernel/plugin/services.ts' {
  interface Services {
    /** The disks by name, with the plugin `storage`. */
    storage: Storage
  }
}
