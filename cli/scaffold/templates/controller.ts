import { packageName } from '../../package.ts'
import type { Names } from '../names.ts'
import { decoratorNotes, globOf, importPath, inFolder, type Place } from '../place.ts'
import type { Scaffold } from '../scaffold.ts'
import { imports } from '../source.ts'

/** Routes of one resource; with `decorators` as the methods of a class, which is the deprecated form. */
export function controller(place: Place, { kebab, pascal }: Names, decorators: boolean): Scaffold {
  const file = inFolder(place, `${kebab}.ts`)
  const path = `/${kebab}`
  return {
    files: [
      { path: file, text: decorators ? classForm(path, `${pascal}Controller`) : functionalForm(path) },
      { path: inFolder(place, `${kebab}.test.ts`), text: test(place.testModule, kebab) },
    ],
    next: [
      `In ${place.server}, which has the routes of every file that is imported:`,
      `  import '${importPath(place, file)}'`,
      `or, for all files of the folder: new Server({ controllerPatterns: ['${globOf(place)}'] })`,
      ...(decorators ? decoratorNotes(place) : []),
    ],
  }
}

const schemas = `const Item = {
  type: 'object',
  properties: { id: { type: 'string' }, name: { type: 'string' } },
  required: ['id', 'name'],
} as const

const NewItem = {
  type: 'object',
  properties: { name: { type: 'string', minLength: 1, maxLength: 200 } },
  required: ['name'],
} as const

/** Replace this with a database. */
const items = new Map<string, OutputOf<typeof Item>>()

/** When this is thrown, the response has the same format as every failure of the server. */
const noItem = (id: string) => new HttpError(404, { code: 'ITEM_NOT_FOUND', message: \`There is no item \${id}\` })
`

const functionalForm = (path: string) => `import { randomUUID } from 'node:crypto'
import { HttpError, type OutputOf, router } from '${packageName}'

${schemas}
router.group('${path}', (routes) => {
  routes.get('/', { responses: { 200: { type: 'array', items: Item } } }, (_req, res) => {
    res.ok([...items.values()])
  })

  routes.get('/:id', { responses: { 200: Item, 404: HttpError } }, (req, res) => {
    const item = items.get(req.params.id)
    if (item === undefined) throw noItem(req.params.id)
    res.ok(item)
  })

  routes.post('/', { body: NewItem, responses: { 201: Item } }, (req, res) => {
    const item = { id: randomUUID(), name: req.body.name }
    items.set(item.id, item)
    res.header('location', \`${path}/\${item.id}\`).created(item)
  })

  routes.delete('/:id', { responses: { 404: HttpError } }, (req, res) => {
    if (!items.delete(req.params.id)) throw noItem(req.params.id)
    res.noContent()
  })
})
`

const classForm = (path: string, name: string) => `import { randomUUID } from 'node:crypto'
import { controller, del, get, HttpError, type OutputOf, post, type Response, type RouteRequest } from '${packageName}'

${schemas}
@controller('${path}')
export class ${name} {
  @get('/', { responses: { 200: { type: 'array', items: Item } } })
  list() {
    return [...items.values()]
  }

  @get('/:id', { responses: { 200: Item, 404: HttpError } })
  read(req: RouteRequest<'/:id'>) {
    const item = items.get(req.params.id)
    if (item === undefined) throw noItem(req.params.id)
    return item
  }

  @post('/', { body: NewItem, responses: { 201: Item } })
  add(req: RouteRequest<'/', {}, { body: typeof NewItem }>, res: Response) {
    const item = { id: randomUUID(), name: req.body.name }
    items.set(item.id, item)
    res.header('location', \`${path}/\${item.id}\`).created(item)
  }

  @del('/:id', { responses: { 404: HttpError } })
  remove(req: RouteRequest<'/:id'>, res: Response) {
    if (!items.delete(req.params.id)) throw noItem(req.params.id)
    res.noContent()
  }
}
`

const test = (module: string, kebab: string) => `${imports(
  ['node:assert/strict', 'assert'],
  [module, '{ test }'],
  [packageName, '{ Server }'],
  [`./${kebab}.ts`],
)}

test('/${kebab}: what is added can be read until it is removed', async () => {
  const server = new Server()

  const added = await server.inject.post('/${kebab}', { body: { name: 'first' } })
  added.assertStatus(201).assertBodySubset({ name: 'first' })
  const location = String(added.headers().location)
  const read = await server.inject.get(location)
  read.assertStatus(200).assertBodyDeepEqual(added.body())
  const list = await server.inject.get('/${kebab}')
  assert.deepEqual(list.body(), [added.body()])

  const removed = await server.inject.delete(location)
  removed.assertStatus(204)
  const gone = await server.inject.get(location)
  gone.assertStatus(404).assertBodySubset({ code: 'ITEM_NOT_FOUND' })
  const again = await server.inject.delete(location)
  again.assertStatus(404)
  await server.close()
})

test('/${kebab}: what does not match the schema is not added', async () => {
  const server = new Server()
  for (const body of [{}, { name: '' }, { name: 5 }]) {
    const refused = await server.inject.post('/${kebab}', { body })
    refused.assertStatus(422)
  }
  await server.close()
})
`
