import type { Readable } from 'node:stream'
import {
  AzureBlobStorageProvider,
  type CacheService,
  LocalStorageProvider,
  MemoryStorageProvider,
  S3StorageProvider,
  Server,
  Storage,
  type StorageEntry,
  type StorageMetadata,
  type StorageProvider,
  type StoredUpload,
  type UploadSink,
} from 'framework'
import { storage as storagePlugin } from 'framework/plugins/storage'
import type { Equal, Expect } from './expect.ts'

const storage = new Storage(
  {
    bucket: new S3StorageProvider({ bucket: 'b', cdn: { url: 'https://cdn.example.org' } }),
    blobs: new AzureBlobStorageProvider({ container: 'c' }),
    disk: new LocalStorageProvider({ root: '/tmp', signedUrls: { secret: ['a'] } }),
    memory: new MemoryStorageProvider(),
  },
  { defaultProvider: 'bucket' },
)

// What an object is given as follows from the mode.
type _raw = Expect<Equal<Awaited<ReturnType<typeof storage.getObject<'raw'>>>, Uint8Array>>
const raw = storage.getObject('a')
type _default = Expect<Equal<typeof raw, Promise<Uint8Array>>>
const text = storage.getObject('a', 'text')
type _text = Expect<Equal<typeof text, Promise<string>>>
const stream = storage.getObject('a', 'stream')
type _stream = Expect<Equal<typeof stream, Promise<Readable>>>
// @ts-expect-error there is no such mode
storage.getObject('a', 'json')

// What can be put.
storage.putObject('a', 'text', 'text/plain')
storage.putObject('a', new Uint8Array())
storage.putObject('a', Buffer.from(''))
storage.putObject('a', new Blob())
storage.putObject('a', new Blob().stream())
storage.putObject('a', new Response('').body!)
storage.getObject('a', 'stream').then((readable) => storage.putObject('b', readable))
// @ts-expect-error no number
storage.putObject('a', 42)
// @ts-expect-error no object
storage.putObject('a', { a: 1 })

// Providers go by the names of the map.
storage.use('disk').metadata('a')
// @ts-expect-error no provider of that name
storage.use('tape')
// @ts-expect-error no provider of that name
new Storage({ a: new MemoryStorageProvider() }, { defaultProvider: 'b' })
// @ts-expect-error no provider
new Storage({ a: {} })
// @ts-expect-error a bucket is needed
new S3StorageProvider({})

type _metadata = Expect<Equal<ReturnType<typeof storage.metadata>, Promise<StorageMetadata>>>
type _list = Expect<Equal<ReturnType<typeof storage.list>, AsyncIterable<StorageEntry>>>
const sink: UploadSink<StoredUpload> = storage.sink({ prefix: 'a/', key: (file) => file.filename })

// The plugin.
const listed = new Server({ plugins: [storagePlugin({ providers: { a: new MemoryStorageProvider() } })] })
type _service = Expect<Equal<typeof listed.services.storage, Storage>>
listed.services.storage.use('a').exists('x')
const server = new Server({
  plugins: {
    storage: { providers: { a: new MemoryStorageProvider() }, defaultProvider: 'a' },
    upload: { storage: sink },
  },
})
server.services.get('storage').use('a').exists('x')

// In the object form too the service certainly exists; one that may be off does not.
type _object = Expect<Equal<typeof server.services.storage, Storage>>
const registered = new Server({
  plugins: { storage: storagePlugin({ providers: { a: new MemoryStorageProvider() } }) },
})
type _registered = Expect<Equal<typeof registered.services.storage, Storage>>
declare const maybe: boolean
const others = new Server({ plugins: { cache: true, storage: false } })
type _on = Expect<Equal<typeof others.services.cache, CacheService>>
type _off = Expect<Equal<typeof others.services.storage, Storage | undefined>>
const unsure = new Server({ plugins: { cache: maybe } })
type _unsure = Expect<Equal<typeof unsure.services.cache, CacheService | undefined>>
const bare: Server = server
type _bare = Expect<Equal<typeof bare.services.storage, Storage | undefined>>
// @ts-expect-error providers are needed
storagePlugin({})
const a = new MemoryStorageProvider()
new Server({ plugins: { storage: { providers: { a, b: a }, defaultProvider: 'b' } } })
// @ts-expect-error one of the providers
new Server({ plugins: { storage: { providers: { a }, defaultProvider: 'b' } } })
declare const named: string
new Server({ plugins: { storage: { providers: { a }, defaultProvider: named } } })

const own: StorageProvider = new MemoryStorageProvider()
new Storage({ own }).close()
