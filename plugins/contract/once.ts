// How typed clients send calls that the server carries out once. As with calls.ts, generated clients contain its text.

import { type ClientOptions as AnyClientOptions, type CallOptions, type Input, send, signalOf, write } from './calls.ts'

/** Options of a client that sends calls again. */
export interface ClientOptions extends AnyClientOptions {
  /** How often a call with an `Idempotency-Key` is sent again. Default 3; with 0, it is sent once, and without a key unless the call has one. */
  readonly retries?: number | undefined
}

/** Options of a call that the server carries out once, however often it is sent. */
export interface OnceOptions extends CallOptions {
  /** How often it is sent again. Default: the option of the client. */
  readonly retries?: number | undefined
}

interface OnceInput extends Input, OnceOptions {}

/**
 * Sends a call with an Idempotency-Key, and again with the same key while no response comes, or one that names the time of the next attempt.
 * The timeout is that of all attempts together.
 */
export async function once(client: ClientOptions, method: string, path: string, input: OnceInput = {}, type?: string) {
  const retries = input.retries ?? client.retries ?? 3
  if (!(retries >= 0)) throw new TypeError(`retries is ${retries}; it takes a number from 0`)
  if (retries === 0) return send(client, method, path, input, type)
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  const key = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
  const signal = signalOf(client, input)
  let { body } = input
  if (body !== undefined && !(body instanceof Blob)) {
    // To the server, another body is another call: the caller may change an object, and a form gets another boundary whenever it is written. A stream can be read once.
    const headers = new Headers()
    const written = new Response(write(body, type, headers), { headers })
    type = written.headers.get('content-type') ?? type
    body = await written.arrayBuffer()
  }
  const call = { ...input, body, signal: undefined, timeout: undefined }
  const plain = { ...client, signal, timeout: undefined }
  let isLost = false
  let isOwn = true
  const repeated: ClientOptions = {
    ...plain,
    headers: async () => {
      const common = typeof client.headers === 'function' ? await client.headers() : client.headers
      return { ...common, 'Idempotency-Key': key }
    },
    fetch: async (request) => {
      isLost = true
      isOwn = request.headers.get('idempotency-key') === key
      const response = await (client.fetch ?? fetch)(request)
      // The connection may be lost within the body as well. A stream of events has no end.
      if (!/^text\/event-stream/i.test(response.headers.get('content-type') ?? '')) await response.clone().arrayBuffer()
      isLost = false
      return response
    },
  }
  for (let attempt = 0; ; attempt++, isLost = false) {
    let wait = 500 * 2 ** attempt * (0.5 + Math.random() / 2)
    try {
      const response = await send(repeated, method, path, call, type)
      // Nothing was done, because a caller who is not known owns no key; an earlier attempt may have been that of a known one.
      const isRefused = attempt === 0 && isOwn && response.status === 400
      if (isRefused && /"code": ?"IdempotencyScopeError"/.test(await response.clone().text()))
        return send(plain, method, path, call, type)
      const asked = nextAttempt(response)
      if (asked === undefined || attempt >= retries) return response
      await response.body?.cancel()
      wait = Math.max(wait, asked)
    } catch (error) {
      // What failed before anything was sent would fail again.
      if (!isLost || attempt >= retries || signal.aborted) throw error
    }
    signal.throwIfAborted()
    let end = () => {}
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, wait)
      end = () => resolve(clearTimeout(timer))
      signal.addEventListener('abort', end)
    })
    // While it is heard, a signal is kept for as long as those that it follows.
    signal.removeEventListener('abort', end)
    signal.throwIfAborted()
  }
}

/** Milliseconds after which the server asks for another attempt (RFC 9110, section 10.2.3); undefined if it does not, or not within half a minute. */
function nextAttempt({ status, headers }: Response): number | undefined {
  const after = headers.get('retry-after')
  if (after === null || ![409, 429, 503].includes(status)) return undefined
  // V8 reads "-5" as a day of 2001; all three forms of a date in HTTP begin with a weekday and have a time.
  const date = /^[A-Z][a-z]{2}.* \d\d:\d\d:\d\d/.test(after) ? Date.parse(after) : Number.NaN
  const wait = /^\d+$/.test(after) ? Number(after) * 1000 : date - Date.now()
  return wait <= 30_000 ? wait : undefined
}
