import { connect } from 'node:net'
import { constants, deflateRawSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  binary,
  close,
  type Exchange,
  encode,
  type Frame,
  FrameClient,
  more,
  opcodes,
  ping,
  text,
} from '../support/frames.ts'
import { type Outcome, type Vector, vectors } from './rfc6455.ts'
import { type SharedApp, shareApp, type Target, targets, usesNodeHttp } from './targets.ts'
import { type Ending, endedBySigterm } from './websocket-ending.ts'

/** Deno ends the connection where it should close with a code, and takes two things that it should not; none of it reaches the plugin. */
function outcomeOn(name: string, { name: vector, outcome }: Vector): readonly Outcome[] {
  if (name !== 'deno') return outcome
  if (vector === 'a frame that is not masked') return ['echo 1']
  if (vector === 'a close of 126 bytes') return [1000]
  const isOwn = vector.startsWith('a close with') && vector !== 'a close with wrong UTF-8'
  const isCounted = vector === 'a message that is too long' || vector === 'frames that are too long together'
  return outcome.map((one) =>
    !isOwn && !isCounted && typeof one === 'number' && one > 1001 && one < 1011 && one !== 1005 ? 'ended' : one,
  )
}

function outcomeOf({ frames, closedWith, ended }: Exchange): Outcome[] {
  const all: Outcome[] = frames.map(({ opcode, payload }) =>
    opcode === opcodes.pong ? `pong ${payload.toString('latin1')}` : `echo ${payload.length}`,
  )
  if (closedWith !== undefined) all.push(closedWith)
  else if (ended) all.push('ended')
  return all
}

describe.each(targets.map((target) => [target.name, target] as const))('websockets on %s', (name, target: Target) => {
  let app: SharedApp
  beforeAll(async () => {
    app = await shareApp(target, {}, { file: 'websocket.mjs' })
  })
  afterAll(() => app?.stop())

  const run = async ({ frames, outcome }: Vector) => {
    const client = new FrameClient(app.port, '/echo')
    await client.opened()
    client.send(...frames)
    const exchange = await client.until(outcome.length)
    client.end()
    return outcomeOf(exchange)
  }

  test('frames, text, control frames and close codes are those of RFC 6455', async () => {
    const actual: Record<string, Outcome[]> = {}
    const expected: Record<string, readonly Outcome[]> = {}
    await Promise.all(
      vectors.map(async (vector) => {
        actual[vector.name] = await run(vector)
        expected[vector.name] = outcomeOn(name, vector)
      }),
    )
    expect(actual).toEqual(expected)
  })

  test('frames that come byte by byte', async () => {
    const client = new FrameClient(app.port, '/echo')
    await client.opened()
    const all = Buffer.from([0x81, 0x83, 1, 2, 3, 4, 0x61 ^ 1, 0x62 ^ 2, 0x63 ^ 3])
    for (const byte of all) {
      client.socket.write(Buffer.from([byte]))
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(outcomeOf(await client.until(1))).toEqual(['echo 3'])
    client.end()
  })

  test('the 101 carries the headers of the response, each cookie too', async () => {
    const client = new FrameClient(app.port, '/headers')
    await client.opened()
    const { status, head } = client.exchange()
    client.end()
    expect(status).toBe(101)
    expect(head.toLowerCase()).toContain('sec-websocket-accept: s3pplmbitxaq9kygzzhzrbk+xoo=')
    expect(head.match(/^set-cookie: .*$/gim)).toEqual([expect.stringMatching(/a=1$/), expect.stringMatching(/b=2$/)])
    expect(head.match(/^x-own: (.*)$/im)?.[1]).toMatch(/^(ü|Ã¼)$/)
  })

  test('a refusal is an ordinary response', async () => {
    const client = new FrameClient(app.port, '/denied')
    await client.opened()
    expect(client.exchange().status).toBe(401)
    client.end()
  })

  test('a response that is larger than the buffer limit is sent in full, where an upgrade was requested', async () => {
    const client = connect(app.port, '127.0.0.1')
    let received = 0
    let end = ''
    const whole = new Promise<void>((resolve) => {
      client.on('data', (data) => {
        received += data.length
        end = (end + data.subarray(-5)).slice(-5)
        // The last of the chunks is empty.
        if (end === '0\r\n\r\n') resolve()
      })
    })
    client.write('GET /large HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')
    await whole
    expect(received).toBeGreaterThan(40 * 65_536)
    client.destroy()
  })

  test('a request with a body is not an upgrade: its body would be read as frames', async () => {
    for (const header of [{ 'Content-Length': '5' }, { 'Transfer-Encoding': 'chunked' }] as Record<string, string>[]) {
      const client = new FrameClient(app.port, '/echo', header)
      client.socket.write(header['Content-Length'] === undefined ? '0\r\n\r\n' : 'hello')
      await client.opened()
      // Deno refuses it before the framework sees it.
      expect(client.exchange().status).toBe(name === 'deno' ? 400 : 426)
      client.end()
    }
  })

  test('bytes that wait for a client are reported as drained, however few they are', async () => {
    const client = new FrameClient(app.port, '/drained')
    await client.opened()
    client.send(text('go'), text('go'))
    const { frames } = await client.until(8)
    expect(frames.filter(({ payload }) => payload.toString() === 'drained')).toHaveLength(2)
    client.end()
  })

  test('messages and pings in a flood close with 1008', async () => {
    for (const flood of [text('x'), ping('x')]) {
      const client = new FrameClient(app.port, '/flood')
      await client.opened()
      client.send(...Array.from({ length: 500 }, () => flood))
      const { closedWith, ended } = await client.until(500)
      // `ws` ends a flood of pings itself, and Deno answers each by itself; it also resets a connection that still sends.
      if (flood.opcode === opcodes.text && name !== 'deno') expect(closedWith).toBe(1008)
      else expect(closedWith === 1008 || ended).toBe(flood.opcode === opcodes.text || name !== 'deno')
      client.end()
    }
  })

  test('floods of empty and of tiny frames, and of close frames, end in one response at most', async () => {
    const flood = async (first: Frame, one: Frame, count: number) => {
      const client = new FrameClient(app.port, '/echo')
      await client.opened()
      // In one write: where the client waits between two, the server has closed and given up by the second.
      const flooding = Buffer.concat(Array.from({ length: count }, () => encode(one)))
      client.socket.write(Buffer.concat([encode(first), flooding, encode(ping('after'))]))
      const { status, frames, closedWith, ended } = await client.until(1)
      client.end()
      return { status, received: frames.map(({ payload }) => payload.toString()), closedWith, ended }
    }
    for (const payload of ['', 'x']) {
      const { received, closedWith, ended } = await flood(text('', { fin: false }), more(payload, false), 20_000)
      // `ws` accepts about a thousand of them; the others treat them as parts of one message.
      if (closedWith === undefined && !ended) expect(received).toEqual(['after'])
      else expect(closedWith ?? 1008).toBe(1008)
    }
    const last = await flood(close(1000), close(1000), 1000)
    // Deno may reset a connection that still sends, with its close frame on the way.
    if (name !== 'deno' || !last.ended) expect(last).toMatchObject({ status: 101, received: [], closedWith: 1000 })
  })

  test('a client that has ended its side, in the middle of a frame too, leaves no socket', async () => {
    const halves = [Buffer.alloc(0), encode(text('x')), Buffer.from([0x81, 0xff, 0, 0])]
    const clients = halves.map((half) => ({ half, client: new FrameClient(app.port, '/left') }))
    await Promise.all(clients.map(({ client }) => client.opened()))
    for (const { half, client } of clients) client.socket.end(half)
    await expect
      .poll(async () => ((await (await fetch(`http://127.0.0.1:${app.port}/left-by`)).json()) as unknown[]).length)
      .toBe(clients.length)
    for (const { client } of clients) client.end()
  })

  test('a compressed message counts by its uncompressed size', async () => {
    const plugins = { websocket: { maxMessageSize: 100_000, compression: true } }
    const own = await shareApp(target, { plugins }, { file: 'websocket.mjs' })
    const exchange = async (offer: string, ...frames: Frame[]) => {
      const client = new FrameClient(own.port, '/echo', { 'Sec-WebSocket-Extensions': offer })
      await client.opened()
      client.send(...frames)
      const result = await client.until(1)
      client.end()
      return result
    }
    const packed = (bytes: number) =>
      binary(deflateRawSync(new Uint8Array(bytes), { finishFlush: constants.Z_SYNC_FLUSH }).subarray(0, -4), {
        reserved: 4,
      })
    const offer = 'permessage-deflate; client_max_window_bits'
    const isPacked = !name.startsWith('deno') || usesNodeHttp(target)
    const fits = await exchange(offer, packed(100))
    expect(outcomeOf(fits)).toEqual([isPacked ? 'echo 100' : 'ended'])
    expect(outcomeOf(await exchange(offer, packed(10_000_000)))).toEqual([isPacked ? 1009 : 'ended'])
    const long = await exchange(offer, text('x'.repeat(5000)))
    expect(long.frames.map(({ payload }) => payload.length < 1000)).toEqual([isPacked])
    // An offer that cannot be met is declined; an invalid one is refused.
    for (const unknown of [
      'permessage-deflate; server_max_window_bits=99',
      'permessage-deflate; x',
      'x-other; a="b"',
    ]) {
      const { head, frames } = await exchange(unknown, text('plain'))
      expect([unknown, head.includes('xtensions:'), frames.length]).toEqual([unknown, false, 1])
    }
    expect((await exchange('permessage-deflate; =')).status).toBe(400)
    await own.stop()
  })

  const handled = () => fetch(`http://127.0.0.1:${app.port}/handled`).then((response) => response.json())
  const forget = () => fetch(`http://127.0.0.1:${app.port}/handled`, { method: 'POST' })

  test('messages that came before the end of the connection are handled, in order, and then close', async () => {
    for (const [code, end] of [
      [1000, close(1000)],
      [1006, undefined],
    ] as const) {
      await forget()
      const client = new FrameClient(app.port, '/ordered')
      await client.opened()
      client.send(text('1'), text('2'), text('3'), ...(end === undefined ? [] : [end]))
      if (end === undefined) client.socket.end()
      await expect.poll(handled).toEqual(['1', '2', '3', code])
      client.end()
    }
  })

  test('a socket that the client closes, or that breaks the protocol, is not open, and ends in time', async () => {
    for (const last of [close(1000), text('x', { reserved: 7 })]) {
      await forget()
      const client = new FrameClient(app.port, '/closing')
      await client.opened()
      // It reads neither the response nor the end. Bun's own `ws` reports a close only when the connection has ended.
      if (name !== 'bun with node:http') client.socket.pause()
      client.send(text('go'), last)
      await expect.poll(handled, { timeout: 20_000 }).toEqual([[false, false, 0], 'closed'])
      client.end()
    }
  })

  test('a client that has ended its side and reads nothing ends in time', async () => {
    await forget()
    const client = new FrameClient(app.port, '/full')
    await client.opened()
    client.socket.pause()
    client.send(text('go'))
    await expect.poll(handled).toEqual(['full'])
    client.socket.end()
    await expect.poll(handled, { timeout: 20_000 }).toEqual(['full', 'closed'])
    client.end()
  })

  test('a client that does not respond to a close has a place only as long as its connection is open', async () => {
    const plugins = { websocket: { maxSockets: 1, maxMessageSize: 100, closeTimeout: 100 } }
    const own = await shareApp(target, { plugins }, { file: 'websocket.mjs' })
    const silent = new FrameClient(own.port, '/echo')
    await silent.opened()
    silent.send(text('x'.repeat(200)))
    const closes = async () => (await fetch(`http://127.0.0.1:${own.port}/closes`)).json()
    await expect.poll(closes).toHaveLength(1)
    const status = async () => {
      const client = new FrameClient(own.port, '/echo')
      await client.opened()
      client.end()
      return client.exchange().status
    }
    // Deno cannot end it.
    if (name === 'deno') expect([await status(), await status()]).toEqual([503, 503])
    silent.end()
    await expect.poll(status).toBe(101)
    await own.stop()
  })

  test('buffers and views of them are sent as their bytes', async () => {
    const client = new FrameClient(app.port, '/bytes')
    await client.opened()
    client.send(text('go'))
    const { frames } = await client.until(5)
    expect(frames.map(({ opcode, payload }) => [opcode, ...payload])).toEqual([
      [opcodes.binary, 0, 1, 2, 3, 4, 5, 6, 7],
      [opcodes.binary, 2, 3, 4],
      [opcodes.binary, 4, 5, 6, 7],
      [opcodes.binary, 8, 9],
      [opcodes.binary, 8, 9],
    ])
    client.end()
  })

  test('a client that never reads is given up', async () => {
    const client = new FrameClient(app.port, '/slow')
    await client.opened()
    client.socket.pause()
    await expect
      .poll(async () => (await fetch(`http://127.0.0.1:${app.port}/closes`)).json(), { timeout: 30_000, interval: 200 })
      .toContainEqual([expect.any(Number), 'slow'])
    client.end()
  })

  describe('SIGTERM', () => {
    // A thousand are in the long form.
    const many = 20
    let ending: Ending
    beforeAll(async () => {
      ending = await endedBySigterm(target, many)
    })

    test(`closes each of ${many} clients with 1001, and the process ends in time`, () => {
      expect(ending).toMatchObject({ codes: Array.from({ length: many }, () => 1001), code: 0, isInTime: true })
    })

    test('waits for the close handlers, of clients that do not answer as well', () => {
      expect(ending.stderr.match(/said goodbye/g)).toHaveLength(10)
    })

    test('is not held up by a client that left before its upgrade was answered', () => {
      expect(ending.stderr).toMatch(/asked\nanswered\n/)
      expect(ending).toMatchObject({ code: 0, isInTime: true })
    })
  })

  test('a sub-protocol is named where the route has some, and an invalid list of them is refused', async () => {
    const answer = async (path: string, offered: string) => {
      const client = new FrameClient(app.port, path, { 'Sec-WebSocket-Protocol': offered })
      await client.opened()
      if (client.exchange().status !== 101) await client.until(1)
      const { status, head, refusal } = client.exchange()
      client.end()
      return { status, chosen: /^sec-websocket-protocol: (.*)$/im.exec(head)?.[1], refusal }
    }
    expect(await answer('/echo', 'x, y')).toMatchObject({ status: 101, chosen: undefined })
    expect(await answer('/protocols', 'x, v1')).toMatchObject({ status: 101, chosen: 'v1' })
    for (const wrong of ['v1,,x', 'v1, v1', 'v1 x', ',']) {
      const { status, refusal } = await answer('/protocols', wrong)
      expect([wrong, status, refusal]).toEqual([
        wrong,
        400,
        expect.stringContaining('Sec-WebSocket-Protocol is not a list'),
      ])
    }
  })
})
