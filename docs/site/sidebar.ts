import { firstSteps } from './first-steps.ts'
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
  /** What its pages are, which each of them says. */
  readonly kind: 'First steps' | 'Recipe' | 'Guide' | 'Reference' | 'Project'
  /** A page, or a page with a name that is shorter than its heading. */
  readonly pages: readonly (string | readonly [page: string, name: string])[]
}

const pages = (folder: string, ...names: string[]) => names.map((name) => `docs/${folder}/${name}.md`)

/** Pages of plugins, under what they are for: a reader who knows the task need not know the name. */
const plugins = (tasks: Readonly<Record<string, string>>) =>
  Object.entries(tasks).map(([name, task]) => [`docs/plugins/${name}.md`, `${task} · ${name}`] as const)

const recipes = (names: Readonly<Record<string, string>>) =>
  Object.entries(names).map(([file, name]) => [`docs/recipes/${file}.md`, name] as const)

/** Every page is listed here once: the build fails if one is missing. */
export const sidebar: readonly Section[] = [
  { title: 'First steps', kind: 'First steps', pages: firstSteps },
  {
    title: 'Recipes',
    kind: 'Recipe',
    pages: [
      ['docs/recipes/README.md', 'All recipes'],
      ...recipes({
        'log-in-with-refresh': 'Log in with tokens',
        oauth: 'Log in with a provider',
        'better-auth': 'better-auth',
        'upload-to-s3': 'Upload to S3',
        tus: 'Resume uploads',
        websocket: 'Websocket from a browser',
        'ai-stream': 'Stream an AI answer',
        'webhook-in': 'Receive a webhook',
        'webhook-out': 'Send webhooks',
        'rate-limit-by-plan': 'Limits by plan',
        tenants: 'Several companies',
        checkout: 'Place an order once',
        email: 'Email from a queue',
        'nightly-job': 'Nightly job',
        'csv-export': 'Export CSV',
        cache: 'Cache',
        'feature-flag': 'Feature flags',
        'api-versions': 'API versions',
        'openapi-first': 'OpenAPI first',
        'admin-page': 'Admin page',
        drizzle: 'Drizzle',
        kysely: 'Kysely',
        prisma: 'Prisma',
        mysql: 'MySQL',
        mongodb: 'MongoDB',
        redis: 'Redis',
        'change-a-table': 'Migrations without downtime',
        vite: 'Vite',
        workspace: 'Next.js in a workspace',
        'github-actions': 'GitHub Actions',
        kubernetes: 'Kubernetes',
        'one-binary': 'One executable file',
      }),
      ['docs/examples/README.md', 'All examples'],
    ],
  },
  {
    title: 'Guides',
    kind: 'Guide',
    pages: [
      ['docs/guides/README.md', 'All guides'],
      ['docs/life-cycle.md', 'Life cycle'],
      'docs/writing-a-plugin.md',
      'docs/guides/testing.md',
      ['docs/guides/errors.md', 'Errors, error pages'],
      ['docs/guides/forms.md', 'Forms, validation messages'],
      'docs/guides/authentication.md',
      ['docs/guides/database.md', 'Databases, transactions, migrations'],
      ...pages('guides', 'background-work', 'durable-workflows'),
      ['docs/guides/realtime.md', 'Realtime, streams'],
      ['docs/guides/deployment.md', 'Deployment, graceful shutdown'],
      'docs/guides/observability.md',
      ['docs/guides/security.md', 'Security'],
      ['docs/guides/personal-data.md', 'Personal data, redaction'],
      ['docs/guides/access.md', 'Review who can reach what'],
      ...pages('guides', 'performance', 'writing-adapters'),
      ['docs/guides/faq.md', 'Questions'],
    ],
  },
  {
    title: 'Coming from',
    kind: 'Guide',
    pages: [
      ['docs/guides/moving.md', 'Another framework'],
      ...(['Express', 'Fastify', 'NestJS', 'Hono', 'AdonisJS'] as const).map(
        (name) => [`docs/guides/moving/${name.toLowerCase()}.md`, name] as const,
      ),
    ],
  },
  {
    title: 'Reference',
    kind: 'Reference',
    pages: [
      ['docs/reference/README.md', 'All topics'],
      ['docs/reference/server.md', 'Server, HTTPS'],
      ...pages('reference', 'options', 'routes', 'middleware'),
      ['docs/reference/request.md', 'Request: query string, body, parameters'],
      ...pages('reference', 'response', 'failures'),
      ...pages('reference', 'plugins', 'context', 'services', 'hooks', 'option-checks', 'testing', 'tracing'),
      ['docs/reference/runtimes.md', 'Runtimes: Node.js, Bun, Deno'],
      ...pages('reference', 'typescript', 'kernel'),
      ['docs/errors.md', 'Error codes'],
    ],
  },
  {
    title: 'Plugins: requests, responses',
    kind: 'Reference',
    pages: plugins({
      validation: 'Validate input, JSON Schema, Zod',
      responses: 'Describe responses',
      serializer: 'Serialize JSON faster',
      json: 'JSON bodies',
      urlencoded: 'Form bodies',
      upload: 'Upload files',
      cookie: 'Cookies',
      session: 'Sessions, log in',
      static: 'Static files, SPA, frontend',
      compression: 'Compress responses',
      cache: 'Cache responses and data',
      requestContext: 'Request context',
      methodOverride: 'Method override',
      contract: 'Typed calls without generated code',
      controllers: 'Controllers, decorators',
    }),
  },
  {
    title: 'Plugins: protection',
    kind: 'Reference',
    pages: plugins({
      auth: 'Authentication, hash passwords',
      tenant: 'Multi-tenancy',
      policy: 'Permissions, roles',
      csrf: 'Prevent CSRF',
      cors: 'Cross-origin requests',
      helmet: 'Security headers',
      rateLimit: 'Rate limiting',
      webhooks: 'Verify and send webhooks',
      idempotency: 'Idempotency keys',
      overload: 'Shed load',
      timeout: 'Request timeouts',
      trustProxy: 'Trust a reverse proxy',
    }),
  },
  {
    title: 'Plugins: messages, data',
    kind: 'Reference',
    pages: plugins({
      websocket: 'Websockets',
      channels: 'Rooms, chat, broadcast',
      graphql: 'GraphQL',
      queues: 'Background jobs, retries',
      cron: 'Scheduled jobs',
      mqtt: 'MQTT',
      mailer: 'Send email',
      storage: 'Store files, S3',
      database: 'Databases, transactions',
      locks: 'Distributed locks',
    }),
  },
  {
    title: 'Plugins: operation',
    kind: 'Reference',
    pages: plugins({
      env: 'Environment variables, secrets',
      log: 'Structured logs',
      health: 'Health checks, probes',
      metrics: 'Metrics',
      telemetry: 'OpenTelemetry',
      inspector: 'Inspect requests, find slow ones',
      openapi: 'OpenAPI',
      asyncapi: 'AsyncAPI',
      testing: 'Test client',
    }),
  },
  {
    title: 'Command line',
    kind: 'Reference',
    pages: [
      ['docs/cli.md', 'All commands'],
      'docs/cli/scaffolds.md',
      ['docs/cli/commands.md', 'Own commands'],
      ['docs/client.md', 'Typed client'],
      'docs/doctor.md',
      ['docs/scaling.md', 'Several processes, CPU cores'],
    ],
  },
  {
    title: 'API',
    kind: 'Reference',
    get pages() {
      return api().map(
        ({ file, title }) => [file, title.replace(/^Plugin /, '').replace(/^API$/, 'All names')] as const,
      )
    },
  },
  {
    title: 'Project',
    kind: 'Project',
    pages: [
      'docs/versions.md',
      'docs/design.md',
      'docs/benchmarks.md',
      'benchmarks/README.md',
      'benchmarks/types/README.md',
      ['benchmarks/results.md', 'Benchmark results'],
      'CHANGELOG.md',
      'CONTRIBUTING.md',
      ['SECURITY.md', 'Security policy'],
    ],
  },
]
