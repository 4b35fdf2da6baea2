import { isMainThread } from 'node:worker_threads'
import { setSupervisor } from '../../plugins/shared/environment/supervisor.ts'
import { endWithParent } from '../process/ending.ts'
import { hearOrders } from '../process/orders.ts'
import { beatMs, type Given, isOrder, type News, type Order, variable } from './protocol.ts'

/** This module runs in the process of a worker before its first module (`--import`, `--preload`). */
const given = process.env[variable]
Reflect.deleteProperty(process.env, variable)
// Processes and threads of the application inherit the flag, but not the variable.
if (given !== undefined && isMainThread) await attend(JSON.parse(given) as Given)

async function attend({ parent, leads }: Given): Promise<void> {
  await keepBeyondPrimary()
  // A signal to a process group was sent to each of its processes.
  const end = endWithParent(parent, ['SIGINT', 'SIGTERM'], ['SIGINT', 'SIGTERM'])
  // SIGHUP is for the supervisor, which restarts the workers.
  process.on('SIGHUP', () => {})
  const send = (news: News) => {
    // A closed channel accepts no message.
    if (process.connected) process.send?.(news)
  }
  const orders = hearOrders(isOrder)
  void orders.next('stop').then(({ signal }) => end(signal))
  // An application that has no work left ends, as it would without a channel.
  const { channel } = process as { channel?: { ref?(): void; unref?(): void } }
  channel?.unref?.()
  setInterval(() => send({ framework: 'alive' }), beatMs).unref?.()

  const becomeLead: (() => void)[] = []
  orders.each('lead', () => {
    leads = true
    for (const run of becomeLead.splice(0)) run()
  })
  const answers = new Map<string, (question: unknown) => unknown>()
  orders.each('question', ({ number, topic, question }) => {
    const answer = async () => {
      const run = answers.get(topic)
      if (run === undefined) throw new Error('nothing in it answers that')
      return run(question)
    }
    answer().then(
      (value) => send({ framework: 'answered', number, value }),
      (error: Error) => send({ framework: 'answered', number, error: error.message }),
    )
  })
  const asking = new Map<number, (answer: Extract<Order, { framework: 'answer' }>) => void>()
  orders.each('answer', (answer) => {
    asking.get(answer.number)?.(answer)
    asking.delete(answer.number)
  })
  let questions = 0
  let asked = 0
  /** How many servers are about to listen. */
  let pending = 0
  /** How many servers listen, or are about to. */
  let open = 0
  let isReported = false
  const reportListening = () => {
    if (pending > 0 || isReported) return
    isReported = true
    send({ framework: 'listening' })
  }
  setSupervisor({
    share(host, port) {
      const number = ++asked
      return new Promise((resolve, reject) => {
        orders.each('shared', (order) => {
          if (order.number !== number) return
          if (order.error === undefined) resolve(order.port)
          else reject(Object.assign(new Error(order.error.message), { code: order.error.code }))
        })
        send({ framework: 'share', number, host, port })
      })
    },
    starting() {
      pending++
      open++
      // The sockets of `node:cluster` belong to another process: only the channel keeps this one alive.
      channel?.ref?.()
      return {
        listens() {
          pending--
          // Another server may be started after the first.
          setImmediate(reportListening)
        },
        failed: () => send({ framework: 'failed' }),
        closed() {
          if (--open === 0) channel?.unref?.()
        },
      }
    },
    get leads() {
      return leads
    },
    onLead: (run) => void becomeLead.push(run),
    ask(topic, question) {
      const number = ++questions
      return new Promise((resolve, reject) => {
        asking.set(number, ({ value, error }) => (error === undefined ? resolve(value) : reject(new Error(error))))
        send({ framework: 'ask', number, topic, question })
      })
    },
    answer: (topic, answer) => void answers.set(topic, answer),
  })
}

/** A worker of `node:cluster` ends immediately when its primary has ended; this makes it close first, as on the other runtimes. */
async function keepBeyondPrimary(): Promise<void> {
  if ('Bun' in globalThis || 'Deno' in globalThis) return
  const { default: cluster } = await import('node:cluster')
  if (cluster.worker !== undefined) cluster.worker.exitedAfterDisconnect = true
}
