import type { Explanation, Kernel } from '../../kernel/index.ts'
import { marksOf } from '../shared/schema/marks.ts'
import { framesOf } from '../shared/terminal/error-lines.ts'
import { editorAddress, placesOf, placeText } from '../shared/terminal/stack.ts'
import { methodOf } from '../shared/terminal/tree.ts'
import { isObject } from '../shared/values/json.ts'
import { safely } from '../shared/values/safely.ts'
import type { Activity } from './activities.ts'
import { type CapturedBody, decoded } from './bodies.ts'
import type { CapturedRequest, Recorder } from './recorder.ts'
import { whyNotReplayed } from './replay.ts'

/** An entry of a list. */
export type Summary = ReturnType<typeof summaryOf>

export function summaryOf({ id, kind, title, trace, parent, at, ms, outcome, note }: Activity) {
  return { id, kind, title, trace, parent, at, ms, outcome, note }
}

/** Returns all details of one piece of work, with the work that belongs to it. */
export async function detailsOf(server: Kernel, recorder: Recorder, activity: Activity): Promise<object> {
  const kept = recorder.capturedOf(activity)
  const related = recorder.activities.ofTrace(activity.trace)
  return {
    ...summaryOf(activity),
    data: activity.data,
    view: activity.view,
    error: withPlaces(activity.error),
    ...(kept !== undefined && { http: await httpOf(server, recorder, kept, activity.data.route) }),
    replays: recorder.activities
      .list('request')!
      .filter(({ data }) => data.repeats === activity.id)
      .map(summaryOf),
    related: related.map((one) => ({
      ...summaryOf(one),
      marks: one.marks,
      marksLeftOut: one.marksLeftOut,
      ...(one.kind === 'log' && { data: one.data }),
      error: one.id === activity.id ? undefined : messageOf(one.error),
    })),
  }
}

/** An error with the places in the application: the page folds the frames of packages, of the runtime and of the framework. */
function withPlaces(error: unknown): unknown {
  if (!isObject(error)) return error
  const { type: name, message, stack, cause } = error as { readonly [member: string]: string }
  const places = placesOf(framesOf({ name: String(name), message: String(message), stack: String(stack) }))
  const links = places.map((place) => ({ text: placeText(place), name: place.name, href: editorAddress(place) }))
  return { ...error, places: links, ...(cause !== undefined && { cause: withPlaces(cause) }) }
}

const messageOf = (error: unknown) => (error as { message?: unknown } | undefined)?.message

async function httpOf(server: Kernel, { redactor }: Recorder, kept: CapturedRequest, path: unknown): Promise<object> {
  const { method, target, headers, received, sent, response, hasBody } = kept
  const headersSent = response === undefined ? undefined : pairsOf(response.headers)
  const route = server.listing.routes.find(({ record }) => record.path === path && record.method === method)
  const { body, all, responses = {} } = route?.record.options ?? {}
  const header = (name: string) => headersSent?.find(([one]) => one === name)?.[1]
  return {
    request: {
      headers: Object.entries(redactor.headers(headers)),
      body: hasBody
        ? await shownBody(redactor, received, [body, all], headers['content-type'], headers['content-encoding'])
        : undefined,
    },
    response: response && {
      status: response.status,
      headers: headersSent?.map(([name, value]) => [name, redactor.header(name, value)]),
      body:
        sent.size === 0
          ? undefined
          : await shownBody(
              redactor,
              sent,
              Object.values(responses),
              header('content-type'),
              header('content-encoding'),
            ),
    },
    explained: safely(() => ownSteps(server.explain(method, target)), []),
    replay: whyNotReplayed(kept),
  }
}

function pairsOf(flat: readonly string[]): [name: string, value: string][] {
  return flat.flatMap((name, i): [string, string][] => (i % 2 === 0 ? [[name, flat[i + 1]!]] : []))
}

/** Returns a body, or the reason why it cannot be shown. */
async function shownBody(
  redactor: Recorder['redactor'],
  kept: CapturedBody,
  schemas: readonly (object | undefined)[],
  type: string | undefined,
  encoding: string | undefined,
) {
  const { size } = kept
  if (size === 0) return { size, why: kept.isComplete ? 'empty' : 'no one has read it' }
  const marks = schemas.flatMap((one) => safely(() => one && marksOf(one)) ?? [])
  const text = redactor.body(await decoded(kept.bytes(), encoding), type, marks)
  if (text === undefined) return { size, why: type ?? 'binary' }
  return { size, text, ...(kept.isCut && { why: 'cut' }) }
}

const ownSteps = ({ steps }: Explanation) => steps.filter(({ plugin }) => plugin !== 'inspector')

/** Sample values for parameters, one of which may match the pattern of a parameter. */
const samples = ['1', 'a', '2026-01-01', '00000000-0000-4000-8000-000000000000', 'a.b', 'en']

/** Returns what is registered: plugins with their times, routes with their chains. */
export function registeredOf(server: Kernel): object {
  const { listing } = server
  return {
    plugins: server.plugins,
    routes: listing.routes.slice(0, 2_000).map(({ record, plugin }) => ({
      method: methodOf(record),
      path: record.path,
      plugin,
      steps: stepsOf(server, record.method, record.path),
    })),
  }
}

/** Returns the chain of a route, found with a path that the route responds to; `undefined` if there is no such path. */
function stepsOf(server: Kernel, method: string, path: string): Explanation['steps'] | undefined {
  const asked = method === 'ALL' || method === '*' ? 'GET' : method
  for (const sample of samples) {
    const target = path.replace(/:\w+(?:\([^)]*\))?\??/g, sample).replaceAll('*', sample)
    try {
      const explained = server.explain(asked, target)
      if (explained.route?.endsWith(` ${path}`)) return ownSteps(explained)
    } catch {
      return undefined
    }
    if (target === path) return undefined
  }
  return undefined
}
