import {
  type ApiDoc,
  definePlugin,
  type OpenApiDocument,
  type OpenApiOptions,
  type OpenApiRoute,
  router,
  Server,
} from 'framework'
import { openapi } from 'framework/plugins'
import { describeServer } from 'framework/plugins/openapi'
import type { Equal, Expect } from './expect.ts'

const server = new Server({
  plugins: {
    openapi: {
      path: '/api',
      info: { title: 'Library' },
      servers: [{ url: 'https://a.test' }],
      security: [{ token: [] }],
      tags: [{ name: 'books', description: 'All of them' }],
      ui: false,
      include: (route) => {
        type _route = Expect<Equal<typeof route, OpenApiRoute>>
        return route.plugin === 'application'
      },
    },
  },
})
new Server({ plugins: { openapi: true } })
new Server([openapi()])
const options: OpenApiOptions = { components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } } }
openapi(options)

const document = describeServer(server, { info: { version: '2.0.0' } })
type _document = Expect<Equal<typeof document, OpenApiDocument>>
const id: string | undefined = document.paths['/books']?.get?.operationId
const again: OpenApiDocument = server.services.get('openapi').document()

const apidoc: ApiDoc = {
  summary: 's',
  description: 'd',
  tags: ['a'],
  operationId: 'x',
  deprecated: true,
  parameters: [{ name: 'a', in: 'query', description: 'd', schema: { type: 'string' } }],
  requestBody: { content: {} },
  responses: { 200: { description: 'OK' }, '4xx': {}, default: {} },
  security: [],
  'x-internal': true,
}
router.get('/a', { apidoc }, () => {})
router.get('/b', { apidoc: false }, () => {})
router.get('/c', [], () => {}, apidoc)
// @ts-expect-error it is left out by false
router.get('/d', { apidoc: true }, () => {})
// @ts-expect-error no such place
router.get('/e', { apidoc: { parameters: [{ name: 'a', in: 'body' }] } }, () => {})
// @ts-expect-error a misspelt member
const misspelt: ApiDoc = { sumary: 's' }
// @ts-expect-error no such option
new Server({ plugins: { openapi: { titel: 'x' } } })
// @ts-expect-error a tag has a name
openapi({ tags: [{ description: 'x' }] })

definePlugin({
  name: 'mine',
  openapi: { describe: (given) => [{ apidoc: given.apidoc, responses: { 402: { type: 'object' } } }] },
})
// @ts-expect-error it answers with a list of options
definePlugin({ name: 'mine', openapi: { describe: () => 'x' } })

export type Used = [typeof id, typeof again, typeof misspelt]
