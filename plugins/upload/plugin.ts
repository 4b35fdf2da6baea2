import { definePlugin, type Request, type Response } from '../../kernel/index.ts'
import { bodyFailures } from '../shared/http/body-parser.ts'
import { type WorkKind, workKind } from '../shared/work/kind.ts'
import type { StoredFile, UploadedFile } from './file.ts'
import { type UploadSettings, uploadOfRoute, uploadOptions } from './options.ts'
import type { UploadTrace } from './receiver.ts'
import type { Store } from './store.ts'

const none: readonly StoredFile[] = []
const filesOf = new WeakMap<Request, readonly StoredFile[]>()

const work: readonly WorkKind[] = [
  workKind<UploadTrace>({
    channel: 'upload',
    list: { id: 'upload', title: 'Uploads' },
    help: 'Forms with files that were read',
    span: () => 'upload',
    title: ({ request }) => request.route ?? request.path,
    ended: ({ files, bytes }) => ({ 'framework.upload.files': files, 'framework.upload.size': bytes }),
    measures: [
      { name: 'upload_files', type: 'counter', help: 'Files that were uploaded', of: ({ files }) => files },
      {
        name: 'upload_bytes',
        type: 'counter',
        help: 'Bytes of the files that were uploaded',
        unit: 'bytes',
        of: ({ bytes }) => bytes,
      },
    ],
  }),
]

/**
 * Parses multipart forms as they arrive: files at `req.files` and `req.file(field)`, the rest in `req.body`.
 *
 * Runs after the policies of a route and before its own middlewares and its validation: a client that is refused
 * uploads nothing. Files are removed once the response has been sent, unless the handler has moved them. Responds with 400
 * `BadRequestError`, 413 `FileTooLargeError` and `PayloadTooLargeError`, 415 `UnsupportedMediaTypeError`.
 *
 * @example
 * new Server({ plugins: { upload: { maxFileSize: '5mb', storage: 'disk' } } })
 */
export const upload = definePlugin({
  name: 'upload',
  access: false,
  options: uploadOptions,
  routeOptions: { upload: uploadOfRoute },
  work,
  openapi: { failures: (route) => (route.options.upload === false ? {} : bodyFailures(route)) },
  async setup(ctx, ofServer) {
    // Loads the modules for uploads only if they are used.
    const { receiver, storeOf } = await import('./receiver.ts')
    const stores: Store[] = []
    const release = (req: Request, res: Response) =>
      // Not before the whole response is sent: it may be one of the files.
      req.raw.onSettled(() => {
        for (const file of filesOf.get(req) ?? none) void file.release(res.statusCode >= 400)
      })
    const middlewareFor = (settings: UploadSettings) => {
      const store = storeOf(settings, (error) => ctx.log.warn({ err: error }, 'an upload could not be discarded'))
      stores.push(store)
      return receiver(settings, store, (req, res, files) => {
        filesOf.set(req, files)
        // A middleware has given up waiting, and the hook below may have run without these files.
        if (res.answered) release(req, res)
      })
    }
    const ordinary = middlewareFor(ofServer)

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
    ctx.onRoute(function upload(route) {
      const own = route.settings.upload
      if (own === false || route.method === 'GET' || route.method === 'HEAD') return
      route.add('guard', own === undefined ? ordinary : middlewareFor(own))
    })
    // Not when the handler ends: one that never ends after a response would keep the files for as long as the server runs.
    ctx.onResponse(function upload(req, res) {
      if (filesOf.has(req)) release(req, res)
    })
    ctx.onClose(async () => {
      for (const store of stores) await store.close?.()
    })
  },
})
