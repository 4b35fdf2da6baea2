import { type Request, router } from 'framework'
import { refuse } from '../library/refusal.ts'
import { keyOfCover } from '../plugins/library.ts'
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

const coversOf = (req: Request) => req.server.services.get('storage')

router.group('/books/:id/cover', (cover) => {
  cover.put('/', { policy: add, upload, rateLimit: { limit: 20 }, apidoc }, async (req, res) => {
    const file = req.file('cover')
    // The type that a client claims is checked no further than this: the bytes are only ever sent as one of these types.
    if (file === undefined || !['image/png', 'image/jpeg'].includes(file.mimeType)) {
      return res.unsupportedMediaType({
        code: 'UnsupportedMediaTypeError',
        message: 'send a PNG or JPEG as the file "cover"',
      })
    }
    const { id } = await req.library.book(req.params.id)
    await coversOf(req).putObject(keyOfCover(id), file.bytes(), file.mimeType)
    await req.library.covered(id)
    return res.noContent()
  })

  cover.get('/', { cache: { tags: ['book::id'] } }, async (req, res) => {
    const { id } = await req.library.book(req.params.id)
    const covers = coversOf(req)
    const key = keyOfCover(id)
    if (!(await covers.exists(key))) refuse('CoverNotFoundError', `the book ${id} has no cover`)
    const { contentType } = await covers.metadata(key)
    return res.type(contentType).bytes(await covers.getObject(key))
  })
})
