import { request } from 'node:http'
import { createServer } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'

/** One request of a suite, and the answer that every server must give to it. */
export interface Exchange {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly answer: unknown
}

export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  if (typeof address !== 'object' || address === null) throw new Error('no port is free')
  return address.port
}

function ask(port: number, exchange: Exchange): Promise<{ status: number; body: string }> {
  const { method, path, headers, body } = exchange
  return new Promise((resolve, reject) => {
    const client = request({ host: '127.0.0.1', port, method, path, headers, agent: false }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        text += chunk
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: text }))
    })
    client.on('error', reject)
    client.end(body === '' ? undefined : body)
  })
}

/** Waits until a server answers, and refuses any answer but the right one: a fast error is no result. */
export async function firstAnswer(port: number, exchange: Exchange, name: string, everyMs: number): Promise<void> {
  const deadline = performance.now() + 15_000
  for (;;) {
    try {
      const { status, body } = await ask(port, exchange)
      const expected = JSON.stringify(exchange.answer)
      if (status === 200 && JSON.stringify(JSON.parse(body)) === expected) return
      throw new WrongAnswer(`${name} answered ${status} ${body.slice(0, 300)}, expected 200 ${expected}`)
    } catch (error) {
      if (error instanceof WrongAnswer || performance.now() > deadline) throw error
      await pause(everyMs)
    }
  }
}

class WrongAnswer extends Error {}
