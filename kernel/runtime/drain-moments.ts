/** The current work of one server. */
export interface Activity {
  /** The number of requests and responses so far. */
  count: number
  /** The number of requests that are waiting for their response. */
  working: number
}

const sampleMs = 60
const patienceMs = 250

/** How long all kept-alive connections may stay silent, after the listener was closed, before they are ended. */
const graceMs = 120

/** Waits until what has arrived was read. Resolves with the milliseconds: while the process had no processor, it could see nothing. */
async function turn(pause = 0): Promise<number> {
  const start = performance.now()
  if (pause > 0) await new Promise((resolve) => setTimeout(resolve, pause))
  await new Promise((resolve) => setImmediate(resolve))
  return Math.min(performance.now() - start, 20)
}

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
  for (let waited = 0; waited < sampleMs || (activity.working < peak && waited < patienceMs); ) {
    waited += await turn()
    if (waited < sampleMs) peak = Math.max(peak, activity.working)
    else if (activity.working >= peak) return
  }
}

/** Resolves when for a while no request has arrived and no response was sent, when no connection is left, or after a second. */
export async function silence(activity: Activity, isOver = () => false): Promise<void> {
  let seen = activity.count
  for (let waited = 0, quiet = 0; quiet < graceMs && waited < 1000 && !isOver(); seen = activity.count) {
    const passed = await turn(2)
    waited += passed
    quiet = activity.count === seen ? quiet + passed : 0
  }
}
