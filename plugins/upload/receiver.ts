import { tmpdir } from 'node:os'
import {
  BadRequestError,
  type Middleware,
  type RawRequest,
  type Request,
  Trace,
  type TraceOutcome,
  UnsupportedMediaTypeError,
} from '../../kernel/index.ts'
import { formTypeOf } from './content-type.ts'
import { DiskStore } from './disk-store.ts'
import type { StoredFile } from './file.ts'
import { limitsOf, type UploadSettings } from './options.ts'
import { FileTooLargeError, FormReceiver, type ReceivedForm } from './receive.ts'
import { sinkStore } from './sink-store.ts'
import { memoryStore, type Store } from './store.ts'

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
  return storage === 'disk' ? new DiskStore(folder ?? tmpdir()) : sinkStore(storage, warn)
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
    const type = formTypeOf(raw.header('content-type'))
    if (type.kind === 'none') return next()
    if (type.kind === 'malformed') throw BadRequestError('the content type of the form has no valid boundary')
    refuseEncoding(raw)
    if (Number(raw.header('content-length')) > limits.totalSize) return refuseUnread(raw, limits.totalSize)
    const form = new FormReceiver(type.boundary, limits, store)
    return followed(form, req).then((received) => {
      if (received.files.length > 0) keep(req, received.files)
      req.body = received.fields
      return next()
    })
  }
}

function refuseEncoding(raw: RawRequest): void {
  const encoding = raw.header('content-encoding')
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw UnsupportedMediaTypeError('a body with a content-encoding is not supported')
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
