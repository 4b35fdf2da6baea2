import type MiniSearch from 'minisearch'
import type { Options, Query, SearchResult } from 'minisearch'

/** A part of a page, as stored in the index. */
export interface Entry {
  /** Its address, relative to the root of the site. */
  readonly id: string
  readonly title: string
  readonly page: string
  /** What the page is about, in its first part. */
  readonly about: string
  /** The headings of the page, in its first part. */
  readonly headings: string
  readonly heading: string
  readonly section: string
  readonly text: string
}

/** Splits text into words so that `rateLimit` is found by its name and by “rate limit”, and `OptionError` by “option”. */
function tokenize(text: string): string[] {
  return text
    .split(/[^\p{L}\p{N}_]+/u)
    .filter((word) => word !== '')
    .flatMap((word) => {
      const parts = word.split(/(?<=[\p{Ll}\p{N}])(?=\p{Lu})|_/u).filter((part) => part !== '')
      return parts.length > 1 ? [word, ...parts] : [word]
    })
}

/** Words of questions that say nothing about what is asked. */
const stopWords = new Set(
  `a about all an and any are as at be by can could do does for from get has have how i if in into is it its make me my need not of
  on one or other our own please set should show so some than that the their them then there these they this to up use used using
  want was way we what when where which who why will with without would you your`.split(/\s+/),
)

/** The part that the forms of a word have in common: “job” of “jobs”, “writ” of “write” and “writing”. */
function stem(word: string): string {
  const lower = word.toLowerCase()
  const one = lower.length > 3 && /[^s]s$/.test(lower) ? lower.slice(0, -1).replace(/ie$/, 'y') : lower
  return one.length > 5 ? one.replace(/(?:ing|ed|e)$/, '') : one.replace(/(?<=.{4})e$/, '')
}

/** What readers call it, and what these pages call it. */
const synonyms = new Map(
  Object.entries({
    auth: ['authentication', 'session'],
    aws: ['s3', 'sqs'],
    background: ['queue', 'cron'],
    broadcast: ['channel'],
    bucket: ['storage'],
    clock: ['time'],
    cluster: ['process'],
    config: ['option', 'configuration'],
    configuration: ['option', 'env'],
    cpu: ['overload', 'performance'],
    crash: ['shutdown', 'error'],
    csrf: ['cross', 'origin'],
    db: ['database'],
    debug: ['inspector', 'explain'],
    decorator: ['controller'],
    deploy: ['deployment'],
    docker: ['container'],
    dto: ['validation', 'schema'],
    endpoint: ['route'],
    event: ['channel', 'message'],
    exception: ['error', 'failure'],
    fake: ['memory', 'replace'],
    form: ['urlencoded', 'upload'],
    frontend: ['static', 'client', 'browser'],
    ai: ['stream', 'realtime'],
    graceful: ['close'],
    interceptor: ['middleware'],
    job: ['queue', 'cron'],
    k8s: ['kubernetes', 'probe'],
    kafka: ['queue', 'mqtt'],
    kubernetes: ['probe', 'container'],
    lambda: ['runtime'],
    login: ['session', 'sign'],
    mail: ['email', 'mailer'],
    mock: ['test', 'memory'],
    module: ['plugin'],
    monitoring: ['metrics', 'observability'],
    mongodb: ['database'],
    mutex: ['lock'],
    mysql: ['database'],
    nginx: ['proxy'],
    orm: ['database'],
    otel: ['telemetry', 'opentelemetry'],
    password: ['hash', 'sign'],
    permission: ['policy'],
    postgres: ['database', 'pgboss'],
    profile: ['performance'],
    prometheus: ['metrics'],
    provider: ['service'],
    pubsub: ['channel', 'mqtt'],
    rbac: ['policy'],
    reload: ['restart'],
    restart: ['deployment', 'rolling'],
    role: ['policy'],
    s3: ['storage'],
    scheduler: ['cron'],
    secret: ['env', 'key'],
    singleton: ['service'],
    smtp: ['mailer'],
    socket: ['websocket'],
    spa: ['single', 'static'],
    sse: ['event', 'stream'],
    sqlite: ['database'],
    swagger: ['openapi'],
    tenant: ['tenancy', 'customer'],
    throttle: ['rate', 'limit'],
    timer: ['cron', 'clock'],
    tls: ['https'],
    token: ['authentication', 'session'],
    trace: ['telemetry', 'inspector'],
    tus: ['upload', 'resumable'],
    typescript: ['type'],
    unit: ['test'],
    validate: ['validation', 'schema'],
    vite: ['static', 'browser'],
    webhook: ['raw', 'signature'],
    worker: ['process', 'queue'],
    zod: ['validation', 'schema'],
  }).map(([word, others]) => [stem(word), others] as const),
)

/** Readers seldom look for what has changed, for the reasons of a design, or for the form of every type; and lists name everything. */
const seldom: readonly (readonly [pages: RegExp, factor: number])[] = [
  [/^docs\/api\b/, 0.1],
  [/^(CHANGELOG|CONTRIBUTING|SECURITY|docs\/design|docs\/benchmarks|benchmarks)\b/, 0.2],
  [/^(index|docs\/errors|docs\/examples|docs\/(guides|reference)\/index)\b/, 0.5],
]

/** The options of the index; they must be the same when it is made and when it is searched. */
export const searchOptions: Options<Entry> = {
  fields: ['page', 'about', 'headings', 'heading', 'text'],
  storeFields: ['title', 'heading', 'section', 'text'],
  tokenize,
  processTerm: stem,
  searchOptions: {
    boost: { page: 10, about: 4, headings: 3, heading: 3 },
    prefix: (term) => term.length > 2,
    fuzzy: (term) => (term.length > 4 ? 0.2 : false),
    boostDocument: (id) => seldom.find(([pages]) => pages.test(String(id)))?.[1] ?? 1,
  },
}

/** Finds what has words of a question, the more of them the better; words that say nothing do not count. */
export function find(index: MiniSearch<Entry>, question: string): SearchResult[] {
  const words = tokenize(question).map((word) => word.toLowerCase())
  const telling = words.filter((word) => word.length > 1 && !stopWords.has(word))
  const groups = (telling.length === 0 ? words : telling).map((word) =>
    [word, ...(synonyms.get(stem(word)) ?? [])].map(stem),
  )
  const queries = groups.map(([word, ...others]): Query => {
    return { queries: [word!, ...others.map((other) => ({ queries: [other], boostTerm: () => 0.5 }))] }
  })
  const part = ({ queryTerms }: SearchResult) =>
    groups.filter((group) => group.some((word) => queryTerms.includes(word))).length / groups.length
  const score = (one: SearchResult) => one.score * part(one) ** 2
  return index.search({ queries }).sort((one, other) => score(other) - score(one))
}
