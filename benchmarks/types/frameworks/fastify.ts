import { answerBy, missingOf, type RouteSpec } from '../application.ts'
import { answersOf, type Framework, schemasOf } from '../framework.ts'
import { jsonKind, legacyTypeboxKind, object, type SchemaKind, string, typeboxOneKind, zodKind } from '../schemas.ts'

const access = { id: 'req.params.id', body: 'req.body', query: 'req.query' }

/** A type provider: the package, the type of a plugin that uses it, and its settings for the server. */
interface Provider {
  readonly kind: SchemaKind
  readonly from: string
  readonly plugin: string
  readonly validators?: readonly [validator: string, serializer: string]
}

const providers: Provider[] = [
  {
    kind: zodKind,
    from: 'fastify-type-provider-zod',
    plugin: 'FastifyPluginAsyncZod',
    validators: ['validatorCompiler', 'serializerCompiler'],
  },
  { kind: legacyTypeboxKind, from: 'fastify-type-provider-typebox-legacy', plugin: 'FastifyPluginAsyncTypebox' },
  { kind: typeboxOneKind, from: '@fastify/type-provider-typebox', plugin: 'FastifyPluginAsyncTypebox' },
  { kind: jsonKind, from: '@fastify/type-provider-json-schema-to-ts', plugin: 'FastifyPluginAsyncJsonSchemaToTs' },
]

function route(spec: RouteSpec): string {
  const { index, method, name, missing, mistake } = spec
  const input = method === 'post' ? `body: Body${index}` : `querystring: Query${index}`
  const misspelt = mistake === 'option' ? `, sumary: 'a misspelt option'` : ''
  return `  app.${method}('/${name}/:id', { schema: { params: Params, ${input}, response: { ${answersOf(spec)} } }${misspelt} }, async (req, reply) => {
${missing ? `    if (${access.id} === 'none') return reply.code(404).send(${missingOf(access.id)})\n` : ''}\
${mistake === 'status' ? `    if (${access.id} === 'new') return reply.code(201).send(${missingOf(access.id)})\n` : ''}\
    return ${answerBy((value) => `reply.code(200).send(${value})`, spec, access)}
  })`
}

const withProvider = ({ kind, from, plugin, validators }: Provider): Framework => ({
  name: `Fastify, ${kind.name}`,
  body: access.body,
  routes: (name, routes) => `import type { ${plugin} } from '${from}'
${kind.header}

const Params = ${kind.write(object({ id: string }))}
${routes.map((spec) => schemasOf(spec, kind)).join('\n')}

export const ${name}: ${plugin} = async (app) => {
${routes.map(route).join('\n')}
}
`,
  server: (names) => ({
    'server.ts': `import Fastify from 'fastify'
${validators ? `import { ${validators.join(', ')} } from '${from}'` : ''}
${names.map((name) => `import { ${name} } from './${name}.ts'`).join('\n')}

export const server = Fastify()
${validators ? `server.setValidatorCompiler(${validators[0]})\nserver.setSerializerCompiler(${validators[1]})` : ''}
${names.map((name) => `server.register(${name}, { prefix: '/${name}' })`).join('\n')}
`,
  }),
})

export const fastify = providers.map(withProvider)
