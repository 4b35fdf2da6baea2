import { answerBy, bodySent, missingOf, querySent, type RouteSpec, readOf } from '../application.ts'
import { answersOf, type Client, type Framework, schemasOf } from '../framework.ts'
import { type SchemaKind, schemaKinds } from '../schemas.ts'

const access = { id: 'req.params.id', body: 'req.body', query: 'req.query' }

function route(spec: RouteSpec, kind: SchemaKind): string {
  const { index, method, name, file, missing, mistake } = spec
  const input = method === 'post' ? `body: Body${index}` : `query: Query${index}`
  const misspelt = mistake === 'option' ? `, sumary: 'a misspelt option'` : ''
  return `${schemasOf(spec, kind)}
router.${method}('/${file}/${name}/:id', { ${input}, responses: { ${answersOf(spec)} }${misspelt} }, (req, res) => {
${missing ? `  if (${access.id} === 'none') return res.notFound(${missingOf(access.id)})\n` : ''}\
${mistake === 'status' ? `  if (${access.id} === 'new') return res.created(${missingOf(access.id)})\n` : ''}\
  return ${answerBy((value) => `res.ok(${value})`, spec, access)}
})
`
}

const client: Client = {
  name: 'framework, generated client',
  generated: true,
  write: (routes) => `import { createClient } from './sdk.ts'

const client = createClient({ baseUrl: 'http://localhost:3000' })
${routes
  .map((spec) => {
    const { method, name, file, index } = spec
    const { member, type } = readOf(spec)
    const sent = method === 'post' ? `body: ${bodySent(spec)}` : `query: ${querySent()}`
    return `const answer${index} = await client.${file}.${name}.byId('1').${method}({ ${sent} }).data()
export const read${index}: ${type} = answer${index}.${member}`
  })
  .join('\n')}
`,
}

const withSchemas = (kind: SchemaKind): Framework => ({
  name: `framework, ${kind.name}`,
  body: access.body,
  routes: (_name, routes) =>
    `import { router } from 'framework'\n${kind.header}\n\n${routes.map((spec) => route(spec, kind)).join('\n')}`,
  server: (names) => ({
    'server.ts': `import { Server } from 'framework'
${names.map((name) => `import './${name}.ts'`).join('\n')}

export const server = new Server()
`,
  }),
  ...(kind.name === 'Zod' ? { client } : {}),
})

export const ours = schemaKinds.map(withSchemas)
