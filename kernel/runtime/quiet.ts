/** Counts requests and answers of one server. */
export interface Activity {
  count: number
}

/**
 * Waits for a moment in which nothing arrives and nothing is answered, to close the listening socket in.
 *
 * Clients that were answered `connection: close` connect again at once and in step, and the connections that the
 * system has taken but the runtime has not are reset with the listener: up to 28 of 40 were, when the window ended
 * just behind a batch of answers. A server that is never quiet closes all the same after a quarter of a second.
 */
export function quietMoment(activity: Activity): Promise<void> {
  return silence(activity, 4, 250)
}

/** Resolves when nothing has arrived and nothing was answered for `ms`, or after `patience`. */
export async function silence(activity: Activity, ms: number, patience = 1000): Promise<void> {
  const latest = performance.now() + patience
  let seen = activity.count
  let since = performance.now()
  for (let now = since; now < latest && now - since < ms; now = performance.now()) {
    await new Promise((resolve) => setTimeout(resolve, 1))
    if (activity.count !== seen) {
      seen = activity.count
      since = performance.now()
    }
  }
}
