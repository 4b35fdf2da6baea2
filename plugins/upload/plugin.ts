import {
  BadRequestError,
  definePlugin,
  type Kernel,
  type Middleware,
  type Next,
  type RawRequest,
  type Request,
  type Response,
  type Route,
  UnsupportedMediaTypeError,
} from '../../kernel/index.ts'
import { formTypeOf } from './content-type.ts'
import { DiskStore } from './disk-store.ts'
import type { StoredFile, UploadedFile } from './file.ts'
import { routeSettingsOf, settingsOf, type UploadOptions, type UploadSettings } from './options.ts'
import { FileTooLargeError, FormReceiver, type ReceivedForm } from './receive.ts'
import { sinkStore } from './sink-store.ts'
import { memoryStore, type Store } from './store.ts'

const none: readonly StoredFile[] = []
const filesOf = new WeakMap<Request, readonly StoredFile[]>()
/** Members are added once to a server, however many of its scopes have uploads of their own. */
const decorated = new WeakSet<Kernel>()

/**
 * Takes multipart forms apart while they arrive: files at `req.files` and `req.file(field)`, the rest in `req.body`.
 *
 * Runs behind the policies of a route and in front of its own middlewares and its validation: who may not enter uploads
 * nothing. Files are removed when the answer has been sent, unless the handler has moved them. Answers 400
 * `BadRequestError`, 413 `FileTooLargeError` and `PayloadTooLargeError`, 415 `UnsupportedMediaTypeError`.
 *
 * @example
 * new Server({ plugins: { upload: { maxFileSize: '5mb', storage: 'disk' } } })
 */
export const upload = definePlugin({
  name: 'upload',
  setup(ctx, options: UploadOptions = {}) {
    const stores: Store[] = []
    const middlewareFor = (settings: UploadSettings) => {
      const store = storeOf(settings, (error) => ctx.log.warn({ err: error }, 'an upload could not be discarded'))
      stores.push(store)
      return receiver(settings, store)
    }
    const ordinary = middlewareFor(settingsOf(options))

    if (!decorated.has(ctx.server)) {
      decorated.add(ctx.server)
      ctx.decorate('request', {
        files: {
          get() {
            return filesOf.get(this) ?? none
          },
        },
        file: {
          value(this: Request, field: string): UploadedFile | undefined {
            return this.files.find((file) => file.field === field)
          },
        },
      })
    }
    ctx.onRoute(function upload(route: Route) {
      const own = route.options.upload
      if (own === false || route.method === 'GET' || route.method === 'HEAD') return
      route.add('guard', own === undefined ? ordinary : middlewareFor(routeSettingsOf(options, own)))
    })
    ctx.onClose(async () => {
      for (const store of stores) await store.close()
    })
  },
})

function storeOf({ storage, folder }: UploadSettings, warn: (error: unknown) => void): Store {
  if (storage === 'memory') return memoryStore
  return storage === 'disk' ? new DiskStore(folder) : sinkStore(storage, warn)
}

function receiver(settings: UploadSettings, store: Store): Middleware {
  const { limits } = settings
  return function upload(req, res, next) {
    const { raw } = req
    if (!raw.hasBody) return next()
    const type = formTypeOf(raw.header('content-type'))
    if (type.kind === 'none') return next()
    if (type.kind === 'malformed')
      throw BadRequestError('the content type of the form has no boundary that can be used')
    refuseEncoding(raw)
    if (Number(raw.header('content-length')) > limits.totalSize) return refuseUnread(raw, limits.totalSize)
    const form = new FormReceiver(type.boundary, limits, store)
    return receive(form, req).then((received) => pass(received, req, res, next))
  }
}

function refuseEncoding(raw: RawRequest): void {
  const encoding = raw.header('content-encoding')
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw UnsupportedMediaTypeError('a body with a content-encoding is not read')
  }
}

/** `bytes` refuses a length above its limit without reading, and gives up the rest of the body. */
async function refuseUnread(raw: RawRequest, limit: number): Promise<void> {
  await raw.bytes(limit).catch(() => {})
  throw FileTooLargeError('the form', limit)
}

async function receive(form: FormReceiver, { raw, signal }: Request): Promise<ReceivedForm> {
  const onAbort = () => {
    const reason: unknown = signal.reason
    const left = reason instanceof DOMException && reason.name === 'AbortError'
    form.fail(left ? BadRequestError('the client left before the form was complete') : reason)
  }
  if (signal.aborted) onAbort()
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await form.receive(raw.stream())
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

async function pass({ fields, files }: ReceivedForm, req: Request, res: Response, next: Next): Promise<void> {
  req.body = fields
  if (files.length === 0) return next()
  filesOf.set(req, files)
  try {
    await next()
  } finally {
    // Not before all of the answer is sent: it may be one of the files.
    req.raw.onSettled(() => {
      for (const file of files) void file.release(res.statusCode >= 400)
    })
  }
}
