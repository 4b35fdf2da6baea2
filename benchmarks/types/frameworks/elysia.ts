import { answerBy, bodySent, missingOf, querySent, type RouteSpec, readOf } from '../application.ts'
import { answersOf, type Client, type Framework, schemasOf } from '../framework.ts'
import { type SchemaKind, typebox, zodKind } from '../schemas.ts'

const access = { id: 'params.id', body: 'body', query: 'query' }

/** Elysia's own TypeBox: 0.34 with a few more types; the schema coerces queries. */
const t: SchemaKind = {
  name: 'TypeBox 0.34',
  header: `import { t } from 'elysia'`,
  write: (shape) => typebox(shape, 't'),
  writeQuery: (shape) => typebox(shape, 't'),
}

function route(spec: RouteSpec): string {
  const { index, method, name, missing, mistake } = spec
  const input = method === 'post' ? `body: Body${index}` : `query: Query${index}`
  const misspelt = mistake === 'option' ? `, sumary: 'a misspelt option'` : ''
  return `  .${method}('/${name}/:id', ({ params, ${method === 'post' ? 'body' : 'query'}, status }) => {
${missing ? `    if (${access.id} === 'none') return status(404, ${missingOf(access.id)})\n` : ''}\
${mistake === 'status' ? `    if (${access.id} === 'new') return status(201, ${missingOf(access.id)})\n` : ''}\
    return ${answerBy((value) => `status(200, ${value})`, spec, access)}
  }, { ${input}, response: { ${answersOf(spec)} }${misspelt} })`
}

const client = (kind: SchemaKind): Client => ({
  name: `Elysia, Eden treaty, ${kind === t ? 't' : kind.name}`,
  write: (routes) => `import { treaty } from '@elysiajs/eden'
import type { App } from './server.ts'

const client = treaty<App>('localhost:3000')
${routes
  .map((spec) => {
    const { method, name, file, index } = spec
    const { member, type } = readOf(spec)
    const sent = method === 'post' ? bodySent(spec) : `{ query: ${querySent()} }`
    return `const answer${index} = await client.${file}.${name}({ id: '1' }).${method}(${sent})
if (answer${index}.error) throw answer${index}.error
export const read${index}: ${type} = answer${index}.data.${member}`
  })
  .join('\n')}
`,
})

const withSchemas = (kind: SchemaKind): Framework => ({
  name: `Elysia, ${kind === t ? 't' : kind.name}`,
  body: access.body,
  client: client(kind),
  routes: (name, routes) => `import { Elysia } from 'elysia'
${kind.header}

${routes.map((spec) => schemasOf(spec, kind)).join('\n')}

export const ${name} = new Elysia({ prefix: '/${name}' })
${routes.map(route).join('\n')}
`,
  server: (names) => ({
    'server.ts': `import { Elysia } from 'elysia'
${names.map((name) => `import { ${name} } from './${name}.ts'`).join('\n')}

export const app = new Elysia()
${names.map((name) => `  .use(${name})`).join('\n')}
export type App = typeof app
`,
  }),
})

export const elysia = [t, zodKind].map(withSchemas)
