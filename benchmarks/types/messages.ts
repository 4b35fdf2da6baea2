import type { Readable } from 'node:stream'

/** Reads the JSON messages of a stream, each preceded by its `Content-Length`. */
export function messagesOf(stream: Readable, take: (message: unknown) => void): void {
  let pending = Buffer.alloc(0)
  stream.on('data', (chunk: Buffer) => {
    pending = Buffer.concat([pending, chunk])
    for (;;) {
      const end = pending.indexOf('\r\n\r\n')
      if (end < 0) return
      const length = Number(/Content-Length: (\d+)/i.exec(pending.toString('latin1', 0, end))?.[1])
      const from = end + 4
      if (pending.length < from + length) return
      take(JSON.parse(pending.toString('utf8', from, from + length)))
      pending = pending.subarray(from + length)
    }
  })
}
