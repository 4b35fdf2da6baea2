import { router, Server } from 'framework'
import { type UploadedFile, type UploadOptions, type UploadSink, upload } from 'framework/plugins/upload'
import type { Equal, Expect, NotAny } from './expect.ts'

new Server({ plugins: { upload: true } })
new Server({
  plugins: {
    upload: { maxFileSize: '5mb', maxTotalSize: 1e7, maxFiles: 3, maxFields: 0, storage: 'disk', folder: '/tmp' },
  },
})
new Server([upload({ storage: 'memory' }), upload])

router.post('/upload', { upload: { maxFileSize: '50mb', storage: 'disk' } }, async (req) => {
  type _files = Expect<Equal<typeof req.files, readonly UploadedFile[]>>
  const file = req.file('photo')
  type _file = Expect<Equal<typeof file, UploadedFile<unknown> | undefined>>
  type _notAny = Expect<NotAny<typeof file>>
  if (file === undefined) return 0
  type _bytes = Expect<Equal<ReturnType<typeof file.bytes>, Uint8Array>>
  type _path = Expect<Equal<typeof file.path, string | undefined>>
  type _result = Expect<Equal<typeof file.result, unknown>>
  await file.moveTo('/tmp/x')
  return file.size
})
router.post('/raw', { upload: false }, () => 'read it yourself')
router.put('/sink', (req) => {
  const file = req.file<{ key: string }>('a')
  type _key = Expect<Equal<NonNullable<typeof file>['result']['key'], string>>
  return file?.result.key
})

const sink: UploadSink<{ key: string }> = {
  async write(file) {
    type _names = Expect<Equal<typeof file.filename, string>>
    type _signal = Expect<Equal<typeof file.signal, AbortSignal>>
    for await (const _ of file.stream);
    return { key: file.field }
  },
  discard: ({ key }) => void key.length,
}
new Server({ plugins: { upload: { storage: sink } } })
const options: UploadOptions = { storage: { write: () => 1 } }
upload(options)

// @ts-expect-error there is no such storage
upload({ storage: 'cloud' })
// @ts-expect-error a count is a number
upload({ maxFiles: '3' })
// @ts-expect-error no such option
new Server({ plugins: { upload: { maxFilesize: '1mb' } } })
// @ts-expect-error true would say nothing: leave it out
router.post('/true', { upload: true }, () => 'x')
// @ts-expect-error no such option of a route
router.post('/typo', { upload: { limit: 1 } }, () => 'x')
// @ts-expect-error a sink writes
upload({ storage: { discard() {} } satisfies UploadSink })
