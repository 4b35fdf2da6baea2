import { router } from 'framework'
import { policies } from '../policies.ts'

const add = { handler: 'add', manager: policies, scope: 'books' } as const
const form = {
  type: 'object',
  properties: { cover: { type: 'string', format: 'binary' } },
  required: ['cover'],
} as const
const apidoc = {
  summary: 'Replaces the cover of a book',
  requestBody: { content: { 'multipart/form-data': { schema: form } } },
  responses: { 204: { description: 'Replaced' }, 415: { description: 'Neither PNG nor JPEG' } },
}
const upload = { maxFileSize: '200kb', maxFiles: 1, maxFields: 0 } as const

router.group('/books/:id/cover', (cover) => {
  cover.put('/', { policy: add, upload, rateLimit: { limit: 20 }, apidoc }, (req, res) => {
    const file = req.file('cover')
    // What a client claims is looked at no further than this: the bytes are only ever sent as what they are allowed to be.
    if (file === undefined || !['image/png', 'image/jpeg'].includes(file.mimeType)) {
      return res.unsupportedMediaType({ code: 'no-cover', message: 'send a PNG or JPEG as the file "cover"' })
    }
    req.library.putCover(req.params.id, { type: file.mimeType, bytes: file.bytes() })
    return res.noContent()
  })

  cover.get('/', { cache: { tags: ['book::id'] } }, (req, res) => {
    const { type, bytes } = req.library.cover(req.params.id)
    return res.type(type).bytes(bytes)
  })
})
