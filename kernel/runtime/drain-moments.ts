/** The current work of one server. */
export interface Activity {
  /** The number of requests and answers so far. */
  count: number
  /** The number of requests that are waiting for their response. */
  working: number
}

const sampleMs = 60
const patienceMs = 250

/**
 * Waits for a moment in which as many requests are in progress as at any recent time.
 *
 * Bun and Deno close a listener only together with all idle connections, and reset both those and the connections that
 * the system has accepted for them. A client that is waiting for a response has neither: in measurements, up to 28 of 40
 * clients were reset at a bad moment, and none at this one.
 */
export async function busiestMoment(activity: Activity): Promise<void> {
  if (activity.count === 0) return
  let peak = activity.working
  let now = performance.now()
  for (let waited = 0; waited < sampleMs || (activity.working < peak && waited < patienceMs); ) {
    await new Promise((resolve) => setImmediate(resolve))
    // While the process had no processor, no moment could be seen.
    waited += Math.min(performance.now() - now, 20)
    now = performance.now()
    if (waited < sampleMs) peak = Math.max(peak, activity.working)
    else if (activity.working >= peak) return
  }
}

/** Resolves when no request has arrived and none was answered for `ms` milliseconds, or after a second. */
export async function silence(activity: Activity, ms: number): Promise<void> {
  const latest = performance.now() + 1000
  let seen = activity.count
  let since = performance.now()
  for (let now = since; now < latest && now - since < ms; now = performance.now()) {
    await new Promise((resolve) => setTimeout(resolve, 2))
    if (activity.count !== seen) since = performance.now()
    seen = activity.count
  }
}
