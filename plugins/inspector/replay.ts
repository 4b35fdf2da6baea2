import { type Kernel, systemClock } from '../../kernel/index.ts'
import type { Activity } from './activities.ts'
import { dropped, type Edit, edited } from './edit.ts'
import type { CapturedRequest, Recorder, Repeat } from './recorder.ts'

/** Seconds for which the client of a replay waits for the response, and then for its end: a stream may have none. */
const maxWaited = 10
const maxStreamed = 2

/** Returns why a request cannot be sent again; `undefined` if it can. */
export function whyNotReplayed(kept: CapturedRequest | undefined): string | undefined {
  if (kept === undefined) return 'it is no longer kept'
  const { hasBody, isUpgrade, received } = kept
  if (isUpgrade) return 'it asked for another protocol, a websocket for example'
  if (!hasBody) return undefined
  if (received.isCut)
    return `its body has ${received.size} bytes or more, which is more than is kept (the option bodyLimit)`
  if (received.size === 0 && !received.isComplete) return 'no one has read its body, so it was not kept'
  return received.isComplete ? undefined : 'its body was not read to its end'
}

/**
 * Sends a recorded request again, within the process, through everything that a request passes, and with the real values of what the
 * page shows redacted; with `edit`, as a person has changed it. Returns the activity of the new request; if its client left before the end, `data.cut` says why.
 */
export async function replay(
  server: Kernel,
  recorder: Recorder,
  activity: Activity,
  edit?: Edit,
): Promise<Activity | undefined> {
  const kept = recorder.capturedOf(activity)
  const why = whyNotReplayed(kept)
  if (why !== undefined) throw new Error(`cannot be replayed because ${why}`)
  const { ip, isSecure, received, hasBody } = kept!
  const asItWas = { ...kept!, body: hasBody ? received.bytes() : undefined }
  const { method, target, headers, body } = edit === undefined ? asItWas : await edited(recorder, activity, kept!, edit)
  const host = headers.host === kept!.headers.host ? kept!.host : headers.host
  const sent = Object.entries(headers).filter(([name]) => !dropped.test(name))
  // Host and scheme reported by a proxy are believed only from that proxy, so they are put into the URL.
  const isTaken = target.startsWith('/') && (isSecure || host !== headers.host)
  const url = isTaken ? `${isSecure ? 'https' : 'http'}://${host ?? 'localhost'}${target}` : target
  const request = {
    method,
    url,
    headers: Object.fromEntries(sent),
    ...(body !== undefined && { body }),
    ...(ip !== '' && { ip }),
  }
  const patience = new AbortController()
  const leave = (why: string) => {
    if (repeat.made !== undefined && !patience.signal.aborted) {
      repeat.made.data.cut = why
      repeat.made.note += ', cut'
    }
    patience.abort()
  }
  let timer = systemClock.setTimeout(() => leave(`there was no response after ${maxWaited} seconds`), maxWaited * 1000)
  const repeat: Repeat = {
    of: activity,
    made: undefined,
    onReply() {
      systemClock.clear(timer)
      timer = systemClock.setTimeout(
        () => leave(`the response did not end within ${maxStreamed} seconds`),
        maxStreamed * 1000,
      )
    },
    onCut: (size) => leave(`the response has ${size} bytes or more, which is more than is kept (the option bodyLimit)`),
  }
  // Failures are shown on the page, with the request that was sent.
  const left = new Promise((resolve) => patience.signal.addEventListener('abort', resolve))
  const sending = recorder.repeating.run(repeat, () =>
    server.inject({ ...request, signal: patience.signal }).catch(() => {}),
  )
  await Promise.race([sending, left])
  systemClock.clear(timer)
  return repeat.made
}
