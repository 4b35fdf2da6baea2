import { referencePages } from './reference/pages.mjs'

let made: { readonly file: string; readonly title: string; readonly text: string }[] | undefined
/** The pages of the reference, made only when they are needed: that takes some seconds. */
const api = () => {
  made ??= referencePages().map((page) => ({ ...page, file: `docs/api/${page.path}` }))
  return made
}
/** The pages of the reference, for which there are no files, by the paths that they would have. */
export const generated = (): ReadonlyMap<string, string> => new Map(api().map(({ file, text }) => [file, text]))

/** A part of the sidebar: its pages in the order in which they should be read, as paths from the project's folder. */
export interface Section {
  readonly title: string
  /** A page, or a page with a name that is shorter than its heading. */
  readonly pages: readonly (string | readonly [page: string, name: string])[]
}

const pages = (folder: string, ...names: string[]) => names.map((name) => `docs/${folder}/${name}.md`)

/** Every page is listed here once: the build fails if one is missing. */
export const sidebar: readonly Section[] = [
  {
    title: 'Start',
    pages: [
      'docs/getting-started.md',
      ['docs/life-cycle.md', 'Life cycle'],
      'docs/writing-a-plugin.md',
      'docs/examples/README.md',
    ],
  },
  {
    title: 'Guides',
    pages: [
      ['docs/guides/README.md', 'All guides'],
      ...pages('guides', 'testing', 'errors', 'authentication', 'database', 'background-work'),
      ...pages('guides', 'durable-workflows', 'realtime', 'deployment', 'observability'),
      ['docs/guides/security.md', 'Security'],
      ...pages('guides', 'performance', 'writing-adapters'),
      ['docs/guides/faq.md', 'Questions'],
    ],
  },
  {
    title: 'Coming from',
    pages: [
      ['docs/guides/moving.md', 'Another framework'],
      ...(['Express', 'Fastify', 'NestJS', 'Hono', 'AdonisJS'] as const).map(
        (name) => [`docs/guides/moving/${name.toLowerCase()}.md`, name] as const,
      ),
    ],
  },
  {
    title: 'Reference',
    pages: [
      ['docs/reference/README.md', 'All topics'],
      ...pages('reference', 'server', 'options', 'routes', 'middleware', 'request', 'response', 'failures'),
      ...pages('reference', 'plugins', 'context', 'services', 'hooks', 'option-checks', 'testing', 'tracing'),
      ...pages('reference', 'runtimes', 'typescript', 'kernel'),
      ['docs/errors.md', 'Error codes'],
    ],
  },
  {
    title: 'Plugins: input, answers',
    pages: pages(
      'plugins',
      ...['validation', 'responses', 'serializer', 'json', 'urlencoded', 'upload', 'cookie', 'session', 'static'],
      ...['compression', 'cache', 'requestContext', 'methodOverride', 'contract', 'controllers'],
    ),
  },
  {
    title: 'Plugins: protection',
    pages: pages('plugins', 'policy', 'cors', 'helmet', 'rateLimit', 'overload', 'timeout', 'trustProxy'),
  },
  {
    title: 'Plugins: messages, data',
    pages: pages('plugins', 'websocket', 'channels', 'graphql', 'queues', 'cron', 'mqtt', 'mailer', 'storage', 'locks'),
  },
  {
    title: 'Plugins: operation',
    pages: pages(
      'plugins',
      ...['env', 'log', 'health', 'metrics', 'telemetry', 'inspector', 'openapi', 'asyncapi', 'testing'],
    ),
  },
  {
    title: 'Command line',
    pages: [
      ['docs/cli.md', 'All commands'],
      'docs/cli/scaffolds.md',
      ['docs/cli/commands.md', 'Own commands'],
      ['docs/client.md', 'Typed client'],
      'docs/doctor.md',
      ['docs/scaling.md', 'Several processes'],
    ],
  },
  {
    title: 'API',
    get pages() {
      return api().map(
        ({ file, title }) => [file, title.replace(/^Plugin /, '').replace(/^API$/, 'All names')] as const,
      )
    },
  },
  {
    title: 'Project',
    pages: [
      'docs/versions.md',
      'docs/design.md',
      'docs/benchmarks.md',
      ['benchmarks/results.md', 'Benchmark results'],
      'CHANGELOG.md',
      'CONTRIBUTING.md',
      ['SECURITY.md', 'Security policy'],
    ],
  },
]
