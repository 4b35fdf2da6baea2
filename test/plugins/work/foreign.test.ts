import { definePlugin, type Kernel, Trace, TracePoint, workKind } from 'framework/kernel'
import { afterEach, expect, test } from 'vitest'
import { RouteCollection, Server } from '../../../index.ts'
import { metrics } from '../../../plugins/metrics/index.ts'
import { memoryLogger } from '../../support/kernel.ts'
import { keepSpans, placed, treeOf } from '../../support/spans.ts'
import { lookAt } from '../inspector/support.ts'

interface Render {
  readonly template: string
  readonly draft: boolean
  bytes: number
  error?: unknown
}

const renderTrace = new Trace<Render>('foreign.render')
const partTrace = new Trace<{ partial: string }>('foreign.partial')
const missed = new TracePoint<{ template: string; draft: boolean }>('foreign.missed')

const list = { id: 'render', title: 'Renderings' }
const template = { attribute: 'app.template', of: (event: { readonly template: string }) => event.template }
const work = [
  workKind<Render>({
    channel: 'foreign.render',
    list,
    help: 'Templates that were rendered',
    span: (event) => `render ${event.template}`,
    title: (event) => event.template,
    note: (event) => (event.draft ? 'draft' : 'final'),
    data: ({ template }) => ({ template, password: 'hidden', body: Buffer.from('{"a":1}') }),
    labels: { template },
    attributes: (event) => ({ 'app.draft': event.draft, 'app.missing': undefined }),
    ended: (event) => ({ 'app.bytes': event.bytes }),
    measures: [{ name: 'foreign_bytes', type: 'counter', help: 'Bytes', unit: 'bytes', of: (event) => event.bytes }],
  }),
  workKind<{ partial: string }>({
    channel: 'foreign.partial',
    form: 'part',
    span: (event) => `partial ${event.partial}`,
  }),
  workKind<{ template: string; draft: boolean }>({
    channel: 'foreign.missed',
    form: 'moment',
    list,
    help: 'Templates that were not found',
    span: () => 'template missed',
    title: (event) => event.template,
    labels: { template },
    isNotable: (event) => !event.draft,
  }),
]

const views = definePlugin({
  name: 'views',
  work,
  setup(ctx) {
    ctx.get('/page', () =>
      renderTrace.run(
        () => ({ template: 'page', draft: false, bytes: 0 }),
        async (event) => {
          await partTrace.run(
            () => ({ partial: 'header' }),
            async () => {},
          )
          missed.publish({ template: 'footer', draft: false })
          missed.publish({ template: 'hint', draft: true })
          if (event !== undefined) event.bytes = 12
          return 'page'
        },
      ),
    )
    ctx.get('/broken', () =>
      renderTrace.run(
        () => ({ template: 'broken', draft: true, bytes: 0 }),
        async () => {
          throw new Error('no such partial')
        },
      ),
    )
  },
})

/** The plugin is registered during the boot, after those that follow its work. */
const site = definePlugin({ name: 'site', setup: (ctx) => ctx.register(views()) })

const clean: (() => unknown)[] = []
afterEach(async () => {
  for (const one of clean.splice(0).reverse()) await one()
})

test('the work of a foreign plugin has spans, rows in the inspector and metrics, wherever it is registered', async () => {
  const spans = keepSpans()
  clean.push(() => spans.end())
  const plugins = { telemetry: { resolvers: true }, inspector: true, metrics: true, site: site() } as const
  const server = new Server({ plugins, router: new RouteCollection(), logger: memoryLogger(), port: 0 })
  clean.push(() => server.close())
  await server.inject.get('/page')
  await server.inject.get('/broken')

  expect(treeOf(spans.all.map(placed))).toEqual([
    'GET /page',
    '  handler /page',
    '    render page',
    '      partial header',
    'GET /broken !',
    '  handler /broken !',
    '    render broken !',
  ])
  const span = spans.named('render page')
  expect(span.attributes).toEqual({ 'app.template': 'page', 'app.draft': false, 'app.bytes': 12 })
  expect(span.events.map(({ name, attributes }) => [name, attributes])).toEqual([
    ['template missed', { 'app.template': 'footer' }],
  ])

  const look = await lookAt(server as unknown as Server)
  const { titles } = await look.json<{ titles: object }>('overview')
  expect(titles).toMatchObject({ request: 'Requests', render: 'Renderings', log: 'Log' })
  const rows = await look.json<{ id: number; title: string; note: string; outcome: string }[]>('list?kind=render')
  expect(rows.map(({ title, note, outcome }) => [title, note, outcome])).toEqual([
    ['broken', 'draft', 'failed'],
    ['footer', '', 'ok'],
    ['page', 'final', 'ok'],
  ])
  const page = await look.json<{ data: object; related: { title: string; marks: { name: string }[] }[] }>(
    `activity?id=${rows[2]!.id}`,
  )
  expect(page.data).toMatchObject({ template: 'page', body: { a: 1 } })
  expect(JSON.stringify(page.data)).not.toContain('hidden')
  expect(page.related.find(({ title }) => title === 'page')?.marks.map(({ name }) => name)).toEqual(['partial header'])

  const text = await server.services.metrics.text()
  expect(text).toContain('# HELP foreign_render_duration_seconds Templates that were rendered: how long\n')
  expect(text).toContain('foreign_render_duration_seconds_count{template="page"} 1\n')
  expect(text).toContain('foreign_render_failures_total{template="broken"} 1\n')
  expect(text).toContain('foreign_bytes_total{template="page"} 12\n')
  expect(text).toContain('foreign_missed_total{template="hint"} 1\n')
})

interface Count {
  bytes: number
  name: string
  value: string
}

test.each<[string, (event: Count) => { readonly [name: string]: unknown }]>([
  ['the event itself', (event) => event as never],
  ['a copy', (event) => ({ ...event })],
])('details that the work changes are those of its end, and as secret: %s', async (title, data) => {
  const channel = `foreign.${title.replaceAll(' ', '-')}`
  const countTrace = new Trace<Count>(channel)
  const described = { channel, list, help: 'Counts', span: () => 'count' }
  const kind = workKind<Count>({ ...described, data, ended: ({ bytes }) => ({ 'app.bytes': bytes }) })
  const counts = definePlugin({
    name: 'counts',
    work: [kind],
    setup(ctx) {
      const begin = () => ({ bytes: 0, name: 'title', value: 'hidden' })
      const change = async (event?: Count) => void Object.assign(event ?? {}, { bytes: 12, name: 'password' })
      ctx.get('/count', () => countTrace.run(begin, change))
    },
  })
  const plugins = { inspector: true, counts: counts() } as const
  const server = new Server({ plugins, router: new RouteCollection(), logger: memoryLogger(), port: 0 })
  clean.push(() => server.close())
  await server.inject.get('/count')
  const look = await lookAt(server as unknown as Server)
  const [row] = await look.json<{ id: number }[]>('list?kind=render')
  const details = { bytes: 12, name: 'password', value: '[redacted]' }
  expect(await look.json(`activity?id=${row!.id}`)).toMatchObject({ data: details })
})

const valid = { channel: 'a', list, help: 'a', span: () => 'a' }

test.each([
  [{ ...valid, channel: 'framework:a' }, 'needs a channel'],
  [{ ...valid, form: 'event' }, 'has an unknown form'],
  [{ ...valid, span: 'a' }, 'needs a function "span"'],
  [{ ...valid, list: 'a' }, 'needs a "list"'],
  [{ ...valid, help: undefined }, 'needs a "help" text'],
  [{ ...valid, labels: { kind: 'kind' } }, 'needs "attribute" and "of" in labels.kind'],
  [{ ...valid, measures: [{ name: 'a' }] }, 'needs "name" and "of" in each of its measures'],
  [undefined, 'needs a channel'],
])('a description that cannot be followed is refused: %j', (kind, why) => {
  expect(() => workKind(kind as never)).toThrow(
    expect.objectContaining({ code: 'WorkKindError', message: expect.stringContaining(why) }),
  )
})

test('a misspelt member is refused', () => {
  expect(() => workKind({ ...valid, lables: {} } as never)).toThrow('Did you mean "labels"?')
})

test('two plugins cannot describe one channel, and neither of them that of the framework', async () => {
  const plugin = (name: string, channel: string) => definePlugin({ name, work: [workKind({ ...valid, channel })] })()
  for (const [plugins, names] of [
    [[plugin('one', 'twice'), plugin('two', 'twice')], '"one" and "two"'],
    [[plugin('one', 'queue.publish')], '"queues" and "one"'],
    [[definePlugin({ name: 'one', work: valid as never })()], 'of the plugin "one" is not a list'],
  ] as const) {
    const server = new Server({ plugins: [...plugins, metrics()], router: new RouteCollection() })
    clean.push(() => server.close().catch(() => {}))
    await expect(server.ready()).rejects.toMatchObject({ message: expect.stringContaining(names) })
  }
})

test('a description that was never checked is refused where it is followed', async () => {
  const plugin = definePlugin({ name: 'raw', work: [{ channel: 'raw' }] as never })
  const server: Kernel = new Server({ plugins: [plugin()] as never, router: new RouteCollection() })
  clean.push(() => server.close())
  await server.ready()
  const followed = new Server({ plugins: { metrics: true, raw: plugin() }, router: new RouteCollection() })
  clean.push(() => followed.close().catch(() => {}))
  await expect(followed.ready()).rejects.toMatchObject({
    message: expect.stringContaining('of the plugin "raw"'),
    cause: { code: 'WorkKindError' },
  })
})

test('a description whose functions throw costs neither the work nor the process', async () => {
  const fail = (): never => {
    throw new Error('a description that throws')
  }
  const thing = new Trace<object>('foreign.broken')
  const moment = new TracePoint<object>('foreign.brokenMoment')
  const common = { list, help: 'Broken', span: fail, title: fail, note: fail, data: fail, attributes: fail }
  const labels = { template: { attribute: 'app.template', of: fail } }
  const measure = { type: 'counter', help: 'Broken', of: fail } as const
  const described = [
    workKind<object>({
      ...common,
      channel: 'foreign.broken',
      ended: fail,
      labels,
      measures: [{ ...measure, name: 'works' }],
    }),
    workKind<object>({
      ...common,
      channel: 'foreign.brokenMoment',
      form: 'moment',
      labels,
      measures: [{ ...measure, name: 'moments' }],
    }),
  ]
  const plugin = definePlugin({
    name: 'brokenViews',
    work: described,
    setup(ctx) {
      ctx.get('/', () =>
        thing.run(
          () => ({}),
          async () => {
            moment.publish({})
            return 'done'
          },
        ),
      )
    },
  })
  const failures: unknown[] = []
  const uncaught = (error: unknown) => failures.push(error)
  const warnings: string[] = []
  const warned = ({ message }: Error) => warnings.push(message)
  process.on('uncaughtException', uncaught).on('warning', warned)
  clean.push(() => process.off('uncaughtException', uncaught).off('warning', warned))
  const spans = keepSpans()
  clean.push(() => spans.end())
  const plugins = { telemetry: true, inspector: true, metrics: true, plugin: plugin() } as const
  const server = new Server({ plugins, router: new RouteCollection(), logger: memoryLogger(), port: 0 })
  clean.push(() => server.close())

  for (let i = 0; i < 2; i++) {
    const response = await server.inject.get('/')
    expect([response.statusCode(), response.text()]).toEqual([200, '"done"'])
  }
  // Node.js throws what a subscriber threw, and emits warnings, in a later tick.
  await new Promise((resolve) => setImmediate(resolve))
  expect(failures).toEqual([])
  expect(warnings).toContain('a description that throws')
})
