import { Readable } from 'node:stream'
import { Storage, type StorageProvider } from 'framework'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { badKeys, keysOf, textOf } from '../support/storage.ts'

/** How one provider is set up for the suite. */
export interface ProviderUnderTest {
  start(): Promise<StorageProvider>
  stop(): Promise<void>
  /** The differences between an emulator and its service. */
  readonly flaws?: {
    /** It takes escapes of reserved characters in the source of a copy for the characters of the key. */
    readonly copySource?: true
    /** It lists in the order of its folders. */
    readonly order?: true
    /** It overwrites a file while others read it. */
    readonly replacing?: true
    /** It fails when the last objects of a folder are deleted at the same time. */
    readonly deleting?: true
  }
}

const bytes = (length: number) => Uint8Array.from({ length }, (_, i) => (i * 31 + (i >> 8)) % 256)

/** What every provider must do, said once. */
export function testProvider(under: ProviderUnderTest): void {
  const { flaws = {} } = under
  let storage: Storage
  beforeAll(async () => {
    storage = new Storage({ main: await under.start() }, { defaultProvider: 'main' })
  })
  afterAll(async () => {
    await storage.close()
    await under.stop()
  })
  const missing = { code: 'FileNotFoundError', status: 404 }

  test.each([
    ['text', 'grüße 🎈', 'grüße 🎈'],
    ['no text', '', ''],
    ['bytes', new TextEncoder().encode('bytes'), 'bytes'],
    ['a part of a larger buffer', new TextEncoder().encode('..part..').subarray(2, 6), 'part'],
    ['an ArrayBuffer', new TextEncoder().encode('buffer').buffer, 'buffer'],
    ['a DataView', new DataView(new TextEncoder().encode('xview').buffer, 1), 'view'],
    ['a Blob', new Blob(['bl', 'ob']), 'blob'],
  ])('keeps %s', async (name, data, text) => {
    const key = `kinds/${name}`
    await storage.putObject(key, data as string)
    expect(await storage.getObject(key, 'text')).toBe(text)
    expect(await storage.metadata(key)).toMatchObject({ key, size: Buffer.byteLength(text) })
  })

  test.each([
    ['a stream of node', () => Readable.from([Buffer.from('one '), Buffer.from('two')])],
    ['a stream of the web', () => new Blob(['one two']).stream()],
    [
      'an async iterable of text and bytes',
      async function* () {
        yield 'one '
        yield new TextEncoder().encode('two')
      },
    ],
  ])('keeps %s', async (name, source) => {
    await storage.putObject(`streams/${name}`, source() as AsyncIterable<Uint8Array>)
    expect(await storage.getObject(`streams/${name}`, 'text')).toBe('one two')
  })

  test('keeps a Blob that is too large to be read into memory, with its type', async () => {
    const blob = new Blob([bytes(9 * 1024 ** 2)], { type: 'video/mp4' })
    await storage.putObject('large/blob', blob)
    expect(await storage.metadata('large/blob')).toMatchObject({ size: blob.size, contentType: 'video/mp4' })
    expect(Buffer.compare(await storage.getObject('large/blob'), Buffer.from(await blob.arrayBuffer()))).toBe(0)
  })

  test('keeps an empty stream', async () => {
    await storage.putObject('streams/empty', Readable.from([]))
    expect(await storage.getObject('streams/empty')).toEqual(new Uint8Array(0))
    expect(await textOf(await storage.getObject('streams/empty', 'stream'))).toBe('')
  })

  test('returns the stored data: 20 MB in a stream, 3 MB of bytes', async () => {
    const [large, small] = [bytes(20 * 1024 ** 2), bytes(3 * 1024 ** 2)]
    async function* pieces() {
      for (let at = 0; at < large.length; at += 100_000) yield large.subarray(at, at + 100_000)
    }
    await storage.putObject('large/stream', pieces())
    await storage.putObject('large/bytes', small)
    const back = await storage.getObject('large/stream')
    expect(back.length).toBe(large.length)
    expect(Buffer.compare(back, large)).toBe(0)
    const stream = await storage.getObject('large/bytes', 'stream')
    expect(stream).toBeInstanceOf(Readable)
    const chunks: Uint8Array[] = []
    for await (const chunk of stream) chunks.push(chunk)
    expect(Buffer.compare(Buffer.concat(chunks), small)).toBe(0)
  })

  test('keeps the content type that is given, that of the Blob, that of the ending', async () => {
    await storage.putObject('types/a', 'x', 'image/svg+xml; charset=utf-8')
    await storage.putObject('types/b', new Blob(['x'], { type: 'image/png' }))
    await storage.putObject('types/c.json', '{}')
    await storage.putObject('types/d', 'x')
    await storage.putObject('types/e', new Uint8Array(1))
    await storage.putObject('types/f.png', 'x', 'text/html')
    const types = await Promise.all(
      ['a', 'b', 'c.json', 'd', 'e', 'f.png'].map((key) => storage.metadata(`types/${key}`)),
    )
    expect(types.map(({ contentType }) => contentType)).toEqual([
      'image/svg+xml; charset=utf-8',
      'image/png',
      'application/json; charset=utf-8',
      'text/plain; charset=utf-8',
      'application/octet-stream',
      'text/html',
    ])
    await storage.putObject('types/a', 'x', 'text/css')
    expect((await storage.metadata('types/a')).contentType).toBe('text/css')
    expect(await keysOf(storage, 'types/')).toHaveLength(6)
  })

  test('an object that is put again is replaced, and has another tag', async () => {
    await storage.putObject('again', 'long before')
    const before = await storage.metadata('again')
    await storage.putObject('again', 'after')
    const after = await storage.metadata('again')
    expect(await storage.getObject('again', 'text')).toBe('after')
    expect(after.etag).not.toBe(before.etag)
    expect(after.etag).toMatch(/^"[^"]+"$/)
    expect(Math.abs(after.lastModified.getTime() - Date.now())).toBeLessThan(60_000)
  })

  test('a missing object is a FileNotFoundError, and may be deleted', async () => {
    for (const mode of ['raw', 'text', 'stream'] as const) {
      await expect(storage.getObject('not/there', mode)).rejects.toMatchObject({
        ...missing,
        key: 'not/there',
        message: 'FILE_NOT_FOUND: the file "not/there" does not exist',
      })
    }
    await expect(storage.metadata('not/there')).rejects.toMatchObject(missing)
    await expect(storage.copy('not/there', 'copied')).rejects.toMatchObject(missing)
    await expect(storage.move('not/there', 'moved')).rejects.toMatchObject(missing)
    await expect(storage.copy('not/there', 'not/there')).rejects.toMatchObject(missing)
    expect(await storage.exists('not/there')).toBe(false)
    expect(await storage.exists('copied')).toBe(false)
    await expect(storage.deleteObject('not/there')).resolves.toBeUndefined()
  })

  test('deletes', async () => {
    await storage.putObject('deleted/one', 'x')
    expect(await storage.exists('deleted/one')).toBe(true)
    await storage.deleteObject('deleted/one')
    expect(await storage.exists('deleted/one')).toBe(false)
    await expect(storage.getObject('deleted/one')).rejects.toMatchObject(missing)
  })

  test('copies and moves with the content type, replacing an existing one', async () => {
    const source = flaws.copySource ? 'from/ä %.txt' : 'from/ä +&#%.txt'
    await storage.putObject(source, 'content', 'text/x-own')
    await storage.putObject('to/copy', 'older')
    await storage.copy(source, 'to/copy')
    await storage.move(source, 'to/move')
    expect(await storage.exists(source)).toBe(false)
    for (const key of ['to/copy', 'to/move']) {
      expect(await storage.getObject(key, 'text')).toBe('content')
      expect((await storage.metadata(key)).contentType).toBe('text/x-own')
    }
    await storage.move('to/move', 'to/move')
    expect(await storage.exists('to/move')).toBe(true)
  })

  test('lists by prefix in the order of bytes, over all pages', async () => {
    const keys = ['p/a', 'p/ab/c', 'p/b/z', 'p/b/ä', 'p/c']
    if (!flaws.order) keys.splice(1, 0, 'p/a b', 'p/a-b', 'p/a.txt')
    await Promise.all(keys.map((key) => storage.putObject(key, 'x')))
    expect(await keysOf(storage, 'p/')).toEqual(keys)
    expect(await keysOf(storage, 'p/a')).toEqual(keys.filter((key) => key.startsWith('p/a')))
    expect(await keysOf(storage, 'p/b/')).toEqual(['p/b/z', 'p/b/ä'])
    expect(await keysOf(storage, 'none/')).toEqual([])
    expect(await keysOf(storage, 'p')).toEqual(keys)
    const first = await storage.list('p/')[Symbol.asyncIterator]().next()
    expect(first.value).toMatchObject({ key: 'p/a', size: 1, etag: (await storage.metadata('p/a')).etag })
    expect(first.value.lastModified).toBeInstanceOf(Date)
    expect(() => storage.list('../')).toThrow(/STORAGE_KEY/)
  })

  test.each(badKeys)('refuses a key that is or has %s', async (_why, key) => {
    const refused = { code: 'StorageKeyError', status: 400 }
    const bad = key as string
    await expect(storage.putObject(bad, 'x')).rejects.toMatchObject(refused)
    await expect(storage.getObject(bad)).rejects.toMatchObject(refused)
    await expect(storage.deleteObject(bad)).rejects.toMatchObject(refused)
    await expect(storage.exists(bad)).rejects.toMatchObject(refused)
    await expect(storage.copy('a', bad)).rejects.toMatchObject(refused)
    await expect(storage.move(bad, 'a')).rejects.toMatchObject(refused)
    await expect(storage.getDownloadUrl(bad)).rejects.toMatchObject(refused)
  })

  test('odd but valid keys are distinct', async () => {
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
    for (const key of keys) expect(await storage.getObject(key, 'text')).toBe(key)
    expect(await keysOf(storage, 'odd/')).toHaveLength(keys.length)
  })

  test('a stream that fails keeps the previous object, and its error is reported', async () => {
    await storage.putObject('failing', 'before')
    async function* failing() {
      yield new Uint8Array(100_000)
      throw new Error('the source failed')
    }
    await expect(storage.putObject('failing', failing())).rejects.toThrow('the source failed')
    await expect(storage.putObject('failing-new', failing())).rejects.toThrow('the source failed')
    expect(await storage.getObject('failing', 'text')).toBe('before')
    expect(await storage.exists('failing-new')).toBe(false)
  })

  test('an unusable key is refused', async () => {
    const refused = { code: 'StorageDataError' }
    for (const data of [null, undefined, 42, {}, ['a']]) {
      await expect(storage.putObject('refused', data as never)).rejects.toMatchObject(refused)
    }
    await expect(storage.putObject('refused', Readable.from([{ no: 'bytes' }]))).rejects.toMatchObject(refused)
    const ended = Readable.from(['x'])
    ended.destroy()
    await expect(storage.putObject('refused', ended)).rejects.toMatchObject(refused)
    const locked = new Blob(['x']).stream()
    locked.getReader()
    await expect(storage.putObject('refused', locked)).rejects.toMatchObject(refused)
    const read = new Response('x')
    await read.text()
    await expect(storage.putObject('refused', read.body!)).rejects.toMatchObject(refused)
    const cancelled = new Blob(['x']).stream()
    await cancelled.cancel()
    await expect(storage.putObject('refused', cancelled)).rejects.toMatchObject(refused)
    const reader = new Blob(['x']).stream()
    for await (const _chunk of reader.values({ preventCancel: true }));
    await expect(storage.putObject('refused', reader)).rejects.toMatchObject(refused)
    const careless = {
      [Symbol.asyncIterator]: () => ({
        next: async () => ({ done: false, value: 42 }),
        return: () => {
          throw new Error('cannot stop')
        },
      }),
    }
    await expect(storage.putObject('refused', careless as never)).rejects.toMatchObject(refused)
    // The producer of a stream learns that it will not be read, whatever the reason.
    for (const [key, type] of [
      ['../x', undefined],
      ['refused', 'html'],
    ] as const) {
      const unread = new Readable({ read: () => {} })
      await expect(storage.putObject(key, unread, type)).rejects.toThrow()
      expect(unread.destroyed).toBe(true)
    }
    for (const type of ['', 'html', 'text/html\r\nx: y', 42]) {
      await expect(storage.putObject('refused', 'x', type as string)).rejects.toMatchObject({ code: 'OptionError' })
    }
    await expect(storage.getObject('refused', 'json' as 'raw')).rejects.toMatchObject({ code: 'OptionError' })
    expect(await storage.exists('refused')).toBe(false)
  })

  if (!flaws.replacing)
    test('readers see the old or the new content, whole, while it is replaced', async () => {
      const versions = ['a', 'b'].map((letter) => letter.repeat(200_000))
      await storage.putObject('hot', versions[0]!)
      const writing = (async () => {
        for (let i = 1; i <= 20; i++) await storage.putObject('hot', versions[i % 2]!)
      })()
      const read = async () => {
        for (let i = 0; i < 20; i++) expect(versions).toContain(await storage.getObject('hot', 'text'))
      }
      await Promise.all([writing, read(), read()])
    })

  test('many at once', async () => {
    const keys = Array.from({ length: 50 }, (_, i) => `many/${i % 7}/${i}`)
    await Promise.all(keys.map((key) => storage.putObject(key, key)))
    expect(await Promise.all(keys.map((key) => storage.getObject(key, 'text')))).toEqual(keys)
    if (flaws.deleting) for (const key of keys) await storage.deleteObject(key)
    else await Promise.all(keys.map((key) => storage.deleteObject(key)))
    expect(await keysOf(storage, 'many/')).toEqual([])
  })

  test('an abandoned stream releases its resources', async () => {
    await storage.putObject('left', bytes(1024 ** 2))
    for (let i = 0; i < 20; i++) {
      const stream = await storage.getObject('left', 'stream')
      if (i % 2 === 0) for await (const _chunk of stream) break
      stream.destroy()
      expect(stream.destroyed).toBe(true)
    }
    expect((await storage.getObject('left')).length).toBe(1024 ** 2)
  })

  test('says that it is well', async () => {
    await expect(storage.health()).resolves.toBeUndefined()
  })

  describe('expiry', () => {
    test.each([0, -1, 1.5, Number.NaN, 604_801, '60'])('%s seconds are refused', async (seconds) => {
      await expect(storage.getDownloadUrl('a', seconds as number)).rejects.toMatchObject({ code: 'OptionError' })
      await expect(storage.getUploadUrl('a', seconds as number)).rejects.toMatchObject({ code: 'OptionError' })
    })
  })
}
