import type { Kernel } from '../../kernel/index.ts'
import type { Marks } from '../shared/schema/marks.ts'
import { framesOf } from '../shared/terminal/error-lines.ts'
import { editorAddress, placesOf, placeText, sourceFrame } from '../shared/terminal/stack.ts'
import { handlerOf, methodOf } from '../shared/terminal/tree.ts'
import { isObject } from '../shared/values/json.ts'
import { safely } from '../shared/values/safely.ts'
import type { Activity } from './activities.ts'
import { type CapturedBody, decoded } from './bodies.ts'
import { editOf } from './edit.ts'
import type { CapturedRequest, Recorder } from './recorder.ts'
import type { Redactor } from './redact.ts'
import { whyNotReplayed } from './replay.ts'

/** An entry of a list. */
export type Summary = ReturnType<typeof summaryOf>

export function summaryOf({ id, kind, title, trace, parent, at, ms, outcome, note, data }: Activity) {
  const { method, route } = data
  // By these, the page filters requests.
  const filters = kind === 'request' || kind === 'outgoing' ? { method, route } : {}
  return { id, kind, title, trace, parent, at, ms, outcome, note, ...filters }
}

/** Returns all details of one piece of work, with the work that belongs to it. */
export async function detailsOf(server: Kernel, recorder: Recorder, activity: Activity): Promise<object> {
  const kept = recorder.capturedOf(activity)
  const http = kept === undefined ? recorder.restored.get(activity) : await httpOf(recorder, activity, kept)
  const related = recorder.activities.ofTrace(activity.trace)
  return {
    ...summaryOf(activity),
    data: activity.data,
    view: activity.view,
    error: withPlaces(activity.error, recorder.redactor),
    ...(http !== undefined && { http: { ...http, explained: kept ? stepsFor(server, kept) : [] } }),
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
function withPlaces(error: unknown, redactor: Redactor): unknown {
  if (!isObject(error)) return error
  const { type: name, message, stack, cause } = error as { readonly [member: string]: string }
  const places = placesOf(framesOf({ name: String(name), message: String(message), stack: String(stack) }))
  // The line that makes a message may have the secret that the message has.
  const source = places
    .slice(0, 1)
    .flatMap(sourceFrame)
    .map(({ kind, text }) => ({ kind, text: redactor.text(text) }))
  const links = places.map((place) => ({ text: placeText(place), name: place.name, href: editorAddress(place) }))
  return { ...error, places: links, source, ...(cause !== undefined && { cause: withPlaces(cause, redactor) }) }
}

/** Returns the failures by type and place, each with the work that failed and is still kept. */
export const exceptionsOf = ({ exceptions, activities }: Recorder) =>
  exceptions.list().map(({ ids, ...group }) => ({
    ...group,
    seen: ids
      .toReversed()
      .flatMap((id) => activities.find(id) ?? [])
      .map(summaryOf),
  }))

const messageOf = (error: unknown) => (error as { message?: unknown } | undefined)?.message

export async function httpOf(recorder: Recorder, activity: Activity, kept: CapturedRequest): Promise<object> {
  const { redactor } = recorder
  const { headers, received, sent, response, hasBody } = kept
  const marks = recorder.marksOf(activity)
  const headersSent = response === undefined ? undefined : pairsOf(response.headers)
  const header = (name: string) => headersSent?.find(([one]) => one === name)?.[1]
  const [type, encoding] = [header('content-type'), header('content-encoding')]
  return {
    request: {
      headers: redactor.headers(headers),
      body: hasBody
        ? await shownBody(redactor, received, marks.request, headers['content-type'], headers['content-encoding'])
        : undefined,
    },
    response: response && {
      status: response.status,
      headers: headersSent?.map(([name, value]) => [name, redactor.header(name, value)]),
      body: sent.size === 0 ? undefined : await shownBody(redactor, sent, marks.response, type, encoding),
    },
    edit: await editOf(recorder, activity, kept),
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
  marks: readonly Marks[],
  type: string | undefined,
  encoding: string | undefined,
) {
  const { size } = kept
  if (size === 0) return { size, why: kept.isComplete ? 'empty' : 'no one has read it' }
  const text = redactor.body(await decoded(kept.bytes(), encoding), type, marks)
  if (text === undefined) return { size, why: type ?? 'binary' }
  return { size, text, ...(kept.isCut && { why: 'cut' }) }
}

const stepsFor = (server: Kernel, { method, target }: CapturedRequest) =>
  safely(() => server.explain(method, target).steps.filter(({ plugin }) => plugin !== 'inspector'), [])

/** Returns what is registered: plugins with their times, routes with their chains. */
export function registeredOf(server: Kernel): object {
  const { listing } = server
  return {
    plugins: server.plugins,
    routes: listing.routes.slice(0, 2_000).map(({ record, plugin, steps }) => ({
      method: methodOf(record),
      path: record.path,
      plugin,
      steps: [
        ...steps
          .filter((step) => step.plugin !== 'inspector')
          .map(({ name, plugin, slot }) => ({ name, plugin, slot })),
        { name: handlerOf(record), plugin, slot: 'handler' },
      ],
    })),
  }
}
