import { connect } from 'node:net'
import { channel, RouteCollection, Server } from 'framework'

/**
 * Channels on whichever runtime runs this. Returns what its clients have received.
 *
 * @param {string} [adapter]
 */
export async function run(adapter) {
  const quiet = () => {}
  /** @type {any} */
  const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet, child: () => logger }

  const news = channel('news', { join: () => true, publish: () => true })
  const server = new Server({
    port: 0,
    host: '127.0.0.1',
    drainWindow: 0,
    logger,
    router: new RouteCollection(),
    ...(adapter ? { adapter: /** @type {'node'} */ (adapter) } : {}),
    plugins: { websocket: true, channels: { maxBuffered: '64kb' } },
  })
  server.ws('/live', { channels: [news] }, {})
  const { port } = await server.listen()
  const counts = () => server.services.get('channels').counts

  /** @param {() => boolean} is */
  async function until(is) {
    const end = Date.now() + 60_000
    while (!is() && Date.now() < end) await new Promise((resolve) => setTimeout(resolve, 5))
    return is()
  }

  /**
   * Reads events until one has the text. Over a plain connection: the fetch of Deno 2.9 does not always close its own when it is aborted.
   * @param {string} text @param {string} [lastId]
   */
  async function events(text, lastId) {
    const connection = connect(port, '127.0.0.1')
    const resume = lastId === undefined ? '' : `last-event-id: ${lastId}\r\n`
    connection.write(`GET /live?channel=news HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n${resume}\r\n`)
    let all = ''
    connection.setEncoding('utf8').on('data', (/** @type {string} */ chunk) => {
      all += chunk
    })
    await until(() => all.includes('\r\n\r\n'))
    return {
      type: /^content-type: (.+)\r$/im.exec(all)?.[1],
      async read() {
        await until(() => all.includes(text))
        return [...all.matchAll(/"payload":"(\w+)"/g)].map(([, payload]) => payload)
      },
      /** Abruptly, as a browser that is closed. @returns {string | undefined} */
      end() {
        connection.destroy()
        return [...all.matchAll(/^id: (.+)$/gm)].at(-1)?.[1]
      },
    }
  }

  // Node.js 20 has none of its own.
  const Client = globalThis.WebSocket ?? (await import('ws')).WebSocket
  const socket = new Client(`ws://127.0.0.1:${port}/live`)
  /** @type {{ type: string, data: any }[]} */
  const received = []
  socket.onmessage = (/** @type {{ data: unknown }} */ { data }) => received.push(JSON.parse(String(data)))
  await new Promise((resolve) => socket.addEventListener('open', resolve))
  /** @param {object} message */
  const send = (message) => socket.send(JSON.stringify(message))
  send({ type: 'channel:join', data: { channel: 'news' } })
  await until(() => received.length > 0)

  const first = await events('two')
  await news.publish('one')
  send({ type: 'channel:publish', data: { channel: 'news', payload: 'two' } })
  const before = await first.read()
  const lastId = first.end()
  const hasLeft = await until(() => counts().streams === 0 && counts().members === 1)
  await news.publish('three')
  const second = await events('three', lastId)
  const missed = await second.read()
  second.end()

  const silent = connect(port, '127.0.0.1')
  silent.on('error', () => {})
  silent.pause()
  silent.write(`GET /live?channel=news HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n\r\n`)
  await until(() => counts().streams === 1)
  for (let i = 0; i < 400 && counts().streams > 0; i++) {
    await news.publish('x'.repeat(100_000))
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  const isGivenUp = counts().streams === 0
  silent.destroy()
  socket.close()
  const isEmpty = await until(() => counts().members === 0 && counts().channels === 0)
  await server.close()

  return {
    type: first.type,
    before,
    hasLeft,
    missed,
    socket: received.slice(0, 3).map(({ type, data }) => [type, data.payload ?? '']),
    isGivenUp,
    isEmpty,
  }
}
