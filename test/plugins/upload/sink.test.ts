import type { Server } from 'framework'
import type { UploadSink, UploadSource } from 'framework/plugins/upload'
import { afterEach, describe, expect, test } from 'vitest'
import { type Form, file, makeUploads, multipart } from '../../support/uploads.ts'

const { makeServer } = makeUploads(afterEach)
const send = (server: Server, { body, type }: Form, path = '/upload') =>
  server.inject.post(path, { body, headers: { 'content-type': type } })

/** A sink that records its input. */
function bucket(more: Partial<UploadSink<number>> = {}) {
  const kept = new Map<number, string>()
  let next = 1
  const sink: UploadSink<number> = {
    async write({ stream }) {
      const key = next++
      let text = ''
      for await (const chunk of stream) text += String(chunk)
      kept.set(key, text)
      return key
    },
    discard: (key) => void kept.delete(key),
    ...more,
  }
  return { sink, kept }
}

describe('a sink', () => {
  test('receives each file, and its return value is the result', async () => {
    const { sink, kept } = bucket()
    const { server, seen } = makeServer({ storage: sink })
    server.post('/result', (req) => req.file<number>('b')!.result + 1)
    await send(server, multipart(file('a', 'a.txt', 'one'), file('b', 'b.txt', 'two')))
    expect(seen.files.map(({ result, size, path }) => [result, size, path])).toEqual([
      [1, 3, undefined],
      [2, 3, undefined],
    ])
    expect([...kept.values()]).toEqual(['one', 'two'])
    expect(() => seen.files[0]!.bytes()).toThrow(/bytes\(\) of the file "a": it is in a sink/)
    expect(() => seen.files[0]!.stream()).toThrow(/in a sink/)
    await expect(seen.files[0]!.moveTo('/tmp/x')).rejects.toThrow(/in a sink/)
    ;(await send(server, multipart(file('b', 'b', 'x')), '/result')).assertBodyDeepEqual(4)
  })

  test('discards stored files when a later part is refused', async () => {
    const { sink, kept } = bucket()
    const { server } = makeServer({ storage: sink, maxFileSize: 10 })
    const form = multipart(file('a', 'a', 'small'), file('b', 'b', 'x'.repeat(11)))
    ;(await send(server, form)).assertBodySubset({ code: 'FileTooLargeError' })
    await expect.poll(() => kept.size).toBe(0)
  })

  test.each([
    ['throws', 500],
    ['refuses', 409],
  ])('discards when the handler %s', async (how, status) => {
    const { sink, kept } = bucket()
    const { server } = makeServer({ storage: sink })
    server.post('/fail', (_req, res) => {
      if (how === 'throws') throw new Error('on purpose')
      return res.conflict()
    })
    ;(await send(server, multipart(file('a', 'a', 'x')), '/fail')).assertStatus(status)
    await expect.poll(() => kept.size).toBe(0)
  })

  test('that fails fails the request, and the other files are discarded', async () => {
    const discarded: number[] = []
    let count = 0
    const sink: UploadSink<number> = {
      write({ stream }) {
        stream.resume()
        if (++count === 2) throw new Error('the bucket is full')
        return count
      },
      discard: (key) => void discarded.push(key),
    }
    const { server, log } = makeServer({ storage: sink })
    ;(await send(server, multipart(file('a', 'a', 'x'), file('b', 'b', 'y')))).assertStatus(500)
    expect(discarded).toEqual([1])
    expect(JSON.stringify(log.map(({ message }) => message))).toContain('the bucket is full')
  })

  test('that does not read leaves the next part in its place, and the size right', async () => {
    const { server, seen } = makeServer({ storage: { write: () => 'unread' }, maxFileSize: '200kb' })
    await send(server, multipart(file('a', 'a', 'x'.repeat(150_000)), { name: 'after', body: '1' }))
    expect(seen.files.map(({ size, result }) => [size, result])).toEqual([[150_000, 'unread']])
    expect(seen.body).toEqual({ after: '1' })
    const over = await send(server, multipart(file('a', 'a', 'x'.repeat(250_000))))
    over.assertBodySubset({ code: 'FileTooLargeError' })
  })

  test('may stop reading in the middle', async () => {
    const storage: UploadSink<string> = {
      async write({ stream }) {
        for await (const chunk of stream) return `${(chunk as Uint8Array).length > 0}`
        return 'nothing'
      },
    }
    const { server, seen } = makeServer({ storage, maxFileSize: '200kb' })
    const form = multipart(file('a', 'a', 'x'.repeat(150_000)), file('b', 'b', 'y'), { name: 'after', body: '1' })
    ;(await send(server, form)).assertStatus(200)
    expect(seen.files.map(({ size, result }) => [size, result])).toEqual([
      [150_000, 'true'],
      [1, 'true'],
    ])
    expect(seen.body).toEqual({ after: '1' })
    ;(await send(server, multipart(file('a', 'a', 'x'.repeat(250_000))))).assertStatus(413)
  })

  test('that never settles does not delay the refusal, and its later result is discarded', async () => {
    const discarded: string[] = []
    let finish = (_key: string) => {}
    let aborted = false
    const sink: UploadSink<string> = {
      write({ signal, stream }) {
        stream.on('error', () => {}).resume()
        signal.addEventListener('abort', () => {
          aborted = true
        })
        return new Promise((resolve) => {
          finish = resolve
        })
      },
      discard: (key) => void discarded.push(key),
    }
    const { server } = makeServer({ storage: sink, maxFileSize: '100kb' })
    ;(await send(server, multipart(file('a', 'a', 'x'.repeat(150_000))))).assertStatus(413)
    expect(aborted).toBe(true)
    finish('late')
    await expect.poll(() => discarded).toEqual(['late'])
  })

  test('that cannot discard is logged', async () => {
    const { sink } = bucket({ discard: () => Promise.reject(new Error('cannot')) })
    const { server, log } = makeServer({ storage: sink, maxFiles: 1 })
    ;(await send(server, multipart(file('a', 'a', 'x'), file('b', 'b', 'y')))).assertStatus(413)
    await expect.poll(() => log.map(({ message }) => message)).toContain('an upload could not be discarded')
  })

  test('sees bytes while the client is still sending', async () => {
    const arrived: number[] = []
    const { server } = makeServer({
      storage: {
        async write({ stream }: UploadSource) {
          for await (const chunk of stream) arrived.push((chunk as Uint8Array).length)
        },
      },
    })
    const { body, type } = multipart(file('a', 'a', 'x'.repeat(60_000)))
    let early = 0
    async function* slowly() {
      yield body.subarray(0, 30_000)
      await expect.poll(() => (early = arrived.reduce((sum, one) => sum + one, 0))).toBeGreaterThan(10_000)
      yield body.subarray(30_000)
    }
    await server.inject.post('/upload', { body: slowly(), headers: { 'content-type': type } })
    expect(early).toBeGreaterThan(10_000)
  })
})
