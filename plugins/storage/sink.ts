import { randomUUID } from 'node:crypto'
import { mediaTypeOfFile } from '../shared/http/media-types.ts'
import { option } from '../shared/options/index.ts'
import { safely } from '../shared/values/safely.ts'
import { inTenant, keepTenant, tenantKeptBy } from '../shared/values/tenants.ts'
import type { UploadSink, UploadSource } from '../upload/index.ts'
import { checkContentType } from './data.ts'
import { checkKey, checkPrefix } from './key.ts'

/** How uploaded files are kept. */
export interface StorageSinkOptions {
  /** The beginning of every key, `'avatars/'` for example. Default: nothing. */
  prefix?: string
  /** Returns the key of a file, without the prefix. Default: a random one with the extension of the file's name. */
  key?: (file: UploadSource) => string | Promise<string>
}

/** The `result` of a file that was uploaded into a storage. */
export interface StoredUpload {
  /** The key of the object. */
  readonly key: string
  /** The name of the provider. */
  readonly provider: string
  /** The media type that the object was stored with. */
  readonly contentType: string
}

/** A sink for the option `storage` of the upload plugin. */
export type StorageSink = UploadSink<StoredUpload>

const sinkOptions = option
  .shape({
    prefix: option.value<string>('text', (given) => typeof given === 'string').default(''),
    key: option.fn<NonNullable<StorageSinkOptions['key']>>('a function (file) => string').default(randomKey),
  })
  .typed<StorageSinkOptions>()

/** What a sink uses of its disk. */
interface SinkDisk {
  readonly name: string
  putObject(key: string, data: UploadSource['stream'], contentType: string): Promise<void>
  deleteObject(key: string): Promise<void>
}

export function sinkInto(disk: SinkDisk, options: StorageSinkOptions): StorageSink {
  const { prefix, key: keyOf } = sinkOptions.parse(options, 'sink')
  checkPrefix(prefix)
  return {
    async write(file) {
      const key = `${prefix}${await keyOf(file)}`
      checkKey(key)
      const contentType = safely(() => checkContentType(file.mimeType)) ?? mediaTypeOfFile(key)
      await disk.putObject(key, file.stream, contentType)
      const stored = { key, provider: disk.name, contentType }
      keepTenant(stored)
      return stored
    },
    // After the request, whose tenant is no longer the current one.
    discard: (stored) => inTenant(tenantKeptBy(stored), () => disk.deleteObject(stored.key)),
  }
}

function randomKey({ filename }: UploadSource): string {
  // Keeps only a harmless extension of the client's file name.
  const ending = /\.[a-z0-9]{1,10}$/i.exec(filename)?.[0].toLowerCase() ?? ''
  return `${randomUUID()}${ending}`
}
