import { answerOf, bodySent, missingOf, querySent, type RouteSpec, readOf } from '../application.ts'
import { type Client, type Framework, schemasOf } from '../framework.ts'
import { zodKind } from '../schemas.ts'

// Both take one input per call; what would be in the path is a member of it.
const access = { id: 'input.id', body: 'input.body', query: 'input.query' }

const inputOf = ({ index, method }: RouteSpec) =>
  `z.object({ id: z.string(), ${method === 'post' ? `body: Body${index}` : `query: Query${index}`} })`
const inputSent = (spec: RouteSpec) =>
  `{ id: '1', ${spec.method === 'post' ? `body: ${bodySent(spec)}` : `query: ${querySent(`'1'`)}`} }`

function calls(routes: readonly RouteSpec[], call: (spec: RouteSpec) => string): string {
  return routes
    .map((spec) => {
      const { member, type } = readOf(spec)
      return `const answer${spec.index} = await client.${spec.file}.${call(spec)}
export const read${spec.index}: ${type} = answer${spec.index}.${member}`
    })
    .join('\n')
}

const imports = (names: readonly string[]) => names.map((name) => `import { ${name} } from './${name}.ts'`).join('\n')

const trpcClient: Client = {
  name: 'tRPC client',
  write: (routes) => `import { createTRPCClient, httpBatchLink } from '@trpc/client'
import type { AppRouter } from './server.ts'

const client = createTRPCClient<AppRouter>({ links: [httpBatchLink({ url: 'http://localhost:3000' })] })
${calls(routes, (spec) => `${spec.name}.${spec.method === 'post' ? 'mutate' : 'query'}(${inputSent(spec)})`)}
`,
}

function trpcRoute(spec: RouteSpec): string {
  const { index, method, name, missing, mistake } = spec
  const input = mistake === 'option' ? 'inptu' : 'input'
  return `  ${name}: publicProcedure.${input}(${inputOf(spec)}).output(Answer${index}).${method === 'post' ? 'mutation' : 'query'}(({ input }) => {
${missing ? `    if (${access.id} === 'none') throw new TRPCError({ code: 'NOT_FOUND' })\n` : ''}\
${mistake === 'status' ? `    if (${access.id} === 'new') throw new TRPCError({ code: 'CONFLICT' })\n` : ''}\
    return ${answerOf(spec, access)}
  }),`
}

export const trpc: Framework = {
  name: 'tRPC, Zod',
  body: access.body,
  undeclared: ['answered value', 'status'],
  client: trpcClient,
  routes: (name, routes) => `import { TRPCError } from '@trpc/server'
import { publicProcedure, router } from './trpc.ts'
${zodKind.header}

${routes.map((spec) => schemasOf(spec, zodKind)).join('\n')}

export const ${name} = router({
${routes.map(trpcRoute).join('\n')}
})
`,
  server: (names) => ({
    'trpc.ts': `import { initTRPC } from '@trpc/server'

const t = initTRPC.create()
export const router = t.router
export const publicProcedure = t.procedure
`,
    'server.ts': `import { router } from './trpc.ts'
${imports(names)}

export const appRouter = router({ ${names.join(', ')} })
export type AppRouter = typeof appRouter
`,
  }),
}

const orpcClient: Client = {
  name: 'oRPC client',
  write: (routes) => `import { createORPCClient } from '@orpc/client'
import { RPCLink } from '@orpc/client/fetch'
import type { RouterClient } from '@orpc/server'
import type { Router } from './server.ts'

const client: RouterClient<Router> = createORPCClient(new RPCLink({ url: 'http://localhost:3000/rpc' }))
${calls(routes, (spec) => `${spec.name}(${inputSent(spec)})`)}
`,
}

function orpcRoute(spec: RouteSpec): string {
  const { index, name, missing, mistake } = spec
  const input = mistake === 'option' ? 'inptu' : 'input'
  const errors = missing ? `.errors({ NOT_FOUND: { data: Missing${index} } })` : ''
  return `  ${name}: os${errors}.${input}(${inputOf(spec)}).output(Answer${index}).handler(async ({ input${missing ? ', errors' : ''} }) => {
${missing ? `    if (${access.id} === 'none') throw errors.NOT_FOUND({ data: ${missingOf(access.id)} })\n` : ''}\
${mistake === 'status' ? `    if (${access.id} === 'new') throw errors.CONFLICT({ data: ${missingOf(access.id)} })\n` : ''}\
    return ${answerOf(spec, access)}
  }),`
}

export const orpc: Framework = {
  name: 'oRPC, Zod',
  body: access.body,
  undeclared: ['answered value'],
  client: orpcClient,
  routes: (name, routes) => `import { os } from '@orpc/server'
${zodKind.header}

${routes.map((spec) => schemasOf(spec, zodKind)).join('\n')}

export const ${name} = {
${routes.map(orpcRoute).join('\n')}
}
`,
  server: (names) => ({
    'server.ts': `${imports(names)}

export const router = { ${names.join(', ')} }
export type Router = typeof router
`,
  }),
}
