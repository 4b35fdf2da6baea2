import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { RouteCollection, Server, Storage, type StorageProvider } from 'framework'
import { memoryLogger } from '../support/kernel.ts'
import { badKeys, keysOf, textOf } from '../support/storage.ts'
import { assertSubset, type ContractOptions, contractOf, type Make } from './contract.ts'

/** Options of the contract of a storage provider. */
export interface StorageProviderOptions extends ContractOptions {
  /** What the service, such as an emulator, does differently; tests that would show it are left out. */
  readonly flaws?: {
    /** It takes escapes of reserved characters in the source of a copy for the characters of the key. */
    readonly copySource?: true
    /** It lists in the order of its folders. */
    readonly order?: true
    /** It overwrites a file while others read it. */
    readonly replacing?: true
    /** It fails when the last objects of a folder are deleted at the same time. */
    readonly deleting?: true
    /** It ignores the name and the type that an address signs for its response. */
    readonly downloadHeaders?: true
  }
}

/** The same ones each time, which repeat at a distance that is not one of blocks or parts. */
const bytes = (length: number) => new Uint8Array(Buffer.alloc(length, pattern))
const pattern = Uint8Array.from({ length: 65_521 }, (_, i) => (i * 31 + (i >> 8)) % 256)

/**
 * Tests a provider of a storage. Its place is empty when the first test begins; the tests leave objects there. They write
 * 40 MB in all, and can run at the same time.
 *
 * @example
 * testStorageProvider(() => new PostgresObjects(pool), { test })
 */
export function testStorageProvider(make: Make<StorageProvider>, { flaws = {}, test }: StorageProviderOptions): void {
  const makeStorage = async () => {
    const provider = await make()
    return Object.assign(new Storage({ main: provider }, { defaultProvider: 'main' }), { provider })
  }
  const contract = contractOf('a storage provider', makeStorage, { test })
  const missing = { code: 'FileNotFoundError', status: 404 }

  for (const [name, data, text] of [
    ['text', 'grüße 🎈', 'grüße 🎈'],
    ['no text', '', ''],
    ['bytes', new TextEncoder().encode('bytes'), 'bytes'],
    ['a part of a larger buffer', new TextEncoder().encode('..part..').subarray(2, 6), 'part'],
    ['an ArrayBuffer', new TextEncoder().encode('buffer').buffer, 'buffer'],
    ['a DataView', new DataView(new TextEncoder().encode('xview').buffer, 1), 'view'],
    ['a Blob', new Blob(['bl', 'ob']), 'blob'],
  ] as const)
    contract(`keeps ${name}`, async (storage) => {
      const key = `kinds/${name}`
      await storage.putObject(key, data as string)
      assert.equal(await storage.getObject(key, 'text'), text)
      assertSubset(await storage.metadata(key), { key, size: Buffer.byteLength(text) })
    })

  for (const [name, source] of [
    ['a stream of node', () => Readable.from([Buffer.from('one '), Buffer.from('two')])],
    ['a stream of the web', () => new Blob(['one two']).stream()],
    [
      'an async iterable of text and bytes',
      async function* () {
        yield 'one '
        yield new TextEncoder().encode('two')
      },
    ],
  ] as const)
    contract(`keeps ${name}`, async (storage) => {
      await storage.putObject(`streams/${name}`, source() as AsyncIterable<Uint8Array>)
      assert.equal(await storage.getObject(`streams/${name}`, 'text'), 'one two')
    })

  contract('keeps a Blob that is too large to be read into memory, with its type', async (storage) => {
    const blob = new Blob([bytes(9 * 1024 ** 2)], { type: 'video/mp4' })
    await storage.putObject('large/blob', blob)
    assertSubset(await storage.metadata('large/blob'), { size: blob.size, contentType: 'video/mp4' })
    assert.equal(Buffer.compare(await storage.getObject('large/blob'), Buffer.from(await blob.arrayBuffer())), 0)
  })

  contract('keeps an empty stream', async (storage) => {
    await storage.putObject('streams/empty', Readable.from([]))
    assert.deepEqual(await storage.getObject('streams/empty'), new Uint8Array(0))
    assert.equal(await textOf(await storage.getObject('streams/empty', 'stream')), '')
  })

  contract('returns the stored data: 20 MB in a stream, 3 MB of bytes', async (storage) => {
    const [large, small] = [bytes(20 * 1024 ** 2), bytes(3 * 1024 ** 2)]
    async function* pieces() {
      for (let at = 0; at < large.length; at += 100_000) yield large.subarray(at, at + 100_000)
    }
    await storage.putObject('large/stream', pieces())
    await storage.putObject('large/bytes', small)
    const back = await storage.getObject('large/stream')
    assert.equal(back.length, large.length)
    assert.equal(Buffer.compare(back, large), 0)
    const stream = await storage.getObject('large/bytes', 'stream')
    assert.ok(stream instanceof Readable)
    const chunks: Uint8Array[] = []
    for await (const chunk of stream) chunks.push(chunk)
    assert.equal(Buffer.compare(Buffer.concat(chunks), small), 0)
  })

  contract('keeps the content type that is given, that of the Blob, that of the ending', async (storage) => {
    await storage.putObject('types/a', 'x', 'image/svg+xml; charset=utf-8')
    await storage.putObject('types/b', new Blob(['x'], { type: 'image/png' }))
    await storage.putObject('types/c.json', '{}')
    await storage.putObject('types/d', 'x')
    await storage.putObject('types/e', new Uint8Array(1))
    await storage.putObject('types/f.png', 'x', 'text/html')
    const types = await Promise.all(
      ['a', 'b', 'c.json', 'd', 'e', 'f.png'].map((key) => storage.metadata(`types/${key}`)),
    )
    assert.deepEqual(
      types.map(({ contentType }) => contentType),
      [
        'image/svg+xml; charset=utf-8',
        'image/png',
        'application/json; charset=utf-8',
        'text/plain; charset=utf-8',
        'application/octet-stream',
        'text/html',
      ],
    )
    await storage.putObject('types/a', 'x', 'text/css')
    assert.equal((await storage.metadata('types/a')).contentType, 'text/css')
    assert.equal((await keysOf(storage, 'types/')).length, 6)
  })

  contract('an object that is put again is replaced, and has another tag', async (storage) => {
    await storage.putObject('again', 'long before')
    const before = await storage.metadata('again')
    await storage.putObject('again', 'after')
    const after = await storage.metadata('again')
    assert.equal(await storage.getObject('again', 'text'), 'after')
    assert.notEqual(after.etag, before.etag)
    assert.match(after.etag, /^"[^"]+"$/)
    assert.ok(Math.abs(after.lastModified.getTime() - Date.now()) < 60_000)
  })

  contract('a missing object is a FileNotFoundError, and may be deleted', async (storage) => {
    for (const mode of ['raw', 'text', 'stream'] as const) {
      await assert.rejects(storage.getObject('not/there', mode), {
        ...missing,
        key: 'not/there',
        message: 'FILE_NOT_FOUND: the file "not/there" does not exist',
      })
    }
    await assert.rejects(storage.metadata('not/there'), missing)
    await assert.rejects(storage.copy('not/there', 'copied'), missing)
    await assert.rejects(storage.move('not/there', 'moved'), missing)
    await assert.rejects(storage.copy('not/there', 'not/there'), missing)
    assert.equal(await storage.exists('not/there'), false)
    assert.equal(await storage.exists('copied'), false)
    assert.equal(await storage.deleteObject('not/there'), undefined)
  })

  contract('deletes', async (storage) => {
    await storage.putObject('deleted/one', 'x')
    assert.equal(await storage.exists('deleted/one'), true)
    await storage.deleteObject('deleted/one')
    assert.equal(await storage.exists('deleted/one'), false)
    await assert.rejects(storage.getObject('deleted/one'), missing)
  })

  contract('copies and moves with the content type, replacing an existing one', async (storage) => {
    const source = flaws.copySource ? 'from/ä %.txt' : 'from/ä +&#%.txt'
    await storage.putObject(source, 'content', 'text/x-own')
    await storage.putObject('to/copy', 'older')
    await storage.copy(source, 'to/copy')
    await storage.move(source, 'to/move')
    assert.equal(await storage.exists(source), false)
    for (const key of ['to/copy', 'to/move']) {
      assert.equal(await storage.getObject(key, 'text'), 'content')
      assert.equal((await storage.metadata(key)).contentType, 'text/x-own')
    }
    await storage.move('to/move', 'to/move')
    assert.equal(await storage.exists('to/move'), true)
  })

  contract('lists by prefix in the order of bytes, over all pages', async (storage) => {
    const keys = ['p/a', 'p/ab/c', 'p/b/z', 'p/b/ä', 'p/c']
    if (!flaws.order) keys.splice(1, 0, 'p/a b', 'p/a-b', 'p/a.txt')
    await Promise.all(keys.map((key) => storage.putObject(key, 'x')))
    assert.deepEqual(await keysOf(storage, 'p/'), keys)
    assert.deepEqual(
      await keysOf(storage, 'p/a'),
      keys.filter((key) => key.startsWith('p/a')),
    )
    assert.deepEqual(await keysOf(storage, 'p/b/'), ['p/b/z', 'p/b/ä'])
    assert.deepEqual(await keysOf(storage, 'none/'), [])
    assert.deepEqual(await keysOf(storage, 'p'), keys)
    const first = await storage.list('p/')[Symbol.asyncIterator]().next()
    assertSubset(first.value, { key: 'p/a', size: 1, etag: (await storage.metadata('p/a')).etag })
    assert.ok(first.value.lastModified instanceof Date)
    assert.throws(() => storage.list('../'), /STORAGE_KEY/)
  })

  for (const [why, key] of badKeys)
    contract(`refuses a key that is or has ${why}`, async (storage) => {
      const refused = { code: 'StorageKeyError', status: 400 }
      const bad = key as string
      await assert.rejects(storage.putObject(bad, 'x'), refused)
      await assert.rejects(storage.getObject(bad), refused)
      await assert.rejects(storage.deleteObject(bad), refused)
      await assert.rejects(storage.exists(bad), refused)
      await assert.rejects(storage.copy('a', bad), refused)
      await assert.rejects(storage.move(bad, 'a'), refused)
      await assert.rejects(storage.getDownloadUrl(bad), refused)
    })

  contract('odd but valid keys are distinct', async (storage) => {
    const keys = [
      'odd/...',
      'odd/a..b',
      'odd/%2e%2e',
      'odd/a%2Fb',
      'odd/a+b',
      'odd/a b',
      'odd/ü',
      'odd/😀',
      "odd/!'()*",
    ]
    for (const key of keys) await storage.putObject(key, key)
    for (const key of keys) assert.equal(await storage.getObject(key, 'text'), key)
    assert.equal((await keysOf(storage, 'odd/')).length, keys.length)
  })

  contract('a stream that fails keeps the previous object, and its error is reported', async (storage) => {
    await storage.putObject('failing', 'before')
    async function* failing() {
      yield new Uint8Array(100_000)
      throw new Error('the source failed')
    }
    await assert.rejects(storage.putObject('failing', failing()), /the source failed/)
    await assert.rejects(storage.putObject('failing-new', failing()), /the source failed/)
    assert.equal(await storage.getObject('failing', 'text'), 'before')
    assert.equal(await storage.exists('failing-new'), false)
  })

  contract('an unusable key is refused', async (storage) => {
    const refused = { code: 'StorageDataError' }
    for (const data of [null, undefined, 42, {}, ['a']]) {
      await assert.rejects(storage.putObject('refused', data as never), refused)
    }
    await assert.rejects(storage.putObject('refused', Readable.from([{ no: 'bytes' }])), refused)
    const ended = Readable.from(['x'])
    ended.destroy()
    await assert.rejects(storage.putObject('refused', ended), refused)
    const locked = new Blob(['x']).stream()
    locked.getReader()
    await assert.rejects(storage.putObject('refused', locked), refused)
    const read = new Response('x')
    await read.text()
    await assert.rejects(storage.putObject('refused', read.body!), refused)
    const cancelled = new Blob(['x']).stream()
    await cancelled.cancel()
    await assert.rejects(storage.putObject('refused', cancelled), refused)
    const reader = new Blob(['x']).stream()
    for await (const _chunk of reader.values({ preventCancel: true }));
    await assert.rejects(storage.putObject('refused', reader), refused)
    const careless = {
      [Symbol.asyncIterator]: () => ({
        next: async () => ({ done: false, value: 42 }),
        return: () => {
          throw new Error('cannot stop')
        },
      }),
    }
    await assert.rejects(storage.putObject('refused', careless as never), refused)
    // The producer of a stream learns that it will not be read, whatever the reason.
    for (const [key, type] of [
      ['../x', undefined],
      ['refused', 'html'],
    ] as const) {
      const unread = new Readable({ read: () => {} })
      await assert.rejects(storage.putObject(key, unread, type))
      assert.equal(unread.destroyed, true)
    }
    for (const type of ['', 'html', 'text/html\r\nx: y', 42]) {
      await assert.rejects(storage.putObject('refused', 'x', type as string), { code: 'OptionError' })
    }
    await assert.rejects(storage.getObject('refused', 'json' as 'raw'), { code: 'OptionError' })
    assert.equal(await storage.exists('refused'), false)
  })

  if (!flaws.replacing)
    contract('readers see the old or the new content, whole, while it is replaced', async (storage) => {
      const versions = ['a', 'b'].map((letter) => letter.repeat(200_000))
      await storage.putObject('hot', versions[0]!)
      const writing = (async () => {
        for (let i = 1; i <= 20; i++) await storage.putObject('hot', versions[i % 2]!)
      })()
      const read = async () => {
        for (let i = 0; i < 20; i++) assert.ok(versions.includes(await storage.getObject('hot', 'text')))
      }
      await Promise.all([writing, read(), read()])
    })

  contract('many at once', async (storage) => {
    const keys = Array.from({ length: 50 }, (_, i) => `many/${i % 7}/${i}`)
    await Promise.all(keys.map((key) => storage.putObject(key, key)))
    assert.deepEqual(await Promise.all(keys.map((key) => storage.getObject(key, 'text'))), keys)
    if (flaws.deleting) for (const key of keys) await storage.deleteObject(key)
    else await Promise.all(keys.map((key) => storage.deleteObject(key)))
    assert.deepEqual(await keysOf(storage, 'many/'), [])
  })

  contract('an abandoned stream releases its resources', async (storage) => {
    await storage.putObject('left', bytes(1024 ** 2))
    for (let i = 0; i < 20; i++) {
      const stream = await storage.getObject('left', 'stream')
      if (i % 2 === 0) for await (const _chunk of stream) break
      stream.destroy()
      assert.equal(stream.destroyed, true)
    }
    assert.equal((await storage.getObject('left')).length, 1024 ** 2)
  })

  contract('says that it is well', async (storage) => {
    assert.equal(await storage.health(), undefined)
  })

  contract('a download address chooses name and type of its response, if there are addresses', async (storage) => {
    const { provider } = storage
    if (provider.downloadUrl === undefined || flaws.downloadHeaders) return
    await storage.putObject('named.txt', 'x')
    const server = new Server({
      ...{ port: 0, host: '127.0.0.1', gracefulShutdown: false, drainWindow: 0, logger: memoryLogger() },
      router: new RouteCollection(),
      plugins: { storage: { providers: { main: provider } } },
    })
    try {
      // A provider may have addresses that the server itself serves.
      const { port } = await server.listen()
      const named = { filename: 'Grüße "7";.txt', contentType: 'text/x-own' } as const
      for (const disposition of ['attachment', 'inline'] as const) {
        const address = await storage.getDownloadUrl('named.txt', { ...named, disposition })
        const { status, headers } = await fetch(new URL(address, `http://127.0.0.1:${port}`))
        assert.deepEqual(
          [status, headers.get('content-disposition'), headers.get('content-type')],
          [
            200,
            `${disposition}; filename="Gr__e _7_;.txt"; filename*=UTF-8''Gr%C3%BC%C3%9Fe%20%227%22%3B.txt`,
            'text/x-own',
          ],
        )
      }
    } finally {
      await server.close()
    }
  })

  for (const seconds of [0, -1, 1.5, Number.NaN, 604_801, '60'])
    contract(`an address for ${seconds} seconds is refused`, async (storage) => {
      await assert.rejects(storage.getDownloadUrl('a', seconds as number), { code: 'OptionError' })
      await assert.rejects(storage.getUploadUrl('a', seconds as number), { code: 'OptionError' })
    })
}
