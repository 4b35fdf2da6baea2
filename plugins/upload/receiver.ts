import { tmpdir } from 'node:os'
import {
  BadRequestError,
  type Middleware,
  type RawRequest,
  type Request,
  Trace,
  type TraceOutcome,
} from '../../kernel/index.ts'
import { refuseEncoded } from '../shared/http/body-parser.ts'
import { diskStore } from './disk-store.ts'
import type { StoredFile } from './file.ts'
import { limitsOf, type UploadSettings } from './options.ts'
import { FileTooLargeError, FormReceiver, type ReceivedForm } from './receive.ts'
import { memoryStore, type Store, sinkStore } from './store.ts'

/** The reading of a form with files. */
export interface UploadTrace extends TraceOutcome {
  /** The request whose body is the form. */
  readonly request: Request
  /** How many files it has; 0 until it has been read. */
  files: number
  /** The total size of its files in bytes; 0 until it has been read. */
  bytes: number
}

const uploadTrace = new Trace<UploadTrace>('upload')

/** The store for these settings. */
export function storeOf({ storage, folder }: UploadSettings, warn: (error: unknown) => void): Store {
  if (storage === 'memory') return memoryStore
  return storage === 'disk' ? diskStore(folder ?? tmpdir()) : sinkStore(storage, warn)
}

/**
 * The middleware that parses forms; `keep` receives the files of a request before any other code can read them.
 */
export function receiver(
  settings: UploadSettings,
  store: Store,
  keep: (req: Request, files: readonly StoredFile[]) => void,
): Middleware {
  const limits = limitsOf(settings)
  return function upload(req, _res, next) {
    const { raw } = req
    if (!raw.hasBody) return next()
    const boundary = boundaryOf(raw.header('content-type'))
    if (boundary === undefined) return next()
    refuseEncoded(raw)
    if (Number(raw.header('content-length')) > limits.totalSize) return refuseUnread(raw, limits.totalSize)
    const form = new FormReceiver(boundary, limits, store)
    return followed(form, req).then((received) => {
      if (received.files.length > 0) keep(req, received.files)
      req.body = received.fields
      return next()
    })
  }
}

/** Refuses an oversized form unread: `bytes` refuses a length above its limit without reading, and abandons the rest of the body. */
async function refuseUnread(raw: RawRequest, limit: number): Promise<void> {
  await raw.bytes(limit).catch(() => {})
  throw FileTooLargeError('the form', limit)
}

function followed(form: FormReceiver, request: Request): Promise<ReceivedForm> {
  if (!uploadTrace.isOn) return receive(form, request)
  const event: UploadTrace = { request, files: 0, bytes: 0 }
  return uploadTrace.run(
    () => event,
    async () => {
      const received = await receive(form, request)
      event.files = received.files.length
      event.bytes = received.files.reduce((sum, { size }) => sum + size, 0)
      return received
    },
  )
}

async function receive(form: FormReceiver, { raw, signal }: Request): Promise<ReceivedForm> {
  const onAbort = () => {
    const reason: unknown = signal.reason
    const left = reason instanceof DOMException && reason.name === 'AbortError'
    form.fail(left ? BadRequestError('the client disconnected before the form was complete') : reason)
  }
  if (signal.aborted) onAbort()
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await form.receive(raw.stream())
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

const multipart = /^[\t ]*multipart\/form-data[\t ]*(?:;|$)/i
const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
// RFC 2046 section 5.1.1: 1 to 70 of these characters, with no space at the end. Unquoted, clients use more of them than a token
// allows, but no semicolon, comma or space.
const quotedBoundary = '"([0-9A-Za-z\'()+_,./:=? -]{0,69}[0-9A-Za-z\'()+_,./:=?-])"'
const bareBoundary = "([0-9A-Za-z'()+_./:=?-]{1,70})"
const parameter = new RegExp(
  `[\\t ]*;[\\t ]*(?:boundary=(?:${quotedBoundary}|${bareBoundary})|${token}=(?:${token}|"[^"\\\\\\x00-\\x1f]*"))(?=[\\t ]*(?:;|$))`,
  'iy',
)

const malformed = () => BadRequestError('the content type of the form has no valid boundary')

/**
 * The boundary of a multipart form; `undefined` for any other body. Parses strictly (RFC 9110 section 8.3.1): a content type that begins as
 * a multipart form must have exactly one.
 */
function boundaryOf(header: string | undefined): string | undefined {
  if (header === undefined || !multipart.test(header)) return undefined
  let at = header.indexOf(';')
  if (at === -1) throw malformed()
  let boundary: string | undefined
  while (at < header.length) {
    parameter.lastIndex = at
    const found = parameter.exec(header)
    if (found === null && /^[\t ;]*$/.test(header.slice(at))) break
    if (found === null) throw malformed()
    const [whole, quoted, bare] = found
    const value = quoted ?? bare
    // With two boundaries, this parser and another reader could each use a different one. A parameter named `boundary` that did not
    // match as a boundary has an invalid value.
    if (value !== undefined && boundary !== undefined) throw malformed()
    if (value === undefined && /^[\t ;]*boundary=/i.test(whole)) throw malformed()
    boundary = value ?? boundary
    at += whole.length
  }
  if (boundary === undefined) throw malformed()
  return boundary
}
