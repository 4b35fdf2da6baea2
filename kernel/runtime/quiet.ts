/** Counts requests and answers of one server. */
export interface Activity {
  count: number
}

const quietMs = 4
const patienceMs = 250

/**
 * Waits for a moment in which nothing arrives and nothing is answered, to close the listening socket in.
 *
 * Clients that were answered `connection: close` connect again at once and in step, and the connections that the
 * system has taken but the runtime has not are reset with the listener: up to 28 of 40 were, when the window ended
 * just behind a batch of answers. A server that is never quiet closes all the same after a quarter of a second.
 */
export async function quietMoment(activity: Activity): Promise<void> {
  const latest = performance.now() + patienceMs
  let seen = activity.count
  let since = performance.now()
  for (let now = since; now < latest && now - since < quietMs; now = performance.now()) {
    await new Promise((resolve) => setImmediate(resolve))
    if (activity.count !== seen) {
      seen = activity.count
      since = performance.now()
    }
  }
}
