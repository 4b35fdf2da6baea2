import {
  BadRequestError,
  type Context,
  clock,
  type Logger,
  type Query,
  type Request,
  type Response,
  sendFailure,
} from '../../../kernel/index.ts'
import { isLoopbackHost } from '../../shared/development/loopback.ts'
import { sendPage } from '../../shared/development/operator-page.ts'
import { announcePage } from '../../shared/development/pages.ts'
import { messageStates } from '../../shared/engines/contract.ts'
import { QueuePageError } from '../../shared/engines/errors.ts'
import type { QueueUiSettings } from '../../shared/engines/options.ts'
import { nodeEnv } from '../../shared/environment/node-env.ts'
import { HttpError } from '../../shared/failures/http-error.ts'
import { utf8Text } from '../../shared/http/body-parser.ts'
import { isFromHere } from '../../shared/http/origins.ts'
import { parseQuery } from '../../shared/http/query.ts'
import { plural, processZone, refreshOf } from '../../shared/pages/markup.ts'
import type { QueueChange, QueueOperator } from '../operations.ts'
import type { QueueService } from '../service.ts'
import { byTrouble, look, summaryOf } from './look.ts'
import {
  type Asked,
  contentSecurityPolicy,
  pageSize,
  queryOf,
  renderMessage,
  renderQueue,
  renderQueues,
  type View,
} from './page.ts'

/** The largest form that is read: the ids of one page, which their publishers may have chosen. */
const maxForm = 262_144

/** What the page can do with a queue; the result is the number of messages, if it is about any. */
const changes: Readonly<Record<string, (queue: QueueOperator, form: Form, by: QueueChange) => Promise<number | void>>> =
  {
    retry: (queue, { ids }, by) => queue.retry({ ids, ...by }),
    'retry-all': (queue, _form, by) => queue.retry(by),
    remove: (queue, { ids }, by) => queue.remove({ ids, ...by }),
    empty: (queue, { states }, by) => queue.empty({ states: states as never, ...by }),
    pause: (queue, _form, by) => queue.pause(by),
    resume: (queue, _form, by) => queue.resume(by),
  }

/** A click on the page. The lists are never missing: without one, an operator changes all messages. */
interface Form {
  readonly action: string
  readonly ids: readonly string[]
  readonly states: readonly string[]
}

/** Adds the page with the queues of a server. */
export function addQueuePage(ctx: Context, service: QueueService, { path, middlewares, by }: QueueUiSettings): void {
  const isGuarded = middlewares.length > 0
  const address = `${ctx.prefix}${path}`
  if (!isGuarded && !['development', 'test'].includes(nodeEnv() ?? '')) throw QueuePageError(address)
  // Another site can let its own name point to this machine: then its pages are of the same origin.
  const canChange = (req: Request) => isGuarded || isLoopbackHost(req.raw.host)
  const send = async (req: Request, res: Response, said: Said) => {
    const here = { now: clock.now(), zone: processZone(), canChange: canChange(req), worker: ctx.server.worker }
    const view = { asked: askedOf(req.query), ...here, ...said }
    const { page, status } = await pageOf(service, view, ctx.log)
    return sendPage(res.status(said.status ?? status), contentSecurityPolicy, page)
  }
  // Forms are read here, with or without the plugin that reads them.
  const own = { middlewares: [...middlewares], apidoc: { tags: ['queues'] }, tenant: false, urlencoded: false } as const

  announcePage(ctx.server, isGuarded ? 'queues (guarded)' : 'queues', address)
  ctx.get(path, own, function queuePage(req, res) {
    return send(req, res, { notice: noticeOf(req.query) })
  })
  ctx.post(path, own, async function changeQueue(req, res) {
    const refuse = (message: string) => sendFailure(req, res, new HttpError(403, { message }))
    if (!isFromHere(req)) return refuse('the request comes from another site')
    if (!canChange(req)) return refuse('without middlewares, the page only changes queues under the name localhost')
    const { queue: name, state } = askedOf(req.query)
    const form = await formOf(req)
    const change = Object.hasOwn(changes, form.action) ? changes[form.action] : undefined
    if (change === undefined) throw BadRequestError('the form has no action of this page')
    const who = by?.(req) || req.ip || 'an unknown address'
    const found = await look(async () => service.of(name ?? ''), ctx.log)
    if (found.value === undefined) return send(req, res, { trouble: found.trouble, status: 404 })
    const { value } = found
    const done = await look(async () => ({ count: await change(value, form, { by: who }) }), ctx.log, null)
    if (done.value === undefined) return send(req, res, done)
    const { count } = done.value
    const query = queryOf({ queue: value.name, state, done: form.action, ...(count !== undefined && { count }) })
    return res.setHeader('cache-control', 'no-store').redirect(`?${query}`, 303)
  })
}

/** The result of a click, for the page after it. */
interface Said {
  readonly notice?: string | undefined
  readonly trouble?: string | undefined
  readonly status?: number
}

/** The page that an address asks for. */
async function pageOf(service: QueueService, view: View, log: Logger) {
  const { queue: name, id, state, from } = view.asked
  const overview = async () =>
    (await Promise.all(service.declared().map((queue) => summaryOf(service, queue, log)))).sort(byTrouble)
  if (name === undefined) return { page: renderQueues(await overview(), view), status: 200 }
  const { value: operator, trouble } = await look(async () => service.of(name), log)
  if (operator === undefined) return { page: renderQueues(await overview(), { ...view, trouble }), status: 404 }
  if (id !== undefined) {
    const entry = await look(() => operator.find(id), log)
    const isGone = entry.trouble === undefined && entry.value === undefined
    return { page: renderMessage(name, entry, view), status: isGone ? 404 : 200 }
  }
  const [summary, list] = await Promise.all([
    summaryOf(service, operator, log),
    look(() => operator.list({ state, from, limit: pageSize + 1 }), log),
  ])
  return { page: renderQueue(summary, list, view), status: 200 }
}

/** The one value of a parameter; repeated ones are not from this page. */
const oneOf = (given: unknown) => (typeof given === 'string' && given !== '' ? given : undefined)
const listOf = (given: unknown) => (given === undefined ? [] : [given].flat().map(String))

function askedOf(query: Query): Asked {
  const from = Number(oneOf(query.from))
  return {
    queue: oneOf(query.queue),
    id: oneOf(query.id),
    state: messageStates.find((state) => state === query.state) ?? 'failed',
    from: Number.isSafeInteger(from) && from > 0 ? from : 0,
    refresh: refreshOf(query.refresh),
    isSelected: query.select === 'all',
  }
}

async function formOf(req: Request): Promise<Form> {
  const text = utf8Text(await req.raw.bytes(maxForm))
  if (text === undefined) throw BadRequestError('the form is not UTF-8')
  const form = parseQuery(text, 'the form')
  return { action: oneOf(form.do) ?? '', ids: listOf(form.id), states: listOf(form.states) }
}

/** What the last click has done, from the address to which it was redirected: anyone can write that, so it has no words of its own. */
function noticeOf({ done, count }: Query): string | undefined {
  if (done === 'pause') return 'The queue is paused. Messages in progress are finished.'
  if (done === 'resume') return 'The queue continues.'
  const number = Number(count)
  if (typeof done !== 'string' || !Object.hasOwn(changes, done) || !Number.isSafeInteger(number)) return undefined
  if (number === 0) return 'No message was changed: none was selected, or they were in another state by then.'
  const what = done.startsWith('retry') ? 'sent again' : 'removed'
  return `${plural(number, 'message')} ${number === 1 ? 'was' : 'were'} ${what}.`
}
