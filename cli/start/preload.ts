import module from 'node:module'
import { join } from 'node:path'
import { isMainThread } from 'node:worker_threads'
import type { SupervisedServer } from '../../kernel/support/worker.ts'
import { type Supervisor, setSupervisor } from '../../plugins/shared/environment/supervisor.ts'
import { channelTo, type ParentChannel, Questions, replyTo, takeVariable } from '../process/channel.ts'
import { beatMs, type Given, type News, type Order, responseMs, variable } from './protocol.ts'

/** This module runs in the process of a worker before its first module (`--import`, `--preload`). */
const given = takeVariable(variable)
/** From Node.js 22.10 on. */
const cache = module as Partial<Record<'enableCompileCache' | 'flushCompileCache', (folder?: string) => void>>
// Processes and threads of the application inherit the flag, but not the variable.
if (given !== undefined && isMainThread) await attend(JSON.parse(given) as Given)

type Channel = ParentChannel<Order, News>

async function attend({ parent, leads }: Given): Promise<void> {
  await keepBeyondPrimary()
  // What the first worker has compiled, the others and their successors read. Not in the temporary folder of the system, where another
  // user could put code. Where the folder cannot be written, nothing is kept.
  cache.enableCompileCache?.(join(process.cwd(), 'node_modules/.cache/framework'))
  // A signal to a process group was sent to each of its processes.
  const channel: Channel = channelTo<Order, News>(parent, ['SIGINT', 'SIGTERM'], ['SIGINT', 'SIGTERM'])
  // SIGHUP is for the supervisor, which restarts the workers.
  process.on('SIGHUP', () => {})
  // An application that has no work left ends, as it would without a channel.
  process.channel?.unref?.()
  const beat = () => channel.send({ framework: 'alive' })
  beat()
  setInterval(beat, beatMs).unref?.()
  const becomeLead: (() => void)[] = []
  channel.orders.each('lead', () => {
    leads = true
    for (const run of becomeLead.splice(0)) run()
  })
  const questions = new Questions()
  channel.orders.each('answer', (reply) => questions.settle(reply))
  process.once('disconnect', () => questions.end())
  setSupervisor({
    ...questionsOver(channel, questions),
    starting: serversOver(channel, questions),
    get leads() {
      return leads
    },
    onLead: (run) => void becomeLead.push(run),
  })
}

/** The questions of this worker to the supervisor and to the leading worker, and those to this one while it leads. */
function questionsOver({ orders, send }: Channel, questions: Questions): Pick<Supervisor, 'share' | 'ask' | 'answer'> {
  const answers = new Map<string, (question: unknown) => unknown>()
  orders.each('question', ({ number, topic, question }) => {
    const answer = () => {
      const run = answers.get(topic)
      if (run === undefined) throw new Error('nothing in it handles that message')
      return run(question)
    }
    void replyTo(number, answer).then((reply) => send({ framework: 'answered', ...reply }))
  })
  let shared = 0
  return {
    share: (host, port) =>
      questions.ask((number) => send({ framework: 'share', number, nth: ++shared, host, port })) as Promise<number>,
    ask: (topic, question) => questions.ask((number) => send({ framework: 'ask', number, topic, question })),
    answer: (topic, answer) => void answers.set(topic, answer),
  }
}

/** Reports when all servers of this process listen, and that one does not. */
function serversOver({ send }: Channel, questions: Questions): () => SupervisedServer {
  /** How many servers are about to listen. */
  let pending = 0
  /** The servers that listen, or are about to. */
  const open = new Set<SupervisedServer>()
  let isReported = false
  const reportListening = () => {
    if (pending > 0 || open.size === 0 || isReported) return
    isReported = true
    send({ framework: 'listening' })
    cache.flushCompileCache?.()
  }
  return () => {
    const leave = () => open.delete(server) && open.size === 0 && process.channel?.unref?.()
    const server: SupervisedServer = {
      listens() {
        pending--
        // Another server may be started after the first.
        setImmediate(reportListening)
      },
      failed() {
        leave()
        send({ framework: 'failed' })
        this.listens()
      },
      async closed() {
        // The supervisor hands connections to this process until it has read that its socket is closed, and those that come meanwhile go back to
        // it. A process that ends earlier takes them along: their clients get neither a response nor the end of the connection.
        const put = (number: number) => send({ framework: 'closed', number })
        if (process.connected) await questions.ask(put, responseMs, () => undefined).catch(() => {})
        leave()
      },
    }
    pending++
    open.add(server)
    // The sockets of `node:cluster` belong to another process: only the channel keeps this one alive.
    process.channel?.ref?.()
    return server
  }
}

/** A worker of `node:cluster` ends immediately when its primary has ended; this makes it close first, as on the other runtimes. */
async function keepBeyondPrimary(): Promise<void> {
  if ('Bun' in globalThis || 'Deno' in globalThis) return
  const { default: cluster } = await import('node:cluster')
  if (cluster.worker !== undefined) cluster.worker.exitedAfterDisconnect = true
}
