import { packageName } from '../../package.ts'
import type { Names } from '../names.ts'
import { importPath, inFolder, type Place } from '../place.ts'
import type { Scaffold } from '../scaffold.ts'
import { identifier, imports } from '../source.ts'

/** The names in the files of one plugin. */
export interface PluginParts {
  readonly kebab: string
  /** The name of the factory. */
  readonly name: string
  /** The key of its service, and of the plugin in the object form. */
  readonly key: string
  readonly pascal: string
}

export const pluginParts = ({ kebab, camel, pascal }: Names): PluginParts => ({
  kebab,
  name: identifier(camel, 'Plugin'),
  key: camel,
  pascal,
})

/** A plugin of the application: a folder with its public names, its glue, its service and a test. */
export function plugin(place: Place, names: Names): Scaffold {
  const parts = pluginParts(names)
  const file = inFolder(place, 'index.ts')
  return {
    files: [
      { path: file, text: indexSource(parts) },
      { path: inFolder(place, 'plugin.ts'), text: pluginSource(parts) },
      { path: inFolder(place, 'service.ts'), text: serviceSource(parts) },
      { path: inFolder(place, `${parts.kebab}.test.ts`), text: testSource(place.testModule, parts, './index.ts') },
    ],
    next: [
      `In ${place.server}:`,
      `  import { ${parts.name} } from '${importPath(place, file)}'`,
      `  new Server({ plugins: { ${parts.key}: ${parts.name}() } }), or new Server({ plugins: [${parts.name}()] })`,
    ],
  }
}

export const indexSource = ({
  name,
  pascal,
}: PluginParts) => `export { type ${pascal}Options, ${name} } from './plugin.ts'
export { type ${pascal}Entry, ${pascal}Service } from './service.ts'
`

export const pluginSource = ({
  kebab,
  name,
  key,
  pascal,
}: PluginParts) => `import { definePlugin, option } from '${packageName}'
import { ${pascal}Service } from './service.ts'

export interface ${pascal}Options {
  /** The number of requests that are kept; default 100. */
  keep?: number
}

declare module '${packageName}' {
  interface Services {
    ${key}: ${pascal}Service
  }
}

const options = option.shape({ keep: option.int({ min: 1 }).default(100) }).typed<${pascal}Options>()

/** Keeps the last requests: \`server.services.${key}.entries\`. */
export const ${name} = definePlugin({
  name: '${kebab}',
  version: '0.1.0',
  options,
  provide: ({ keep }) => ({ ${key}: new ${pascal}Service(keep) }),
  setup(ctx) {
    const service = ctx.services.get('${key}')
    ctx.onResponse((req, _res, ms) => {
      service.add({ route: \`\${req.method} \${req.route ?? req.path}\`, ms })
    })
    // Close everything here that setup opens.
    ctx.onClose(() => service.clear())
  },
})
`

export const serviceSource = ({ pascal }: PluginParts) => `export interface ${pascal}Entry {
  readonly route: string
  readonly ms: number
}

/** The work of the plugin, independent of the framework, and tested without it. */
export class ${pascal}Service {
  readonly #keep: number
  #entries: readonly ${pascal}Entry[] = []

  constructor(keep: number) {
    this.#keep = keep
  }

  /** The newest first. */
  get entries(): readonly ${pascal}Entry[] {
    return this.#entries
  }

  add(entry: ${pascal}Entry): void {
    this.#entries = [entry, ...this.#entries].slice(0, this.#keep)
  }

  clear(): void {
    this.#entries = []
  }
}
`

export const testSource = (module: string, { kebab, name, key }: PluginParts, from: string) => `${imports(
  ['node:assert/strict', 'assert'],
  [module, '{ test }'],
  [packageName, '{ RouteCollection, Server }'],
  [from, `{ ${name} }`],
)}

test('${kebab}: keeps the last requests', async () => {
  const routes = new RouteCollection()
  routes.get('/users/:id', (req) => ({ id: req.params.id }))
  const server = new Server({ router: routes, plugins: { ${key}: ${name}({ keep: 2 }) } })

  for (const path of ['/users/1', '/users/2', '/nothing']) await server.inject.get(path)
  assert.deepEqual(
    server.services.${key}.entries.map(({ route }) => route),
    ['GET /nothing', 'GET /users/:id'],
  )

  await server.close()
  assert.deepEqual(server.services.${key}.entries, [])
})

test('${kebab}: refuses options that cannot be meant', () => {
  assert.throws(() => new Server({ plugins: { ${key}: ${name}({ keep: 0 }) } }), /${kebab}\\.keep/)
})
`
