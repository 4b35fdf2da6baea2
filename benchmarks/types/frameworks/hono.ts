import { answerOf, bodySent, missingOf, querySent, type RouteSpec, readOf } from '../application.ts'
import { type Client, type Framework, schemasOf } from '../framework.ts'
import { zodKind } from '../schemas.ts'

const access = { id: 'id', body: 'body', query: 'query' }

function route(spec: RouteSpec): string {
  const { index, method, name, missing, mistake } = spec
  const target = method === 'post' ? 'json' : 'query'
  const schema = method === 'post' ? `Body${index}` : `Query${index}`
  const misspelt = mistake === 'option' ? 'jsno' : target
  return `.${method}('/${name}/:id', zValidator('${misspelt}', ${schema}), (c) => {
  const ${method === 'post' ? 'body' : 'query'} = c.req.valid('${target}')
  const id = c.req.param('id')
${missing ? `  if (id === 'none') return c.json(${missingOf('id')}, 404)\n` : ''}\
${mistake === 'status' ? `  if (id === 'new') return c.json(${missingOf('id')}, 201)\n` : ''}\
  return c.json(${answerOf(spec, access)}, 200)
})`
}

const head = (routes: readonly RouteSpec[]) => `import { zValidator } from '@hono/zod-validator'
import { Hono } from 'hono'
${zodKind.header}

${routes.map((spec) => schemasOf(spec, zodKind)).join('\n')}
`
const imports = (names: readonly string[]) => `import { Hono } from 'hono'
${names.map((name) => `import { ${name} } from './${name}.ts'`).join('\n')}
`

const client: Client = {
  name: 'Hono, hc',
  write: (routes) => `import { hc } from 'hono/client'
import type { App } from './server.ts'

const client = hc<App>('http://localhost:3000')
${routes
  .map((spec) => {
    const { method, name, file, index } = spec
    const { member, type } = readOf(spec)
    const sent = method === 'post' ? `json: ${bodySent(spec)}` : `query: ${querySent(`'1'`)}`
    return `const response${index} = await client.${file}.${name}[':id'].$${method}({ param: { id: '1' }, ${sent} })
if (!response${index}.ok) throw new Error(\`answered with \${response${index}.status}\`)
const answer${index} = await response${index}.json()
export const read${index}: ${type} = answer${index}.${member}`
  })
  .join('\n')}
`,
}

const undeclared = ['answered value', 'returned value', 'status'] as const

export const hono: Framework[] = [
  {
    name: 'Hono, Zod',
    body: access.body,
    undeclared,
    routes: (name, routes) => `${head(routes)}
export const ${name} = new Hono()
${routes.map((spec) => `${name}${route(spec)}`).join('\n')}
`,
    server: (names) => ({
      'server.ts': `${imports(names)}
export const app = new Hono()
${names.map((name) => `app.route('/${name}', ${name})`).join('\n')}
`,
    }),
  },
  {
    name: 'Hono with RPC, Zod',
    body: access.body,
    undeclared,
    client,
    routes: (name, routes) => `${head(routes)}
export const ${name} = new Hono()
${routes.map(route).join('\n')}
`,
    server: (names) => ({
      'server.ts': `${imports(names)}
export const app = new Hono()
${names.map((name) => `.route('/${name}', ${name})`).join('\n')}
export type App = typeof app
`,
    }),
  },
]
