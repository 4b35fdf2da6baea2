import { appendValues, type MockOptions } from './options.ts'

/** A body as it is sent, with its content type. */
export interface Payload {
  readonly body: string | Uint8Array | AsyncIterable<Uint8Array>
  readonly type: string
}

/** The body of a request, from the one of the three options that is given. */
export async function payloadOf(options: MockOptions<unknown, object>): Promise<Payload | undefined> {
  const { body, formData, urlencoded } = options
  if ([body, formData, urlencoded].filter((one) => one !== undefined).length > 1) {
    throw new TypeError('Only one of body, formData, urlencoded can be provided')
  }
  if (formData !== undefined)
    return multipart(formData instanceof FormData ? formData : appendValues(new FormData(), formData))
  if (urlencoded !== undefined) return form(urlencoded)
  return body === undefined ? undefined : plain(body)
}

function plain(body: unknown): Payload {
  if (typeof body === 'string') return { body, type: 'application/json' }
  if (body instanceof ArrayBuffer) return { body: new Uint8Array(body), type: 'application/octet-stream' }
  if (body instanceof FormData) throw new TypeError('pass a FormData as formData, not as body')
  if (body instanceof URLSearchParams) throw new TypeError('pass URLSearchParams as urlencoded, not as body')
  if (body instanceof Uint8Array || isStream(body)) return { body, type: 'application/octet-stream' }
  const text = JSON.stringify(body)
  if (text === undefined) throw new TypeError(`a ${typeof body} cannot be sent as JSON`)
  return { body: text, type: 'application/json' }
}

function isStream(body: unknown): body is AsyncIterable<Uint8Array> {
  return typeof body === 'object' && body !== null && Symbol.asyncIterator in body
}

function form(fields: NonNullable<MockOptions['urlencoded']>): Payload {
  const type = 'application/x-www-form-urlencoded'
  const isWritten = typeof fields === 'string' || fields instanceof URLSearchParams
  return { body: String(isWritten ? fields : appendValues(new URLSearchParams(), fields)), type }
}

/** Lets the runtime itself write the parts, so that the bytes are those of a real client. */
async function multipart(data: FormData): Promise<Payload> {
  const written = new Response(data)
  // Read before the body: reading the body makes Bun forget the type, and with it the boundary.
  const type = written.headers.get('content-type') ?? ''
  return { body: new Uint8Array(await written.arrayBuffer()), type }
}
