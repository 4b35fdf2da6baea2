import { request } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'

/** A path, and the response that every server must give there. */
export interface Target {
  readonly path: string
  readonly answer: unknown
}

/** The requests of a suite: one, or several in turn. */
export interface Exchange {
  readonly method: string
  readonly targets: readonly [Target, ...Target[]]
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly connections: number
  /** How many requests a connection sends without waiting for a response. */
  readonly pipelining: number
  /** Headers that a correct answer must have. */
  readonly answerHeaders: readonly string[]
  /** The contents of the one line that each request leaves in the log; empty without a log. */
  readonly logged: readonly string[]
}

interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: string
}

function ask(port: number, path: string, { method, headers, body }: Exchange): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const client = request({ host: '127.0.0.1', port, method, path, headers, agent: false }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        text += chunk
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }))
      response.on('error', reject)
    })
    client.on('error', reject)
    client.end(body === '' ? undefined : body)
  })
}

async function firstOf(port: number, exchange: Exchange, everyMs: number): Promise<Answer> {
  const deadline = performance.now() + 15_000
  for (;;) {
    try {
      return await ask(port, exchange.targets[0].path, exchange)
    } catch (error) {
      if (performance.now() > deadline) throw error
      await pause(everyMs)
    }
  }
}

function judge(name: string, { answerHeaders }: Exchange, target: Target, { status, headers, body }: Answer): void {
  const expected = JSON.stringify(target.answer)
  const absent = answerHeaders.filter((header) => headers[header] === undefined)
  if (status === 200 && normal(body) === expected && absent.length === 0) return
  throw new Error(
    absent.length > 0
      ? `${name} answered without ${absent.join(', ')}`
      : `${name} answered ${status} ${body.slice(0, 300)} to ${target.path}, expected 200 ${expected.slice(0, 300)}`,
  )
}

/** Returns the text of a response without white space, or unchanged if it is not JSON. */
function normal(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body))
  } catch {
    return body
  }
}

/**
 * Waits until a server answers, and rejects any response but the correct one: a fast error is not a result.
 *
 * @returns how many headers the response has
 */
export async function firstAnswer(port: number, exchange: Exchange, name: string, everyMs: number): Promise<number> {
  const first = await firstOf(port, exchange, everyMs)
  judge(name, exchange, exchange.targets[0], first)
  for (const target of exchange.targets.slice(1)) {
    judge(name, exchange, target, await ask(port, target.path, exchange))
  }
  return Object.keys(first.headers).length
}
