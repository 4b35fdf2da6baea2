const states = /** @type {const} */ (['waiting', 'active', 'delayed', 'failed'])

/** Messages of one topic of an engine of the application. */
class Topic {
  /** @type {Map<string, any>} */
  messages = new Map()
  /** Ids of messages that are done, and until when they are taken. @type {Map<string, number>} */
  taken = new Map()
  /** @type {Map<any, { concurrency: number, busy: number }>} */
  handlers = new Map()
  isPaused = false

  /** @param {string} state @returns {any[]} */
  list(state) {
    const all = [...this.messages.values()].filter((one) => one.state === state)
    if (state === 'waiting') return all.sort((a, b) => a.priority - b.priority || a.order - b.order)
    if (state === 'failed') return all.sort((a, b) => b.order - a.order)
    return all.sort((a, b) => a.due - b.due)
  }

  /** @param {any} message @param {number} ms */
  ready(message, ms) {
    const now = Date.now()
    Object.assign(message, { state: ms > 0 ? 'delayed' : 'waiting', due: now + ms, since: now + ms })
    if (ms <= 0) return this.work()
    message.timer = setTimeout(() => {
      message.state = 'waiting'
      this.work()
    }, ms)
    message.timer.unref?.()
  }

  work() {
    for (const [handler, worker] of [...this.handlers])
      while (!this.isPaused && worker.busy < worker.concurrency) {
        const [message] = this.list('waiting')
        if (message === undefined) return
        void this.handle(message, handler, worker)
      }
  }

  /** @param {any} message @param {any} handler @param {{ busy: number }} worker */
  async handle(message, handler, worker) {
    worker.busy++
    // The others take turns.
    this.handlers.delete(handler)
    this.handlers.set(handler, worker)
    message.state = 'active'
    message.attempt++
    const { id, attempt, attempts, carrier, backoff } = message
    try {
      await handler(JSON.parse(message.text), { id, attempt, attempts, carrier })
      this.messages.delete(id)
    } catch (/** @type {any} */ error) {
      if (error.code === 'QueueVersionError') {
        message.attempt--
        this.ready(message, 1000)
      } else {
        message.errors.push(error)
        const isHopeless = ['QueuePayloadError', 'QueueExpiredError'].includes(error.code)
        if (attempt < attempts && !isHopeless) this.ready(message, pauseOf(backoff, attempt))
        else Object.assign(message, { state: 'failed', order: ++lastOrder })
      }
    }
    worker.busy--
    this.work()
  }
}

let lastOrder = 0

/** @param {any} backoff @param {number} attempt */
function pauseOf(backoff, attempt) {
  if (backoff === undefined) return 0
  const { type, delay, jitter } = backoff
  return delay * (type === 'exponential' ? 2 ** (attempt - 1) : 1) * (1 - jitter * Math.random())
}

/** An engine of the application that can have every portable option, in the memory of the process; two servers share it. */
export function ownEngine() {
  /** @type {Map<string, Topic>} */
  const topics = new Map()
  /** @param {string} name */
  const topic = (name) => {
    const known = topics.get(name) ?? new Topic()
    topics.set(name, known)
    return known
  }
  return {
    supports: ['attempts', 'backoff', 'delay', 'priority', 'id', 'timeout', 'expireIn'],
    operations: operationsOf(topic),
    /** @param {string} name @param {any} payload @param {any} options @param {any} sent */
    publish: async (name, payload, { attempts = 1, backoff, delay = 0, priority = 0, id: known } = {}, sent) => {
      const one = topic(name)
      const id = known?.value ?? String(++lastOrder)
      const now = Date.now()
      if (one.messages.has(id) || (one.taken.get(id) ?? 0) > now) return { id }
      if (known?.ttl !== undefined) one.taken.set(id, now + known.ttl)
      const message = {
        ...{ id, attempts, backoff, priority, attempt: 0, errors: [], order: ++lastOrder, publishedAt: now },
        ...{ text: JSON.stringify(payload), carrier: sent?.carrier },
      }
      one.messages.set(id, message)
      one.ready(message, delay)
      return { id }
    },
    /** @param {string} name @param {any} handler @param {{ concurrency: number }} options */
    subscribe: async (name, handler, { concurrency }) => {
      topic(name).handlers.set(handler, { concurrency, busy: 0 })
      topic(name).work()
    },
    /** @param {string} name @param {any} handler */
    unsubscribe: async (name, handler) => void topic(name).handlers.delete(handler),
    /** @param {string} name */
    counts: async (name) => {
      const ages = topic(name)
        .list('waiting')
        .map(({ since }) => Date.now() - since)
      const counts = Object.fromEntries(states.map((state) => [state, topic(name).list(state).length]))
      return { ...counts, oldest: Math.max(0, ...ages) }
    },
    ping: async () => {},
  }
}

/** @param {any} message */
const shown = ({ id, state, text, attempt, attempts, publishedAt, due, errors, carrier }) => ({
  ...{ id, state, payload: JSON.parse(text), attempt, attempts, publishedAt, errors, meta: carrier },
  ...(state === 'delayed' && { dueAt: due }),
})

/** @param {(name: string) => Topic} topic */
const operationsOf = (topic) => ({
  /** @param {string} name @param {string} state @param {number} from @param {number} limit */
  list: async (name, state, from, limit) =>
    topic(name)
      .list(state)
      .slice(from, from + limit)
      .map(shown),
  /** @param {string} name @param {string} id */
  find: async (name, id) => {
    const found = topic(name).messages.get(id)
    return found && shown(found)
  },
  /** @param {string} name @param {string[]} ids */
  retry: async (name, ids) => {
    const all = topic(name)
      .list('failed')
      .filter(({ id }) => ids.includes(id))
    for (const one of all) {
      Object.assign(one, { attempt: 0, order: ++lastOrder })
      topic(name).ready(one, 0)
    }
    return all.length
  },
  /** @param {string} name @param {string[]} ids */
  remove: async (name, ids) => {
    const found = ids.filter((id) => (topic(name).messages.get(id)?.state ?? 'active') !== 'active')
    for (const id of found) {
      clearTimeout(topic(name).messages.get(id).timer)
      topic(name).messages.delete(id)
    }
    return found.length
  },
  /** @param {string} name */
  pause: async (name) => {
    topic(name).isPaused = true
  },
  /** @param {string} name */
  resume: async (name) => {
    topic(name).isPaused = false
    topic(name).work()
  },
  /** @param {string} name */
  isPaused: async (name) => topic(name).isPaused,
})
